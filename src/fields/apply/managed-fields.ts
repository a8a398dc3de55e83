import type { ManagedFieldsEntryValue as ManagedFieldsEntry } from "../../schema/kind.ts";
import { decodeFieldSet, FieldSet, fieldSetText, isFieldSet } from "./field-set.ts";
import { managerId, type Manager } from "./manager.ts";
import { joinEntries, sameButForTimes, splitEntries, type EntryText } from "./managed-fields-text.ts";
import type { ManagedFieldsText } from "./managed-fields-text.ts";
import { StoredFields, type OwnedFields, type Owners } from "./owned-fields.ts";

/** The members of an entry beside its fields. */
export interface ManagerEntry {
  readonly manager: Manager;
  readonly time: string | undefined;
}

/** Owners of an object's fields, by the ids of their managers, with the other members of their entries. */
export interface ManagedFields {
  readonly owners: Owners;
  readonly entries: ReadonlyMap<string, ManagerEntry>;
  /** How they are stored, where they are. */
  readonly stored?: ManagedFieldsText | undefined;
}

/** Of an object without managed fields. */
export const noManagedFields: ManagedFields = { owners: new Map(), entries: new Map() };

/** Maximum number of entries for updates; above it the oldest are merged. */
const maxUpdateEntries = 10;
/** Manager of the merged entries. */
const ancientManager = "ancient-changes";

/** Reads the entries of an object. Those that can't be read, or own nothing, are left out. Of two of one id, the last counts. */
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
 * Reads the managed fields of an object as {@link encodeManagedFields} wrote them. Nothing is parsed before it is asked
 * for, and of the sets of fields only those that are, by `read`.
 */
export function storedManagedFields(
  stored: ManagedFieldsText,
  read?: (text: string) => FieldSet,
): ManagedFields {
  return stored.text === "" ? noManagedFields : new StoredManagedFields(stored, read);
}

class StoredManagedFields implements ManagedFields {
  private read: Omit<ManagedFields, "stored"> | undefined;
  constructor(
    readonly stored: ManagedFieldsText,
    private readonly readSet?: (text: string) => FieldSet,
  ) {}

  get owners(): Owners {
    return (this.read ??= readEntries(this.stored, this.readSet)).owners;
  }

  get entries(): ManagedFields["entries"] {
    return (this.read ??= readEntries(this.stored, this.readSet)).entries;
  }
}

function readEntries(
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

/** Whether the entries of a request are all valid: with operation, version and well-formed fields. */
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
): ManagedFieldsText {
  if (!wrote && before.stored !== undefined && owners === before.owners) return before.stored;
  const own = managerId(writer);
  const entries = [...owners].map(([id, owned]): EntryText => {
    const previous = before.entries.get(id);
    const same = id !== own || (!wrote && sameFields(before.owners.get(id), owned));
    const { manager, time } = same && previous !== undefined ? previous : { manager: writer, time: now };
    return { manager: { ...manager, apiVersion: owned.version }, time, fields: textOf(owned) };
  });
  return joinEntries(inOrder(writer.operation === "Update" ? withoutAncient(entries) : entries));
}

/** The one entry of an object that one writer made; `fields` is the text of the set of its fields. */
export function entryOfCreator(creator: Manager, now: string, fields: string): ManagedFieldsText {
  return joinEntries([{ manager: creator, time: now, fields }]);
}

/**
 * The present managed fields, where only times would change; else the written ones.
 */
export function unlessSame(written: ManagedFieldsText, current: ManagedFields): ManagedFieldsText {
  const { stored } = current;
  return stored !== undefined && sameButForTimes(written, stored) ? stored : written;
}

function sameFields(was: OwnedFields | undefined, is: OwnedFields): boolean {
  return was !== undefined && (was === is || (was.version === is.version && was.set.equals(is.set)));
}

function textOf(owned: OwnedFields): string {
  return owned instanceof StoredFields ? owned.text : fieldSetText(owned.set);
}

/** Applies first, then by time and name. */
function inOrder(entries: readonly EntryText[]): EntryText[] {
  const key = ({ manager, time = "" }: EntryText) =>
    [manager.operation, time, manager.name, manager.apiVersion, manager.subresource].join("\n");
  if (entries.length === 1) return [...entries];
  const keyed = entries.map((entry) => ({ entry, key: key(entry) }));
  keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  return keyed.map(({ entry }) => entry);
}

/** If there are too many updates, merges the oldest ones, per version, until the limit is met. */
function withoutAncient(entries: readonly EntryText[]): readonly EntryText[] {
  if (entries.length <= maxUpdateEntries) return entries;
  const updates = inOrder(entries.filter(({ manager }) => manager.operation === "Update"));
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
  return [...applies, ...[...oldest.values()].map(joined), ...updates.slice(index)];
}

/** One entry of those of one version, of which the last is the newest; one that is alone stays as it is. */
function joined(entries: readonly EntryText[]): EntryText {
  const newest = entries.at(-1)!;
  if (entries.length === 1) return newest;
  const set = FieldSet.unionOf(entries.map(({ fields }) => new StoredFields("", fields).set));
  return {
    manager: { ...newest.manager, name: ancientManager, subresource: "" },
    time: newest.time,
    fields: fieldSetText(set),
  };
}
