import type { MaybePromise } from "../../base/maybe-promise.ts";
import type { Entry, Store } from "../../storage/store.ts";
import type { Candidates } from "./collection-index.ts";

/** How many keys are asked for at a time, of a store in this machine and of one where each takes a round trip. */
const keysAtOnce = 128;
const keysUnderWay = 32;

/** Some of the candidates that exist at their revision. */
export interface ChosenPage {
  readonly entries: readonly Entry[];
  /** How many candidates have been looked at, from the first. */
  readonly upTo: number;
}

/**
 * Reads candidates from the place `from` on, until there are so many or their bodies have so many bytes; at least one.
 *
 * @throws {StoreError} as `Store.get`.
 */
export async function readCandidates(
  store: Store,
  { keys, revision }: Candidates,
  from: number,
  { limit, maxBytes }: { readonly limit: number; readonly maxBytes: number },
): Promise<ChosenPage> {
  const entries: Entry[] = [];
  const under: Promise<Entry | undefined>[] = [];
  const most = Math.min(keys.length, from + Math.min(limit, keysAtOnce));
  let bytes = 0;
  let at = from;
  store.together(() => {
    while (at < most && bytes < maxBytes && under.length < keysUnderWay) {
      const found: MaybePromise<Entry | undefined> = store.get(keys[at++]!, revision);
      if (found instanceof Promise) under.push(found);
      else if (found !== undefined) {
        entries.push(found);
        bytes += found.body.length;
      }
    }
  });
  for (const entry of await Promise.all(under)) if (entry !== undefined) entries.push(entry);
  return { entries, upTo: at };
}
