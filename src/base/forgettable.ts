/** A created value and its cost, in the unit of the limit. */
export interface Made<T> {
  readonly value: T;
  readonly cost: number;
}

/** A cached value. */
interface Kept {
  readonly cost: number;
  /** Whether the value was read since the last check (second chance). */
  used: boolean;
  forget(): void;
}

/**
 * A cache of values that are created on the first read and evicted by the clock algorithm: of the values that were not read
 * since the last check, the oldest one. A read of a cached value only sets a flag.
 */
export class Forgettables {
  /** Values in the order in which they are checked. */
  private kept: Kept[] = [];
  private spent = 0;

  /** @param limit maximum total cost; the newest value is cached whatever its cost. */
  constructor(private readonly limit: number) {}

  /** Returns a function that returns the value; `make` creates it if it isn't cached. */
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
