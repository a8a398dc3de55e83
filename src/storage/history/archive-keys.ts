/**
 * The keys of kept history. A record of a key `/{group}/{resource}/{namespace}/{name}` has the key
 * `/~{group}/{resource}/{namespace}/{name}` U+0001 `{number}`: records of a collection are one too, in the order of its keys, and those of
 * a key newest first. Other data of the history is in the group `~`. No group of a kind contains `~`, and no key U+0001; the marks of derived stores sort above it.
 */
import { countersOf, prefixDepth } from "../keys.ts";
import type { Revision } from "../store.ts";

/** The start of all keys of the history, and no others. */
export const archiveStart = "/~";

/** A position after what the history stores beside the records, and before all records. */
export const firstRecord = "/~0";

const separator = "\u0001";
const digits = 14;
const largest = Number.MAX_SAFE_INTEGER;

/** Whether a key belongs to the history. */
export function isArchiveKey(key: string): boolean {
  return key.startsWith(archiveStart);
}

/** Returns a number as text that sorts before those of smaller numbers. */
export function descending(value: number): string {
  return (largest - value).toString(16).padStart(digits, "0");
}

/** The number of {@link descending}. */
function fromDescending(text: string): number {
  return largest - Number.parseInt(text, 16);
}

/**
 * Returns the key of a record.
 *
 * @param before revision of the version before, which the record supersedes; see `archive-record.ts`.
 */
export function recordKey(key: string, before: Revision | 0): string {
  return `${archiveStart}${key.slice(1)}${separator}${descending(before)}`;
}

/** Returns a position before all records of a key. */
export function startOf(key: string): string {
  return `${archiveStart}${key.slice(1)}${separator}`;
}

/** Returns a position after all records of a key, and before those of the next one. */
export function endOf(key: string): string {
  return `${startOf(key)}~`;
}

/** Returns the prefix of the records of keys under a prefix of at least two segments. */
export function archivePrefix(prefix: string): string {
  return `${archiveStart}${prefix.slice(1)}`;
}

/** Returns the key that a record is about, and the number in the record's key. */
export function subjectOf(recordKey: string): { readonly key: string; readonly before: Revision | 0 } {
  const end = recordKey.lastIndexOf(separator);
  return {
    key: `/${recordKey.slice(archiveStart.length, end)}`,
    before: fromDescending(recordKey.slice(end + 1)) as Revision | 0,
  };
}

/** Returns the prefix of the collection of a key or prefix; undefined for a prefix of several collections. */
export function collectionOf(prefix: string): string | undefined {
  if (prefix.endsWith("/") && prefixDepth(prefix) < 2) return undefined;
  return countersOf(prefix).collection;
}
