import type { DiscardResult, Store } from "./store.ts";

/**
 * Removes the value of a key if it can't be read; see {@link Store.discard}.
 *
 * @throws {StoreValueError} the value can't be read, and the engine can't remove it.
 */
export async function discardUnreadable(store: Store, key: string, dryRun: boolean): Promise<DiscardResult> {
  if (store.discard !== undefined) return store.discard(key, dryRun);
  return (await store.get(key)) === undefined ? "absent" : "readable";
}
