/** What the tests of derived stores share. */
import { derivedStore } from "../../../src/storage/derived/derived-store.ts";
import { keepHistory } from "../../../src/storage/history/history-store.ts";
import { keyspace } from "../../../src/storage/keyspaces/keyspace-store.ts";
import type { Revision, Store } from "../../../src/storage/store.ts";
import { closedWith, type ManualClock } from "../support.ts";

/** Returns a store with pins over another one. */
export function withPins(inner: Store, clock: ManualClock): Promise<Store> {
  return keepHistory(inner, {
    clock,
    collections: new Map(),
    pins: true,
    drops: true,
    failed: (error) => {
      throw error;
    },
  });
}

/**
 * Returns a function that opens a store which is derived from an empty one; both are keyspaces of a store with pins. All stores that it
 * opens are the same one.
 */
export function derivedOver(): (inner: Store, clock: ManualClock) => Promise<Store> {
  let at: Revision | undefined;
  return async (inner, clock) => {
    const store = await withPins(inner, clock);
    at ??= (await store.pins!.add("start")).revision;
    const derived = derivedStore({ own: keyspace(store, "own"), base: keyspace(store, "base"), at });
    return closedWith(derived, store);
  };
}
