import type { ManagedFieldsEntryValue as ManagedFieldsEntry } from "../../schema/kind.ts";
import { decodeFieldSet, FieldSet, fieldSetText, isFieldSet } from "./field-set.ts";
import { managerId, type Manager } from "./manager.ts";
import { equalExceptTimes, joinEntries, splitEntries, type EntryText } from "./managed-fields-text.ts";
import type { ManagedFieldsText } from "./managed-fields-text.ts";
import { StoredFields, type OwnedFields, type Owners } from "./owned-fields.ts";

/** The manager and time of an entry. */
export interface ManagerEntry {
  readonly manager: Manager;
  readonly time: string | undefined;
}

/** The managed fields of an object, by manager id. */
export interface ManagedFields {
  readonly owners: Owners;
  readonly entries: ReadonlyMap<string, ManagerEntry>;
  /** The stored text; undefined if the managed fields don't come from storage. */
  readonly stored?: ManagedFieldsText | undefined;
}

/** The managed fields of an object without entries. */
export const noManagedFields: ManagedFields = { owners: new Map(), entries: new Map() };

/** Maximum number of entries for updates; above it the oldest are merged. */
const maxUpdateEntries = 10;
/** Manager of the merged entries, as in Kubernetes. */
const ancientManager = "ancient-changes";

/** Decodes entries. Skips entries that are invalid or have no fields. Of entries with the same manager id the last one counts. */
export function decodeManagedFields(
  entries: readonly ManagedFieldsEntry[] | null | undefined,
): ManagedFields {
  const owners = new Map<string, OwnedFields>();
  const managers = new Map<string, ManagerEntry>();
  for (const entry of entries ?? []) {
    const { manager: name = "", operation, apiVersion = "", subresource = "", time } = entry;
    if (!isOperation(operation)) continue;
    const set = decodeFieldSet(entry.fieldsV1);
    if (set.isEmpty) continue;
    const manager = { name, operation, apiVersion, subresource };
    const id = managerId(manager);
    owners.set(id, { version: apiVersion, set });
    managers.set(id, { manager, time });
  }
  return { owners, entries: managers };
}

/**
 * Returns the stored managed fields of an object. The entries are parsed at first use, and each set of fields at its first use.
 *
 * @param stored text of {@link encodeManagedFields}.
 * @param read decodes the text of a set.
 */
export function storedManagedFields(
  stored: ManagedFieldsText,
  read?: (text: string) => FieldSet,
): ManagedFields {
  return stored.text === "" ? noManagedFields : new StoredManagedFields(stored, read);
}

class StoredManagedFields implements ManagedFields {
  private decoded: Omit<ManagedFields, "stored"> | undefined;
  constructor(
    readonly stored: ManagedFieldsText,
    private readonly readSet?: (text: string) => FieldSet,
  ) {}

  get owners(): Owners {
    return (this.decoded ??= decodeEntries(this.stored, this.readSet)).owners;
  }

  get entries(): ManagedFields["entries"] {
    return (this.decoded ??= decodeEntries(this.stored, this.readSet)).entries;
  }
}

function decodeEntries(
  stored: ManagedFieldsText,
  readSet: ((text: string) => FieldSet) | undefined,
): Omit<ManagedFields, "stored"> {
  const owners = new Map<string, OwnedFields>();
  const entries = new Map<string, ManagerEntry>();
  for (const { manager, time, fields } of splitEntries(stored)) {
    const id = managerId(manager);
    owners.set(id, new StoredFields(manager.apiVersion, fields, readSet));
    entries.set(id, { manager, time });
  }
  return { owners, entries };
}

/** Whether all entries of a request are valid: each has an operation, a version and well-formed fields. */
export function areValidEntries(entries: readonly ManagedFieldsEntry[]): boolean {
  return entries.every(
    ({ operation, apiVersion = "", fieldsType, fieldsV1 }) =>
      isOperation(operation) && apiVersion !== "" && fieldsType === "FieldsV1" && isFieldSet(fieldsV1),
  );
}

