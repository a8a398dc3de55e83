/** Who takes from a budget. */
export interface Spender {
  /** Name of the user. */
  readonly caller: string;
  /** Whether the user's requests are at an exempt priority level. */
  readonly exempt: boolean;
}

/** Why a budget refuses: the caller has their share, or nothing is left. */
export type BudgetRefusal = "caller" | "server";

/**
 * A bounded amount (bytes, sockets) that callers share. No caller may have more than remains free for everybody: one
 * caller gets at most half, two that take all they can a third each, and so on, and the next one always gets something.
 * Exempt callers have no share and may also take the reserved part.
 */
export class SharedBudget {
  private total = 0;
  private readonly byCaller = new Map<string, number>();

  /** @param reserved the part of `limit` that only exempt callers may take. */
  constructor(
    readonly limit: number,
    private readonly reserved: number,
  ) {}

  /** Takes an amount. Returns why it refuses; undefined when the amount was taken. */
  take({ caller, exempt }: Spender, amount: number): BudgetRefusal | undefined {
    const total = this.total + amount;
    if (total > (exempt ? this.limit : this.limit - this.reserved)) return "server";
    const own = (this.byCaller.get(caller) ?? 0) + amount;
    if (!exempt && own > this.limit - this.reserved - total) return "caller";
    this.total = total;
    this.byCaller.set(caller, own);
    return undefined;
  }

  /** Gives back what was taken. */
  give({ caller }: Spender, amount: number): void {
    this.total -= amount;
    const own = (this.byCaller.get(caller) ?? 0) - amount;
    if (own > 0) this.byCaller.set(caller, own);
    else this.byCaller.delete(caller);
  }

  /** What is taken, by all callers together. */
  get taken(): number {
    return this.total;
  }
}
