import { isSealed } from "../../storage/encryption/sealed-draft.ts";
import type { RangePage, Store } from "../../storage/store.ts";
import { OptionsError } from "../options/options-error.ts";

/** Exists in a store that may have encrypted values; no resource type has its prefix. */
const markKey = "/core/encryption//mark";

const pageSize = 1000;

/** Marks a store that gets encrypted values. */
export async function markEncrypted(store: Store): Promise<void> {
  if ((await store.get(markKey)) !== undefined) return;
  const draft = { header: Buffer.alloc(0), body: Buffer.from("{}"), revisionAt: 0 };
  // Another server may have written the mark at the same time.
  await store.commit({ kind: "create", key: markKey, draft });
}

/**
 * Checks that a store can be used without encryption. If it once had encrypted values, all values are read.
 *
 * @throws {OptionsError} it has an encrypted value.
 */
export async function assertNothingEncrypted(store: Store): Promise<void> {
  const mark = await store.get(markKey);
  if (mark === undefined) return;
  let page: RangePage | undefined;
  do {
    const position = { after: page?.entries.at(-1)?.key, at: page?.revision };
    page = await store.range({ prefix: "/", limit: pageSize, maxBytes: 4_000_000, ...position });
    const sealed = page.entries.find((entry) => isSealed(entry));
    if (sealed !== undefined) {
      throw new OptionsError(
        `the store has encrypted values, such as that of ${sealed.key}: start with --encryption-provider-config and the key`,
      );
    }
  } while (page.more);
  await store.commit({ kind: "delete", key: markKey, expected: mark.revision });
}
