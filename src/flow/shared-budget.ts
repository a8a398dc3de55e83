/** A user of a budget. */
export interface Spender {
  /** Name of the user. */
  readonly caller: string;
  /** Whether the user's requests are at an exempt priority level. */
  readonly exempt: boolean;
}

/** Reason of a refusal: the share of the caller or the whole budget is used up. */
export type BudgetRefusal = "caller" | "server";

/**
 * A limited amount (bytes, sockets) that callers share. No caller may hold more than remains free: a single caller gets at most half,
 * two greedy callers a third each, and so on, so that a new caller always gets something. Exempt callers have no such limit and may
 * also use the reserved part.
 */
export class SharedBudget {
  private total = 0;
  private readonly byCaller = new Map<string, number>();

  /** @param reserved the part of `limit` that only exempt callers may take. */
  constructor(
    readonly limit: number,
    private readonly reserved: number,
  ) {}

  /** Acquires an amount. Returns undefined on success, otherwise the reason of the refusal. */
  take({ caller, exempt }: Spender, amount: number): BudgetRefusal | undefined {
    const total = this.total + amount;
    if (total > (exempt ? this.limit : this.limit - this.reserved)) return "server";
    const own = (this.byCaller.get(caller) ?? 0) + amount;
    if (!exempt && own > this.limit - this.reserved - total) return "caller";
    this.total = total;
    this.byCaller.set(caller, own);
    return undefined;
  }

  /** Releases an amount. */
  give({ caller }: Spender, amount: number): void {
    this.total -= amount;
    const own = (this.byCaller.get(caller) ?? 0) - amount;
    if (own > 0) this.byCaller.set(caller, own);
    else this.byCaller.delete(caller);
  }

  /** The amount that all callers hold together. */
  get taken(): number {
    return this.total;
  }
}
