import { qualifiedName } from "../../base/object-errors.ts";
import { StatusError, type Cause } from "../../base/status-error.ts";
import { nextTurn } from "../../base/turns/yielding.ts";
import { EncryptedValueError } from "../../storage/encryption/value-cipher.ts";
import { StoreValueError, type Store } from "../../storage/store.ts";
import type { Resource } from "../registry/registry.ts";

/** Maximum number of objects that an error names. */
const maxNamed = 100;
/** Entries that are read at a time, and number of such reads. */
const page = { limit: 100, maxBytes: 256 * 1024 };
const maxReads = 300;

/** The error of a value that can't be read. */
export type UnreadableValue = StoreValueError | EncryptedValueError;

/** Whether a store failed because of one value, and can read others. */
export function isUnreadableValue(error: unknown): error is UnreadableValue {
  return error instanceof StoreValueError || error instanceof EncryptedValueError;
}

/**
 * Returns the error of a list with objects that can't be read, which names them: up to 100 among the next 20,000 to 30,000 objects.
 *
 * @param position prefix of the list, and the last key before the page that failed.
 * @param first the error with which the list failed.
 */
export async function unreadableObjects(
  store: Store,
  { name: resource, group }: Resource,
  position: { readonly prefix: string; readonly after: string | undefined },
  first: UnreadableValue,
): Promise<StatusError> {
  const { errors, isComplete } = await unreadableFrom(store, position);
  const causes: Cause[] = errors.map(({ key, message }) => ({
    reason: "UnexpectedServerResponse",
    field: key,
    message,
  }));
  if (!isComplete)
    causes.push({
      reason: "FieldValueTooMany",
      field: "",
      message: "there may be more errors, the list is truncated",
    });
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : "";
  const message = `failed to read one or more ${qualifiedName(resource, group)} from the storage: ${first.message}${more}`;
  const details = { name: "list", group, kind: resource, causes };
  return new StatusError("StorageReadError", message, details, { cause: first });
}

async function unreadableFrom(
  store: Store,
  { prefix, after: start }: { readonly prefix: string; readonly after: string | undefined },
): Promise<{ readonly errors: readonly UnreadableValue[]; readonly isComplete: boolean }> {
  const errors: UnreadableValue[] = [];
  let after = start;
  for (let reads = 0; reads < maxReads && errors.length < maxNamed; reads++) {
    try {
      const { entries, more } = await store.range({ prefix, after, ...page });
      if (!more) return { errors, isComplete: true };
      after = entries.at(-1)?.key;
    } catch (error) {
      if (!isUnreadableValue(error)) throw error;
      errors.push(error);
      after = error.key;
    }
    await nextTurn();
  }
  return { errors, isComplete: false };
}
