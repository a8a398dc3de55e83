import { draftOf } from "./entry.ts";
import type { Revision, Store, StoreEvent, Write } from "./store.ts";

/** Number of keys that are read and written at once. */
const concurrency = 256;

/**
 * Gives every key the value that it had at a revision, by writes at new revisions. The caller is the only user of the store.
 *
 * @returns the number of changed keys.
 * @throws {RevisionCompactedError} if the revision is below the floor.
 */
export async function rollBack(store: Store, to: Revision): Promise<number> {
  const keys = await keysChangedAfter(store, to);
  let changed = 0;
  for (let from = 0; from < keys.length; from += concurrency) {
    const steps = keys.slice(from, from + concurrency).map((key) => rollBackKey(store, key, to));
    for (const wasChanged of await Promise.all(steps)) if (wasChanged) changed++;
  }
  return changed;
}

/** Returns the keys of all writes after a revision, each once. */
async function keysChangedAfter(store: Store, after: Revision): Promise<string[]> {
  const keys = new Set<string>();
  let failure: unknown;
  const subscription = store.subscribe(
    { prefix: "/", after },
    {
      events: (batch: readonly StoreEvent[]) => {
        for (const { key } of batch) keys.add(key);
      },
      ended: (error) => (failure = error),
    },
  );
  try {
    await subscription.sync();
  } finally {
    subscription.close();
  }
  if (failure !== undefined) throw failure as Error;
  return [...keys];
}

/** Returns whether the key had another value at the revision. */
async function rollBackKey(store: Store, key: string, to: Revision): Promise<boolean> {
  const [past, current] = await Promise.all([store.get(key, to), store.get(key)]);
  if (past?.revision === current?.revision) return false;
  const { ok } = await store.commit(writeFor());
  if (!ok) throw new Error(`${key} was changed by another process`);
  return true;

  function writeFor(): Write {
    if (past === undefined) return { kind: "delete", key, expected: current!.revision };
    const draft = draftOf(past);
    if (current === undefined) return { kind: "create", key, draft };
    return { kind: "update", key, expected: current.revision, draft };
  }
}
