import { decodeFieldSet, encodeFieldSet, isFieldSet, type FieldSet } from "./field-set.ts";
import type { ManagedFieldsEntryValue as ManagedFieldsEntry } from "../../schema/kind.ts";
import type { Owners } from "./ownership.ts";

/** Who wrote: what tells one entry from another. */
export interface Manager {
  readonly name: string;
  readonly operation: "Apply" | "Update";
  /** Version in which the fields are named. */
  readonly apiVersion: string;
  /** Empty for the object itself. */
  readonly subresource: string;
}

/** Owners of an object's fields, by the ids of their managers, with what stands beside the fields in their entries. */
export interface ManagedFields {
  readonly owners: Owners;
  readonly entries: ReadonlyMap<string, { readonly manager: Manager; readonly time: string | undefined }>;
}

/** Nobody owns anything. */
export const noManagedFields: ManagedFields = { owners: new Map(), entries: new Map() };

/** The most entries of updates; beyond them the oldest become one. */
const maxUpdateEntries = 10;
/** Whose the merged entries are. */
const ancientManager = "ancient-changes";

/**
 * The id of a manager. Applies of one name are one manager whatever version they use, so that a manager can move to another
 * version; updates are told apart by version.
 */
export function managerId({ name, operation, apiVersion, subresource }: Manager): string {
  return JSON.stringify([name, operation, operation === "Apply" ? "" : apiVersion, subresource]);
}

/** Reads the entries of an object. Those that can't be read, or own nothing, are left out. Of two of one id, the last counts. */
export function decodeManagedFields(
  entries: readonly ManagedFieldsEntry[] | null | undefined,
): ManagedFields {
  const owners = new Map<string, { version: string; set: FieldSet }>();
  const known = new Map<string, { manager: Manager; time: string | undefined }>();
  for (const entry of entries ?? []) {
    const { manager: name = "", operation, apiVersion = "", subresource = "", time } = entry;
    if (!isOperation(operation)) continue;
    const set = decodeFieldSet(entry.fieldsV1);
    if (set.isEmpty) continue;
    const manager = { name, operation, apiVersion, subresource };
    const id = managerId(manager);
    owners.set(id, { version: apiVersion, set });
    known.set(id, { manager, time });
  }
  return { owners, entries: known };
}

/** Whether entries that somebody sent are all of a form that can be read: of an operation, a version and a set of fields. */
export function areReadable(entries: readonly ManagedFieldsEntry[]): boolean {
  return entries.every(
    ({ operation, apiVersion = "", fieldsType, fieldsV1 }) =>
      isOperation(operation) && apiVersion !== "" && fieldsType === "FieldsV1" && isFieldSet(fieldsV1),
  );
}

function isOperation(text: string | undefined): text is Manager["operation"] {
  return text === "Apply" || text === "Update";
}

/**
 * Writes the entries of an object after a write. The writer's has the time of the write if it set or lost anything by it;
 * the others keep theirs, whatever was taken from them.
 *
 * @param before as they were.
 * @param writer who wrote; a new entry is theirs.
 * @param now the time of the write.
 * @param wrote whether the writer set anything, be it in fields that it owned already.
 */
export function encodeManagedFields(
  owners: Owners,
  before: ManagedFields,
  writer: Manager,
  now: string,
  wrote: boolean,
): ManagedFieldsEntry[] {
  const own = managerId(writer);
  const entries = [...owners].map(([id, { version, set }]) => {
    const known = before.entries.get(id);
    const was = before.owners.get(id);
    const same = id !== own || (!wrote && was?.version === version && was.set.equals(set));
    const { manager, time } = same && known !== undefined ? known : { manager: writer, time: now };
    return entryOf({ ...manager, apiVersion: version }, set, time);
  });
  return inOrder(writer.operation === "Update" ? withoutAncient(entries) : entries);
}

function entryOf(manager: Manager, set: FieldSet, time: string | undefined): ManagedFieldsEntry {
  const { name, operation, apiVersion, subresource } = manager;
  return {
    manager: name,
    operation,
    apiVersion,
    ...(time === undefined ? {} : { time }),
    fieldsType: "FieldsV1",
    fieldsV1: encodeFieldSet(set),
    ...(subresource === "" ? {} : { subresource }),
  };
}

/** Applies first, then by time and name. */
function inOrder(entries: readonly ManagedFieldsEntry[]): ManagedFieldsEntry[] {
  const key = ({
    operation,
    time = "",
    manager = "",
    apiVersion = "",
    subresource = "",
  }: ManagedFieldsEntry) => [operation, time, manager, apiVersion, subresource].join("\n");
  return entries.toSorted((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0));
}

/** Merges the oldest updates where there are too many, those of each version into one, until there aren't any more. */
function withoutAncient(entries: readonly ManagedFieldsEntry[]): ManagedFieldsEntry[] {
  const updates = inOrder(entries.filter(({ operation }) => operation === "Update"));
  let excess = updates.length - maxUpdateEntries;
  if (excess <= 0) return [...entries];
  const oldest = new Map<string, ManagedFieldsEntry>();
  let index = 0;
  for (; excess > 0 && index < updates.length; index++) {
    const entry = updates[index]!;
    const version = entry.apiVersion ?? "";
    const before = oldest.get(version);
    if (before !== undefined) excess--;
    oldest.set(version, before === undefined ? entry : joined(before, entry));
  }
  const applies = entries.filter(({ operation }) => operation === "Apply");
  return [...applies, ...oldest.values(), ...updates.slice(index)];
}

function joined(older: ManagedFieldsEntry, newer: ManagedFieldsEntry): ManagedFieldsEntry {
  const set = decodeFieldSet(older.fieldsV1).union(decodeFieldSet(newer.fieldsV1));
  const { subresource: _through, ...whole } = older;
  const time = newer.time ?? older.time;
  return {
    ...whole,
    manager: ancientManager,
    ...(time === undefined ? {} : { time }),
    fieldsV1: encodeFieldSet(set),
  };
}
