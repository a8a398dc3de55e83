/** Limits of a {@link RecentMap}. */
export interface RecentMapLimits {
  readonly entries: number;
  /** Maximum total cost of all values, in the unit of `set`. */
  readonly cost: number;
}

/** A bounded map that evicts the least recently used entry. */
export class RecentMap<V> {
  private readonly entries = new Map<string, { readonly value: V; readonly cost: number }>();
  private spent = 0;

  constructor(private readonly limits: RecentMapLimits) {}

  get(key: string): V | undefined {
    const entry = this.entries.get(key);
    if (entry === undefined) return undefined;
    this.entries.delete(key);
    this.entries.set(key, entry);
    return entry.value;
  }

  set(key: string, value: V, cost = 0): void {
    this.delete(key);
    this.entries.set(key, { value, cost });
    this.spent += cost;
    for (const oldest of this.entries.keys()) {
      if (this.entries.size <= this.limits.entries && this.spent <= this.limits.cost) return;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    this.spent -= this.entries.get(key)?.cost ?? 0;
    this.entries.delete(key);
  }

  /** Returns all values, the least recently used first. */
  *values(): Generator<V> {
    for (const { value } of this.entries.values()) yield value;
  }

  get size(): number {
    return this.entries.size;
  }

  /** Total cost of all values. */
  get cost(): number {
    return this.spent;
  }
}
