import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import type { Entry, Store } from "../../storage/store.ts";
import type { Candidates } from "./collection-index.ts";

/** Maximum number of keys of one read. */
const keysAtOnce = 128;
/** Maximum number of concurrent reads from a remote store. */
const parallelReads = 32;

/** The existing objects of some candidates. */
export interface ChosenPage {
  readonly entries: readonly Entry[];
  /** Index of the next candidate to read. */
  readonly upTo: number;
}

/**
 * Reads candidates, at least one.
 *
 * @param from index of the first candidate to read.
 * @param limits stop the read: number of objects, and bytes of their bodies.
 *
 * @throws {StoreError} as `Store.get`.
 */
export async function readCandidates(
  store: Store,
  { keys, revision }: Candidates,
  from: number,
  limits: { readonly limit: number; readonly maxBytes: number },
): Promise<ChosenPage> {
  const { limit, maxBytes } = limits;
  /** In the order of the candidates; a store may return some at once and others later. */
  const reads: MaybePromise<Entry | undefined>[] = [];
  let pending = 0;
  const most = Math.min(keys.length, from + Math.min(limit, keysAtOnce));
  let bytes = 0;
  let at = from;
  store.together(() => {
    while (at < most && bytes < maxBytes && pending < parallelReads) {
      const read = store.get(keys[at++]!, revision);
      reads.push(read);
      pending += isPending(read) ? 1 : 0;
      bytes += bytesOf(read);
    }
  });
  const entries = pending === 0 ? (reads as (Entry | undefined)[]) : await Promise.all(reads);
  return { entries: entries.filter((entry) => entry !== undefined), upTo: at };
}

function isPending(read: MaybePromise<Entry | undefined>): boolean {
  return read instanceof Promise;
}

/** The size of the body of an entry; 0 while it is unknown. */
function bytesOf(read: MaybePromise<Entry | undefined>): number {
  return read instanceof Promise || read === undefined ? 0 : read.body.length;
}
