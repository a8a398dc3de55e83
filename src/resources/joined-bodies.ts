import type { Entry } from "../storage/store.ts";
import { asBuffer } from "./stored.ts";

const comma = 0x2c;

/** Copies the bodies of entries into one piece, each after a comma. */
export function joinBodies(entries: readonly Entry[]): Buffer {
  let size = entries.length;
  for (const { body } of entries) size += body.length;
  const joined = Buffer.allocUnsafeSlow(size);
  let at = 0;
  for (const { body } of entries) {
    joined[at] = comma;
    joined.set(body, at + 1);
    at += body.length + 1;
  }
  return joined;
}

/**
 * The same entries, with their bodies as parts of the piece into which they were joined, and their headers as parts of
 * another, so that the memory in which the store handed them out isn't held.
 */
export function entriesIn(joined: Buffer, entries: readonly Entry[]): Entry[] {
  const headers = Buffer.allocUnsafeSlow(headerBytes(entries));
  let at = 0;
  let headerAt = 0;
  return entries.map((entry) => {
    const start = at + 1;
    at = start + entry.body.length;
    const headerStart = headerAt;
    headerAt += entry.header.length;
    headers.set(entry.header, headerStart);
    return { ...entry, header: headers.subarray(headerStart, headerAt), body: joined.subarray(start, at) };
  });
}

/** How many bytes the headers of entries have together. */
export function headerBytes(entries: readonly Entry[]): number {
  let size = 0;
  for (const { header } of entries) size += header.length;
  return size;
}

/** The stretch of a piece that some neighbouring entries of it take up, from the comma before the first. */
export function stretchOf(entries: readonly Entry[], joined: Buffer): Buffer {
  const first = entries[0];
  const last = entries.at(-1);
  if (first === undefined || last === undefined) return joined.subarray(0, 0);
  const start = asBuffer(first.body).byteOffset - joined.byteOffset - 1;
  const end = asBuffer(last.body).byteOffset - joined.byteOffset + last.body.length;
  return joined.subarray(start, end);
}
