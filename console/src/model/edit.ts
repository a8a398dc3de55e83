import { isEqual, isRecord, memberOf } from "./paths.ts";

type Fields = Readonly<Record<string, unknown>>;

/** What an edited object changes. */
export interface Edit {
  /** Added and changed fields; lists are whole. */
  readonly changed: Fields;
  /** A merge patch that removes what is missing in the edited object; undefined if nothing is. */
  readonly removed: Fields | undefined;
}

/** Compares an edited object with the original. */
export function editOf(original: Fields, edited: Fields): Edit {
  const changed: Record<string, unknown> = {};
  const removed: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(edited)) {
    const before = memberOf(original, key);
    if (isEqual(before, value)) continue;
    if (isRecord(before) && isRecord(value)) {
      const below = editOf(before, value);
      if (Object.keys(below.changed).length > 0) changed[key] = below.changed;
      if (below.removed !== undefined) removed[key] = below.removed;
      continue;
    }
    changed[key] = value;
    if (Array.isArray(before) && Array.isArray(value) && losesItems(before, value)) removed[key] = value;
  }
  for (const key of Object.keys(original)) if (memberOf(edited, key) === undefined) removed[key] = null;
  return { changed, removed: Object.keys(removed).length === 0 ? undefined : removed };
}

/** Whether an item of a list is missing, by its name if it has one. Applying a list doesn't remove items of other owners. */
function losesItems(before: readonly unknown[], after: readonly unknown[]): boolean {
  return before.some((item) => {
    const name = isRecord(item) ? item["name"] : undefined;
    return !after.some((one) =>
      name === undefined ? isEqual(item, one) : isRecord(one) && one["name"] === name,
    );
  });
}

/** Joins two objects; members of the second have precedence. */
export function joined(one: Fields, other: Fields): Record<string, unknown> {
  const result: Record<string, unknown> = { ...one };
  for (const [key, value] of Object.entries(other)) {
    const existing = result[key];
    result[key] = isRecord(existing) && isRecord(value) ? joined(existing, value) : value;
  }
  return result;
}

/** Members of metadata that the server sets. */
const serverMetadata = new Set([
  "creationTimestamp",
  "generation",
  "managedFields",
  "resourceVersion",
  "selfLink",
  "uid",
]);

/** Returns an object without what the server sets: its status, and parts of its metadata. */
export function editable(object: Fields): Record<string, unknown> {
  const { status: _status, metadata, ...rest } = object;
  const entries = Object.entries((metadata ?? {}) as Fields).filter(([key]) => !serverMetadata.has(key));
  const { apiVersion, kind, ...others } = rest;
  return { apiVersion, kind, metadata: Object.fromEntries(entries), ...others };
}
