import { itemAt } from "../../resources/pages/joined-bodies.ts";
import type { Entry } from "../../storage/store.ts";

/** Stored bytes of what is written at a time: some tenths of a millisecond of work in the slowest form. */
const slowChunkBytes = 8 * 1024;
/** The same where nothing is decoded. */
export const fastChunkBytes = 64 * 1024;

/**
 * The entries of a page, some at a time, for forms in which each object has to be written anew: between two portions
 * others may have their turn.
 */
export function* portions(
  entries: readonly Entry[],
  chunkBytes = slowChunkBytes,
): Generator<readonly Entry[]> {
  let from = 0;
  let bytes = 0;
  for (const [index, entry] of entries.entries()) {
    const { start, end } = itemAt(entry);
    bytes += end - start;
    if (bytes < chunkBytes) continue;
    yield entries.slice(from, index + 1);
    from = index + 1;
    bytes = 0;
  }
  if (from < entries.length) yield entries.slice(from);
}
