import { encodeString } from "../../base/json/encode.ts";
import { deepEqual, type JsonValue } from "../../base/json/value.ts";
import {
  fieldElement,
  sortTexts,
  valueElement,
  FieldSet,
  decodeFieldSet,
  fieldSetText,
  isFieldSet,
} from "./field-set.ts";
import { elementOfItem } from "./parts.ts";
import { isParent, memberShape, openingOf, type ParentShape, type Shape } from "./shape.ts";
import type { ManagedFieldsEntryValue as ManagedFieldsEntry } from "../../schema/kind.ts";
import { type Manager, managerId } from "./manager.ts";
import { StoredFields, type OwnedFields, type Owners } from "./owned-fields.ts";

type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Returns the text of the set of fields in which a new object differs from the zero object of its kind: as `fieldSetText` of the
 * added and modified fields of `compareTyped`, but in one walk and without creating the set.
 *
 * @param ignored fields that never have an owner.
 */
export function textOfNewFields(value: unknown, zero: unknown, shape: Shape, ignored: FieldSet): string {
  if (!isParent(shape) || !isObject(value)) return "{}";
  return `{${changedMembers(value, isObject(zero) ? zero : nothing, shape, ignored)}}`;
}

/** Returns the texts of the members that differ from the zero object. */
function changedMembers(value: JsonObject, zero: JsonObject, parent: ParentShape, ignored: FieldSet): string {
  const opening = parent.kind === "struct" ? parent.opening : openingOf;
  let text = "";
  for (const name of sortTexts(Object.keys(value))) {
    const member = value[name];
    const shape = member === undefined ? undefined : memberShape(parent, name);
    if (shape === undefined) continue;
    const below = ignored.isEmpty ? ignored : ignored.below(fieldElement(name));
    if (below.isMember) continue;
    const zeroMember = zero !== nothing && Object.hasOwn(zero, name) ? zero[name] : undefined;
    const fields =
      zeroMember === undefined
        ? wholePart(member, shape, below)
        : changedPart(member, zeroMember, shape, below);
    if (fields === undefined) continue;
    if (text !== "") text += ",";
    text += `${opening(name)}${fields}}`;
  }
  return text;
}

/** Returns the text of the differences of a part that both objects have; undefined if there are none. */
function changedPart(value: unknown, zero: unknown, shape: Shape, ignored: FieldSet): string | undefined {
  if (isParent(shape) && isObject(value) && Object.keys(value).length > 0) {
    const text = changedMembers(value, isObject(zero) ? zero : nothing, shape, ignored);
    return text === "" ? undefined : text;
  }
  // The lists of a zero object are empty.
  if (Array.isArray(value) && value.length > 0) {
    const text = listParts(value, shape, ignored);
    if (text !== undefined) return text;
  }
  // A granular value that is empty now has no added or modified fields.
  if (shape.kind !== "leaf" && isContainer(value) && isContainer(zero)) return undefined;
  return deepEqual(value as JsonValue, zero as JsonValue) ? undefined : "";
}

