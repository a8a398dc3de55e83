/** Walks over many keys, in turns. */
import { nextTurn } from "../base/turns/yielding.ts";
import type { RangeOptions, RangePage, Revision, Store } from "./store.ts";

/** Number of keys that a count reads at once. */
const countedKeys = 1000;

/**
 * Yields the pages of a range. Other work has a turn between two of them.
 *
 * @param options each page is read at its `at`, or at the revision that is the latest then.
 */
export async function* pagesOf(
  store: Pick<Store, "range">,
  options: RangeOptions,
): AsyncGenerator<RangePage, void> {
  for (let { after } = options; ;) {
    const page = await store.range({ ...options, after });
    yield page;
    const last = page.entries.at(-1);
    if (!page.more || last === undefined) return;
    after = last.key;
    await nextTurn();
  }
}

/** Returns the number of keys under a prefix at a revision, by reading them. */
export async function countKeys(store: Pick<Store, "range">, prefix: string, at: Revision): Promise<number> {
  let count = 0;
  for await (const { entries } of pagesOf(store, { prefix, at, limit: countedKeys })) count += entries.length;
  return count;
}

/** Number of keys that one transaction of {@link deleteKeys} deletes. */
const deletedKeys = 50;

/**
 * Deletes the keys that begin with a text. What others write meanwhile is deleted too, as far as this call comes across it.
 *
 * @param start begins with `/`; isn't itself a key.
 * @param ending ends the call early when it is aborted.
 * @returns the number of deleted keys.
 */
export async function deleteKeys(store: Store, start: string, ending?: AbortSignal): Promise<number> {
  const limit = Math.min(deletedKeys, store.transactionLimits.writes);
  let count = 0;
  for (let after = start; ;) {
    const { entries, more } = await store.range({ prefix: "/", after, limit });
    const own = entries.filter(({ key }) => key.startsWith(start));
    if (own.length > 0) {
      const result = await store.transact(
        own.map(({ key, revision }) => ({ kind: "delete", key, expected: revision })),
      );
      // Another one has changed a key: it is read again.
      if (!result.ok) continue;
      count += own.length;
      after = own.at(-1)!.key;
    }
    if (own.length < entries.length || !more || ending?.aborted === true) return count;
    await nextTurn();
  }
}
