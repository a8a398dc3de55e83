/**
 * Markers in a derived store that hide keys of its base. The marker of a key is the key with U+0002 at its end, so it follows the key, and
 * a subscription that has the one has the other. It has a copy of the base's value, for the event of the write that hid it. Its records in the
 * history follow those of the key, which have U+0001 after the key (`history/archive-keys.ts`). No name contains U+0002.
 */
import { decodeArchiveRecord, encodeArchiveRecord } from "../history/archive-record.ts";
import type { Draft, Entry, Revision } from "../store.ts";

const mark = "\u0002";

export function markerKey(key: string): string {
  return key + mark;
}

export function isMarker(key: string): boolean {
  return key.endsWith(mark);
}

/** Returns the key that a key of the derived store is about: of a marker the hidden one. */
export function shownKey(key: string): string {
  return isMarker(key) ? key.slice(0, -mark.length) : key;
}

/** @param value undefined if it is too large to be copied. */
export function markerDraft(hidden: Entry, value: Entry | undefined): Draft {
  return encodeArchiveRecord({ deleted: false, previous: hidden.revision, value, origin: undefined });
}

/** Returns the value that a marker hides; undefined if it has no copy. */
export function hiddenValue(marker: Entry): Entry | undefined {
  return decodeArchiveRecord(marker, { key: shownKey(marker.key) }).value;
}

/** Returns the revision of the value that a marker hides. */
export function hiddenRevision(marker: Entry): Revision | 0 {
  return decodeArchiveRecord(marker, { key: shownKey(marker.key) }).previous;
}