function isContainer(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

/** Returns the text of an added part: its own path and all paths in it. */
function wholePart(value: unknown, shape: Shape, ignored: FieldSet): string {
  if (shape.kind === "leaf") return "";
  let below: string | undefined;
  if (isParent(shape) && isObject(value)) below = changedMembers(value, nothing, shape, ignored);
  else if (Array.isArray(value)) below = listParts(value, shape, ignored);
  return below === undefined || below === "" ? "" : `".":{},${below}`;
}

const nothing: JsonObject = {};

/** Returns the text of the items of a granular list; undefined for an atomic list. */
function listParts(list: readonly unknown[], shape: Shape, ignored: FieldSet): string | undefined {
  if (shape.kind === "set") {
    const elements = sortTexts([...new Set(list.map(valueElement))]);
    return elements.map((element) => `${encodeString(element)}:{}`).join(",");
  }
  if (shape.kind !== "items") return undefined;
  const byElement = new Map<string, unknown>();
  for (const item of list) {
    const element = elementOfItem(item, shape, "lenient");
    if (element !== undefined && !byElement.has(element)) byElement.set(element, item);
  }
  return sortTexts([...byElement.keys()])
    .map((element) => {
      const below = ignored.isEmpty ? ignored : ignored.below(element);
      return `${encodeString(element)}:{${wholePart(byElement.get(element), shape.element, below)}}`;
    })
    .join(",");
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * The managed fields of an object as stored: a JSON list beside the object. A write parses only the entries that it needs and
 * usually stores the list unchanged.
 */
export interface ManagedFieldsText {
  /** The list as JSON; empty if there are no entries. */
  readonly text: string;
  /** Start and end offset of the `fieldsV1` of each entry in the text, in one flat list. */
  readonly sets: readonly number[];
}

/** The managed fields of an object without entries. */
export const noManagedFieldsText: ManagedFieldsText = { text: "", sets: [] };

/** An entry with its `fieldsV1` as JSON text. */
export interface EntryText {
  readonly manager: Manager;
  readonly time: string | undefined;
  readonly fields: string;
}

/** Encodes entries in the order of the input. */
export function joinEntries(entries: readonly EntryText[]): ManagedFieldsText {
  if (entries.length === 0) return noManagedFieldsText;
  const sets: number[] = [];
  let text = "";
  for (const { manager, time, fields } of entries) {
    const { name, operation, apiVersion, subresource } = manager;
    const timed = time === undefined ? "" : `"time":${encodeString(time)},`;
    text +=
      `${text === "" ? "[" : ","}{"manager":${encodeString(name)},"operation":"${operation}",` +
      `"apiVersion":${encodeString(apiVersion)},${timed}"fieldsType":"FieldsV1","fieldsV1":`;
    sets.push(text.length, text.length + fields.length);
    text += `${fields}${subresource === "" ? "" : `,"subresource":${encodeString(subresource)}`}}`;
  }
  return { text: `${text}]`, sets };
}

/** Decodes entries that {@link joinEntries} encoded. */
export function splitEntries(stored: ManagedFieldsText): EntryText[] {
  const { text, sets } = stored;
  return entriesWithoutFields(stored).map((entry, index): EntryText => {
    const { manager: name = "", operation, apiVersion = "", subresource = "", time } = entry;
    const manager = { name, operation: operation as Manager["operation"], apiVersion, subresource };
    return { manager, time, fields: text.slice(sets[2 * index]!, sets[2 * index + 1]!) };
  });
}

/** Whether two lists have the same entries, apart from times and order. */
function equalExceptTimes(a: ManagedFieldsText, b: ManagedFieldsText): boolean {
  if (a.text === b.text) return true;
  const untimed = (list: ManagedFieldsText) =>
    splitEntries(list)
      .map(({ manager, fields }) => JSON.stringify([manager, fields]))
      .toSorted();
  return a.sets.length === b.sets.length && untimed(a).join() === untimed(b).join();
}

/** Encodes the entries of `metadata.managedFields`. */
export function textOfEntries(entries: readonly ManagedFieldsEntry[] | undefined): ManagedFieldsText {
  if (entries === undefined || entries.length === 0) return noManagedFieldsText;
  return joinEntries(
    entries.map(
      ({ manager: name = "", operation, apiVersion = "", subresource = "", time, fieldsV1 = {} }) => ({
        manager: { name, operation: operation as Manager["operation"], apiVersion, subresource },
        time,
        fields: JSON.stringify(fieldsV1),
      }),
    ),
  );
}

/** Decodes the entries for `metadata.managedFields`. */
export function entriesOf({ text }: ManagedFieldsText): ManagedFieldsEntry[] {
  return text === "" ? [] : (JSON.parse(text) as ManagedFieldsEntry[]);
}

/** Decodes the entries without their `fieldsV1`, which are most of the text. */
function entriesWithoutFields({ text, sets }: ManagedFieldsText): Omit<ManagedFieldsEntry, "fieldsV1">[] {
  let shortened = "";
  let from = 0;
  for (let index = 0; index < sets.length; index += 2) {
    shortened += `${text.slice(from, sets[index])}0`;
    from = sets[index + 1]!;
  }
  return JSON.parse(shortened + text.slice(from)) as ManagedFieldsEntry[];
}

/** The manager and time of an entry. */
interface ManagerEntry {
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
