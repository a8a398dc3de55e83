import type { Entry } from "../../storage/store.ts";

/**
 * Values that followers derive from entries. They are cached with the entries that a follower loads from a store in memory, because forks
 * of a server load the same ones. They must not be changed.
 */
export class EntryValues<T> {
  private readonly values = new WeakMap<Entry, T>();

  /**
   * Returns the value of an entry.
   *
   * @param lasting whether to cache it; see `FollowHandler.put`.
   * @param derive depends on the entry only.
   */
  of(entry: Entry, lasting: boolean, derive: (entry: Entry) => T): T {
    const cached = this.values.get(entry);
    if (cached !== undefined) return cached;
    const value = derive(entry);
    if (lasting) this.values.set(entry, value);
    return value;
  }
}
