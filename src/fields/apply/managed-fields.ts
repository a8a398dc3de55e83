import { decodeFieldSet, encodeFieldSet, FieldSet } from "./field-set.ts";
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

/** Reads the entries of an object. Those that can't be read, or own nothing, are left out. */
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
    const before = owners.get(id);
    owners.set(id, { version: apiVersion, set: before === undefined ? set : before.set.union(set) });
    known.set(id, { manager, time });
  }
  return { owners, entries: known };
}

function isOperation(text: string | undefined): text is Manager["operation"] {
  return text === "Apply" || text === "Update";
}

/**
 * Writes the entries of an object after a write.
 *
 * @param before as they were; entries that didn't change keep their time.
 * @param writer who wrote; a new entry is theirs.
 * @param now the time of the write.
 */
export function encodeManagedFields(
  owners: Owners,
  before: ManagedFields,
  writer: Manager,
  now: string,
): ManagedFieldsEntry[] {
  const entries = [...owners].flatMap(([id, { version, set }]): ManagedFieldsEntry[] => {
    const known = before.entries.get(id);
    const manager = known?.manager ?? writer;
    const was = before.owners.get(id);
    const same = was !== undefined && was.version === version && was.set.equals(set);
    const time = same ? known?.time : now;
    return [entryOf({ ...manager, apiVersion: version }, set, time)];
  });
  return inOrder(withoutAncient(entries));
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

/** Merges the oldest updates where there are too many, those of each version into one. */
function withoutAncient(entries: readonly ManagedFieldsEntry[]): ManagedFieldsEntry[] {
  const updates = inOrder(entries.filter(({ operation }) => operation === "Update"));
  if (updates.length <= maxUpdateEntries) return [...entries];
  const applies = entries.filter(({ operation }) => operation === "Apply");
  const merged = new Map<string, ManagedFieldsEntry>();
  let left = updates.length;
  let index = 0;
  // Merging begins with the oldest, and two become one only from the second of a version on.
  for (; index < updates.length && left > maxUpdateEntries - 1; index++) {
    const entry = updates[index]!;
    const version = entry.apiVersion ?? "";
    const before = merged.get(version);
    if (before !== undefined) left--;
    merged.set(version, before === undefined ? { ...entry, manager: ancientManager } : joined(before, entry));
  }
  const ancient = [...merged.values()].map(({ subresource: _subresource, ...entry }) => entry);
  return [...applies, ...ancient, ...updates.slice(index)];
}

function joined(older: ManagedFieldsEntry, newer: ManagedFieldsEntry): ManagedFieldsEntry {
  const set = decodeFieldSet(older.fieldsV1).union(decodeFieldSet(newer.fieldsV1));
  const { time } = newer;
  return { ...older, ...(time === undefined ? {} : { time }), fieldsV1: encodeFieldSet(set) };
}
