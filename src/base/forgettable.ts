/** A computed value, and its cost in the unit of the cache's limit. */
export interface Made<T> {
  readonly value: T;
  readonly cost: number;
}

/** A cached value. */
interface Kept {
  readonly cost: number;
  /** Whether the value was read since the eviction last visited it. */
  used: boolean;
  forget(): void;
}

/**
 * A bounded cache of lazily computed values with second-chance eviction: it evicts the oldest value that was not read since the
 * last visit. Reading a cached value costs almost nothing.
 */
export class Forgettables {
  /** In eviction order. */
  private kept: Kept[] = [];
  private spent = 0;

  /** @param limit maximum total cost; the newest value is cached even if it costs more. */
  constructor(private readonly limit: number) {}

  /** Returns a function that returns the cached value, or computes it with `make`. */
  value<T>(make: () => Made<T>): () => T {
    let now: { readonly value: T; readonly kept: Kept } | undefined;
    return () => {
      if (now !== undefined) {
        now.kept.used = true;
        return now.value;
      }
      const { value, cost } = make();
      const kept: Kept = { cost, used: false, forget: () => (now = undefined) };
      now = { value, kept };
      this.makeRoom(cost);
      this.kept.push(kept);
      this.spent += cost;
      return value;
    };
  }

  private makeRoom(cost: number): void {
    while (this.spent + cost > this.limit && this.kept.length > 0) {
      const again: Kept[] = [];
      const left: Kept[] = [];
      for (const one of this.kept) {
        if (this.spent + cost <= this.limit) left.push(one);
        else if (one.used) {
          one.used = false;
          again.push(one);
        } else {
          one.forget();
          this.spent -= one.cost;
        }
      }
      this.kept = [...left, ...again];
    }
  }
}
