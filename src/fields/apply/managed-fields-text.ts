import { encodeString } from "../../base/json/encode.ts";
import type { ManagedFieldsEntryValue as ManagedFieldsEntry } from "../../schema/kind.ts";
import type { Manager } from "./manager.ts";

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
export function equalExceptTimes(a: ManagedFieldsText, b: ManagedFieldsText): boolean {
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
