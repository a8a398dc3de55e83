import { setTimeout } from "node:timers/promises";
import { StatusError } from "../../base/status-error.ts";
import { nextTurn } from "../../base/turns/yielding.ts";
import { eventBytes } from "../../storage/entry.ts";
import type { Entry, Revision, Store, StoreError, StoreEvent } from "../../storage/store.ts";

/** The stored roles and bindings. */
export interface GrantStore {
  readonly store: Store;
  /** Prefix of their keys. */
  readonly prefix: string;
}

/** Maximum number, and bytes, of changes that are read from the history or wait to be applied. */
export const maxPendingChanges = 20_000;
export const maxPendingBytes = 32 * 1024 * 1024;
/** Maximum number of entries, and of bytes, of one read: about a millisecond of work. */
const pageLimit = 250;
const pageBytes = 256 * 1024;
/** Interval at which the progress of a read of the history is checked. */
const progressMs = 2;

/**
 * Reads all roles and bindings at one revision, page by page.
 *
 * @param at undefined for the latest revision.
 * @returns the revision.
 * @throws {StoreError}
 */
export async function readGrants(
  { store, prefix }: GrantStore,
  at: Revision | undefined,
  put: (entry: Entry) => void,
): Promise<Revision> {
  let revision = at;
  for (let after: string | undefined; ;) {
    const page = await store.range({ prefix, at: revision, after, limit: pageLimit, maxBytes: pageBytes });
    revision = page.revision;
    page.entries.forEach(put);
    if (!page.more) return revision;
    after = page.entries.at(-1)!.key;
    await nextTurn();
  }
}

/**
 * Reads the changes of roles and bindings after a revision, up to another one.
 *
 * @throws {StatusError} Expired if there are too many.
 * @throws {StoreError} the history can't be read.
 */
export async function readGrantEvents(
  { store, prefix }: GrantStore,
  after: Revision,
  upTo: Revision,
): Promise<readonly StoreEvent[]> {
  const events: StoreEvent[] = [];
  let bytes = 0;
  let failure: StoreError | undefined;
  const subscription = store.subscribe(
    { prefix, after },
    {
      events: (batch) => {
        for (const event of batch) {
          if (event.revision > upTo) return;
          events.push(event);
          bytes += eventBytes(event);
        }
      },
      ended: (error) => (failure = error),
      drained: () => Promise.resolve(),
    },
  );
  try {
    for (;;) {
      if (failure !== undefined) throw failure;
      if (bytes > maxPendingBytes || events.length > maxPendingChanges) throw tooManyChanges();
      if (subscription.position >= upTo) return events;
      await setTimeout(progressMs);
    }
  } finally {
    subscription.close();
  }
}

/** The error of watches for which the changes of roles and bindings are too many. */
export function tooManyChanges(): StatusError {
  return new StatusError(
    "Expired",
    "too many roles and bindings have changed; list the view again and watch from the list's resourceVersion",
  );
}
