import { type DiscardResult, type Entry, type Store, StoreValueError } from "./store.ts";

/**
 * Removes the value of a key if it can't be read; see {@link Store.discard}.
 *
 * @throws {StoreValueError} the value can't be read, and the engine can't remove it.
 */
export async function discardUnreadable(store: Store, key: string, dryRun: boolean): Promise<DiscardResult> {
  if (store.discard !== undefined) return store.discard(key, dryRun);
  return (await store.get(key)) === undefined ? "absent" : "readable";
}

/** Returns the result of a discard of the value that a function reads, if no other write comes first. */
export function resultIfFirst(read: () => Entry | undefined): DiscardResult {
  try {
    return read() === undefined ? "absent" : "readable";
  } catch (error) {
    if (error instanceof StoreValueError) return "discarded";
    throw error;
  }
}
