import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Database, Key } from "lmdb";
import { syncFile } from "../../base/files/folders.ts";
import { StoreError } from "../store.ts";
import { requireStore } from "./require-store.ts";
import { checkNow, pageDamage } from "./check.ts";
import type { RawEntry } from "./codecs.ts";
import { Compactor } from "./compactor.ts";
import type { Environment } from "./databases.ts";
import { dataFile } from "./files.ts";
import { acquireEnvironment, defaultMapBytes, releaseEnvironment } from "./environment.ts";
import { damagedError } from "./errors.ts";
import { recordOf } from "./layout.ts";
import { entriesIn } from "./disk-space.ts";
import { noProgress, type Progress } from "./progress.ts";
import { refuseOthers, type ReplacedSizes, replaceDataFile } from "./rewrite.ts";

/** Folder for the new file. Leftovers of a killed process are deleted. */
const workFolder = "shrinking";

/** Each database, with a key that sorts before all of its keys. */
const databases = {
  marks: 0,
  counts: "/",
  history: ["/", 0],
  log: 0,
  data: "/",
  meta: "a",
} as const satisfies Partial<Record<keyof Environment, unknown>>;

/** Maximum number of values per transaction on the new file; bounds memory. */
const putsAtOnce = 5000;

/**
 * Drops history and returns unused space to the disk: copies everything in key order to a new file, then replaces the old
 * file, which stays intact until then. The disk needs space for both. Blocks the event loop.
 *
 * @param historyBefore history older than this is dropped, in milliseconds since 1970.
 * @param progress is called synchronously for most steps.
 * @throws {StoreTimeoutError} the store is open elsewhere.
 * @throws {StoreError} the folder can't be used, the disk is full, or the new file fails its check; the old file stays.
 */
export async function shrinkLmdb(
  dir: string,
  historyBefore: number,
  progress: Progress = noProgress,
): Promise<ReplacedSizes> {
  await requireStore(dir);
  const old = acquireEnvironment(dir, defaultMapBytes);
  try {
    refuseOthers(old);
    await old.syncs.end();
    const damage = pageDamage(old, true, progress);
    if (damage !== undefined) throw new Error(`${dataFile} is CORRUPTED: ${damage}`);
    progress("dropping history", 0);
    await new Compactor(old).compact(historyBefore);
    return await withFreshFile(old, (fresh) => {
      // Keep the write lock to the end: a process that opens the old file meanwhile waits, then detects the replacement.
      return old.root.transactionSync(() => {
        copyAll(old, fresh, progress);
        // A process that opened it earlier doesn't check for replacement again; its lock file entry shows it.
        refuseOthers(old);
        return replaceDataFile(old, fresh.dir);
      });
    });
  } catch (error) {
    throw error instanceof StoreError ? error : damagedError(dir, error);
  } finally {
    await releaseEnvironment(old);
  }
}

async function withFreshFile<T>(old: Environment, work: (fresh: Environment) => T): Promise<T> {
  const dir = join(old.dir, workFolder);
  rmSync(dir, { recursive: true, force: true });
  try {
    const fresh = acquireEnvironment(dir, defaultMapBytes);
    try {
      return work(fresh);
    } finally {
      await releaseEnvironment(fresh);
    }
  } finally {
    rmSync(dir, { recursive: true, force: true });
    await syncFile(old.dir);
  }
}

function copyAll(old: Environment, fresh: Environment, progress: Progress): void {
  const names = Object.keys(databases) as (keyof typeof databases)[];
  const total = entriesIn(names.map((name) => old[name]));
  let copied = 0;
  for (const name of names) {
    for (const count of copy(old, fresh, name)) progress("copying entries", (copied += count) / total);
  }
  const damage = checkNow(fresh, progress);
  if (damage.length > 0) throw new Error(`the new file failed its check: ${damage.slice(0, 3).join("; ")}`);
}

/**
 * Copies a database in the order of its keys, so that its pages are full.
 *
 * @returns the number of entries of each transaction.
 */
function* copy(old: Environment, fresh: Environment, name: keyof typeof databases): Generator<number> {
  const from = old[name] as Database<RawEntry | Buffer, Key>;
  const to = fresh[name] as Database<Buffer, Key>;
  // Appending requires an empty database, but a new file already has its state in `meta`.
  const options = name === "meta" ? {} : { append: true };
  const entries = from.getRange({ start: databases[name] as Key })[Symbol.iterator]();
  for (let count = putsAtOnce; count === putsAtOnce;) {
    count = fresh.root.transactionSync(() => {
      for (let puts = 0; puts < putsAtOnce; puts++) {
        const { done, value: entry } = entries.next();
        if (done === true) return puts;
        const { key, value } = entry;
        const bytes = Buffer.isBuffer(value) ? value : recordOf(old.records.name(key as string, value));
        to.putSync(key, bytes, options);
      }
      return putsAtOnce;
    });
    yield count;
  }
}
