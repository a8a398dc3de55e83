import { itemAt } from "../../resources/pages/joined-bodies.ts";
import type { Entry } from "../../storage/store.ts";

/** Stored bytes per chunk: some tenths of a millisecond in the slowest encoding. */
const slowChunkBytes = 8 * 1024;

/** As above, for encodings that don't decode objects. */
export const fastChunkBytes = 64 * 1024;

/** Splits the entries of a page, for encodings that decode each object; other requests can run between two chunks. */
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
