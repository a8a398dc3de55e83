import { isSealedValue } from "../../storage/encryption/encrypted-values.ts";
import { isSealed } from "../../storage/encryption/sealed-draft.ts";
import { sharedKeyNames, type SharedValues } from "../../storage/shared-values.ts";
import type { RangePage, Store } from "../../storage/store.ts";
import { OptionsError } from "../options/options-error.ts";

/** Exists in a store that may have encrypted values; no resource type has its prefix. */
const markKey = "/core/encryption//mark";

const pageSize = 1000;
const pageBytes = 4_000_000;

/** Marks a store that gets encrypted values. */
export async function markEncrypted(store: Store): Promise<void> {
  if ((await store.get(markKey)) !== undefined) return;
  const draft = { header: Buffer.alloc(0), body: Buffer.from("{}"), revisionAt: 0 };
  // Another server may have written the mark at the same time.
  await store.commit({ kind: "create", key: markKey, draft });
}

/**
 * Checks that a store can be used without encryption, and then removes its mark.
 *
 * @param shared the values that the servers of the store share.
 * @throws {OptionsError} it has an encrypted value.
 */
export async function assertNothingEncrypted(store: Store, shared: SharedValues | undefined): Promise<void> {
  const mark = await store.get(markKey);
  if (mark === undefined) return;
  const key = (await encryptedNameIn(shared)) ?? (await encryptedKeyIn(store));
  if (key !== undefined) {
    throw new OptionsError(
      `the store has encrypted values, such as that of ${key}: start with --encryption-provider-config and the key`,
    );
  }
  await store.commit({ kind: "delete", key: markKey, expected: mark.revision });
}

/** Returns the name of the first shared key that is encrypted. */
async function encryptedNameIn(shared: SharedValues | undefined): Promise<string | undefined> {
  for (const name of sharedKeyNames) {
    const stored = await shared?.get(name);
    if (stored !== undefined && isSealedValue(stored)) return name;
  }
  return undefined;
}

/** Returns the first key with an encrypted value; reads all values of a store that once had one, and no others. */
export async function encryptedKeyIn(store: Store): Promise<string | undefined> {
  if ((await store.get(markKey)) === undefined) return undefined;
  let page: RangePage | undefined;
  do {
    const position = { after: page?.entries.at(-1)?.key, at: page?.revision };
    page = await store.range({ prefix: "/", limit: pageSize, maxBytes: pageBytes, ...position });
    const sealed = page.entries.find((entry) => isSealed(entry));
    if (sealed !== undefined) return sealed.key;
  } while (page.more);
  return undefined;
}
