import { compareKeys, isTooLong, maxKeyBytes, prefixEnd } from "../keys.ts";
import { type Entry, type RangeOptions, type RangePage, type Revision, StoreDamagedError } from "../store.ts";
import type { Connection } from "./connection.ts";
import { entryOf } from "./rows.ts";
import type { Row } from "./session.ts";
import { portionBytes, type Statements } from "./statements.ts";

const pageKeys = 1000;
const zero = Buffer.from([0]);

/**
 * Reads a page in portions, each one statement.
 *
 * @param checked checks that the revision could be read, with the newest revision and the floor at the time of the read.
 */
export async function readPage(
  connection: Connection,
  statements: Statements,
  options: RangeOptions,
  checked: (at: Revision | undefined, latest: Revision, floor: Revision) => void,
): Promise<RangePage> {
  const { prefix, limit = Infinity, maxBytes = Infinity } = options;
  const end = Buffer.from(prefixEnd(prefix));
  let { at } = options;
  let start = startOf(prefix, options.after);
  const entries: Entry[] = [];
  for (let bytes = 0; ;) {
    const keys = Math.max(1, Math.min(pageKeys, limit - entries.length));
    const budget = Math.max(1, Math.min(portionBytes, maxBytes - bytes));
    const range = [start, end, keys, budget];
    const rows = await connection.read(
      at === undefined
        ? { ...statements.range, values: range }
        : { ...statements.rangeAt, values: [...range, at] },
    );
    const { latest, floor, matches, page } = portionOf(rows);
    checked(at, latest, floor);
    at ??= latest;
    for (const [index, entry] of page.entries()) {
      entries.push(entry);
      bytes += entry.body.length;
      if (bytes >= maxBytes) return { revision: at, entries, more: matches > index + 1 };
    }
    const more = matches > page.length;
    if (!more || entries.length >= limit) return { revision: at, entries, more };
    start = Buffer.concat([Buffer.from(entries.at(-1)!.key), zero]);
  }
}

/** Returns the first key of a page: the prefix, or the smallest key after `after`. */
function startOf(prefix: string, after: string | undefined): Buffer {
  if (after === undefined || compareKeys(after, prefix) < 0) return Buffer.from(prefix);
  // No stored key is longer, so a cut key selects the same ones, except that equal bytes must be included.
  const bytes = Buffer.from(after);
  return isTooLong(after) ? bytes.subarray(0, maxKeyBytes + 1) : Buffer.concat([bytes, zero]);
}

interface Portion {
  readonly latest: Revision;
  readonly floor: Revision;
  /** Number of keys of the portion if it had no limit of bytes; one more if there are keys after it. */
  readonly matches: number;
  readonly page: readonly Entry[];
}

function portionOf(rows: readonly Row[]): Portion {
  const [first] = rows;
  if (first === undefined) throw new StoreDamagedError("the table line of the store has no row");
  const [latest, floor] = first as unknown as [Revision, Revision];
  if (first[2] === null) return { latest, floor, matches: 0, page: [] };
  return { latest, floor, matches: first[7] as number, page: rows.map((row) => entryOf(row, 2)) };
}