function isOperation(text: string | undefined): text is Manager["operation"] {
  return text === "Apply" || text === "Update";
}

/**
 * Encodes the entries of an object after a write. The entry of the writer gets the time of the write if it set a field or its
 * fields changed. Other entries keep their times, even if they lost fields.
 *
 * @param before the managed fields before the write.
 * @param now time of the write.
 * @param wrote whether the write set a field, including fields that the writer owned before.
 */
export function encodeManagedFields(
  owners: Owners,
  before: ManagedFields,
  writer: Manager,
  now: string,
  wrote: boolean,
): ManagedFieldsText {
  if (!wrote && before.stored !== undefined && owners === before.owners) return before.stored;
  const own = managerId(writer);
  const entries = [...owners].map(([id, owned]): EntryText => {
    const previous = before.entries.get(id);
    const isUnchanged = id !== own || (!wrote && sameFields(before.owners.get(id), owned));
    const { manager, time } =
      isUnchanged && previous !== undefined ? previous : { manager: writer, time: now };
    return { manager: { ...manager, apiVersion: owned.version }, time, fields: textOf(owned) };
  });
  return joinEntries(sortEntries(writer.operation === "Update" ? mergeOldest(entries) : entries));
}

/** Encodes the single entry of a new object; `fields` is its `fieldsV1` as text. */
export function encodeCreatorEntry(creator: Manager, now: string, fields: string): ManagedFieldsText {
  return joinEntries([{ manager: creator, time: now, fields }]);
}

/** Returns the current managed fields if only times would change; otherwise the written ones. */
export function ignoreTimeOnlyChange(written: ManagedFieldsText, current: ManagedFields): ManagedFieldsText {
  const { stored } = current;
  return stored !== undefined && equalExceptTimes(written, stored) ? stored : written;
}

function sameFields(a: OwnedFields | undefined, b: OwnedFields): boolean {
  return a !== undefined && (a === b || (a.version === b.version && a.set.equals(b.set)));
}

function textOf(owned: OwnedFields): string {
  return owned instanceof StoredFields ? owned.text : fieldSetText(owned.set);
}

/** Sorts entries as Kubernetes: applies first, then by time and name. */
/** Sorts entries as they are stored. */
export function sortEntries(entries: readonly EntryText[]): EntryText[] {
  const key = ({ manager, time = "" }: EntryText) =>
    [manager.operation, time, manager.name, manager.apiVersion, manager.subresource].join("\n");
  if (entries.length === 1) return [...entries];
  const keyed = entries.map((entry) => ({ entry, key: key(entry) }));
  keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  return keyed.map(({ entry }) => entry);
}

/** If there are more than `maxUpdateEntries` updates, merges the oldest ones of each version into one entry. */
function mergeOldest(entries: readonly EntryText[]): readonly EntryText[] {
  if (entries.length <= maxUpdateEntries) return entries;
  const updates = sortEntries(entries.filter(({ manager }) => manager.operation === "Update"));
  let excess = updates.length - maxUpdateEntries;
  if (excess <= 0) return entries;
  const oldest = new Map<string, EntryText[]>();
  let index = 0;
  for (; excess > 0 && index < updates.length; index++) {
    const entry = updates[index]!;
    const group = oldest.get(entry.manager.apiVersion);
    if (group === undefined) oldest.set(entry.manager.apiVersion, [entry]);
    else {
      group.push(entry);
      excess--;
    }
  }
  const applies = entries.filter(({ manager }) => manager.operation === "Apply");
  return [...applies, ...[...oldest.values()].map(mergeEntries), ...updates.slice(index)];
}

/** Merges entries of one version, sorted by time; returns a single entry unchanged. */
function mergeEntries(entries: readonly EntryText[]): EntryText {
  const newest = entries.at(-1)!;
  if (entries.length === 1) return newest;
  const set = FieldSet.unionOf(entries.map(({ fields }) => new StoredFields("", fields).set));
  return {
    manager: { ...newest.manager, name: ancientManager, subresource: "" },
    time: newest.time,
    fields: fieldSetText(set),
  };
}
