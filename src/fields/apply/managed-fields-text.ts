import { encodeString } from "../../base/json/encode.ts";
import type { ManagedFieldsEntryValue as ManagedFieldsEntry } from "../../schema/kind.ts";
import type { Manager } from "./manager.ts";

/**
 * The managed fields of an object as they are stored: their JSON list, beside the object, so that a write parses of it only
 * what it needs, and mostly writes it as it was.
 */
export interface ManagedFieldsText {
  /** The list as JSON; empty when there are no entries. */
  readonly text: string;
  /** Where in the text the set of each entry begins and ends, one after the other. */
  readonly sets: readonly number[];
}

/** Of an object without managed fields. */
export const noManagedFieldsText: ManagedFieldsText = { text: "", sets: [] };

/** An entry, with the set of its fields as JSON text. */
export interface EntryText {
  readonly manager: Manager;
  readonly time: string | undefined;
  readonly fields: string;
}

/** Writes entries, in their order. */
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

/** Reads entries that {@link joinEntries} wrote. */
export function splitEntries(stored: ManagedFieldsText): EntryText[] {
  const { text, sets } = stored;
  return headsOf(stored).map((head, index): EntryText => {
    const { manager: name = "", operation, apiVersion = "", subresource = "", time } = head;
    const manager = { name, operation: operation as Manager["operation"], apiVersion, subresource };
    return { manager, time, fields: text.slice(sets[2 * index]!, sets[2 * index + 1]!) };
  });
}

/** Whether two lists differ in nothing but the times of their entries. */
export function sameButForTimes(a: ManagedFieldsText, b: ManagedFieldsText): boolean {
  if (a.text === b.text) return true;
  const untimed = (list: ManagedFieldsText) =>
    splitEntries(list)
      .map(({ manager, fields }) => JSON.stringify([manager, fields]))
      .toSorted();
  return a.sets.length === b.sets.length && untimed(a).join() === untimed(b).join();
}

/** The text of entries as an object shows them. */
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

/** The entries as clients see them. */
export function entriesOf({ text }: ManagedFieldsText): ManagedFieldsEntry[] {
  return text === "" ? [] : (JSON.parse(text) as ManagedFieldsEntry[]);
}

/** The entries without their sets, which are most of the text. */
function headsOf({ text, sets }: ManagedFieldsText): Omit<ManagedFieldsEntry, "fieldsV1">[] {
  let heads = "";
  let from = 0;
  for (let at = 0; at < sets.length; at += 2) {
    heads += `${text.slice(from, sets[at])}0`;
    from = sets[at + 1]!;
  }
  return JSON.parse(heads + text.slice(from)) as ManagedFieldsEntry[];
}
