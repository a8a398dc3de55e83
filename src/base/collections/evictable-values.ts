/** A computed value, and its cost in the unit of the cache's limit. */
export interface Computed<T> {
  readonly value: T;
  readonly cost: number;
}

/** A cached value. */
interface CacheEntry {
  readonly cost: number;
  /** Whether the value was read since the eviction last visited it. */
  used: boolean;
  forget(): void;
}

/**
 * A bounded cache of lazily computed values with second-chance eviction: it evicts the oldest value that was not read since the
 * last visit. Reading a cached value costs almost nothing.
 */
export class EvictableValues {
  /** In eviction order. */
  private entries: CacheEntry[] = [];
  private totalCost = 0;

  /** @param limit maximum total cost; the newest value is cached even if it costs more. */
  constructor(private readonly limit: number) {}

  /** Returns a function that returns the cached value, or computes it with `compute`. */
  value<T>(compute: () => Computed<T>): () => T {
    let cached: { readonly value: T; readonly entry: CacheEntry } | undefined;
    return () => {
      if (cached !== undefined) {
        cached.entry.used = true;
        return cached.value;
      }
      const { value, cost } = compute();
      const entry: CacheEntry = { cost, used: false, forget: () => (cached = undefined) };
      cached = { value, entry };
      this.evictFor(cost);
      this.entries.push(entry);
      this.totalCost += cost;
      return value;
    };
  }

  private evictFor(cost: number): void {
    while (this.totalCost + cost > this.limit && this.entries.length > 0) {
      const recentlyUsed: CacheEntry[] = [];
      const remaining: CacheEntry[] = [];
      for (const one of this.entries) {
        if (this.totalCost + cost <= this.limit) remaining.push(one);
        else if (one.used) {
          one.used = false;
          recentlyUsed.push(one);
        } else {
          one.forget();
          this.totalCost -= one.cost;
        }
      }
      this.entries = [...remaining, ...recentlyUsed];
    }
  }
}
