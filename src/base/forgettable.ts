/** A value as it was made, and what keeping it costs, in the unit of the limit. */
export interface Made<T> {
  readonly value: T;
  readonly cost: number;
}

/** One value that is kept at present. */
interface Kept {
  readonly cost: number;
  /** Whether it was asked for since this was last looked at. */
  used: boolean;
  forget(): void;
}

/**
 * Values that are made when they are asked for, and forgotten when others need the room: of the values that were not asked
 * for since they were last looked at, the one that was made first. To ask for a value that is there costs next to nothing.
 */
export class Forgettables {
  /** In the order in which they are looked at. */
  private kept: Kept[] = [];
  private spent = 0;

  /** @param limit what all may cost together; the value that was made last is kept whatever it costs. */
  constructor(private readonly limit: number) {}

  /** Gives a function that gives the value, made by `make` when it isn't there. */
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
