import { renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Database, Key } from "lmdb";
import { syncFile } from "../../base/folders.ts";
import { StoreError } from "../store.ts";
import { requireStore } from "./backup.ts";
import { checkNow, pageDamage } from "./check.ts";
import type { RawEntry } from "./codecs.ts";
import { Compactor } from "./compactor.ts";
import type { Environment } from "./databases.ts";
import { dataFile, lockFile } from "./files.ts";
import { acquireEnvironment, defaultMapBytes, isShared, releaseEnvironment } from "./environment.ts";
import { damagedError, usedError } from "./errors.ts";
import { recordOf } from "./layout.ts";

/** Folder for the new file. Leftovers of a killed process are removed. */
const workFolder = "shrinking";

/** Each database, with a key less than all of its keys. */
const databases = {
  marks: 0,
  counts: "/",
  history: ["/", 0],
  log: 0,
  data: "/",
  meta: "a",
} as const satisfies Partial<Record<keyof Environment, unknown>>;

/** Maximum number of values per transaction of the new file; it bounds the memory. */
const putsAtOnce = 5000;

/** Sizes of the data file in bytes. */
export interface ShrinkResult {
  readonly before: number;
  readonly after: number;
}

/**
 * Drops history and returns unused space to the disk: writes all data to a new file, in the order of the keys, and replaces the old
 * file atomically. The disk needs space for both. Blocks the event loop.
 *
 * @param historyBefore history older than this is dropped, in milliseconds since 1970.
 * @throws {StoreTimeoutError} if another process has the store open.
 * @throws {StoreError} if the folder can't be used, there is no space, or the new file is damaged; the old file is then unchanged.
 */
export async function shrinkLmdb(dir: string, historyBefore: number): Promise<ShrinkResult> {
  await requireStore(dir);
  const old = acquireEnvironment(dir, defaultMapBytes);
  try {
    refuseOthers(old);
    const damage = pageDamage(old, true);
    if (damage !== undefined) throw new Error(`${dataFile} is CORRUPTED: ${damage}`);
    await new Compactor(old).compact(historyBefore);
    return await withFreshFile(old, (fresh) => {
      // Keep the write lock to the end: a process that opens the old file meanwhile waits for it, and then detects the new file.
      return old.root.transactionSync(() => {
        copyAll(old, fresh);
        // Processes that opened the store before have an entry in the reader table; they don't check the file again.
        refuseOthers(old);
        return replace(old, fresh);
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

/** Throws if another process has an entry in the reader table. Removes entries of ended processes first. */
function refuseOthers(environment: Environment): void {
  const { dir, root } = environment;
  root.readerCheck();
  // A heading, then a line per entry: process, thread, transaction.
  const processes = root
    .readerList()
    .split("\n")
    .map((line) => Number.parseInt(line.trim(), 10))
    .filter((id) => !Number.isNaN(id));
  const other = processes.find((id) => id !== process.pid || isShared(environment));
  if (other !== undefined) throw usedError(dir, other);
}

function copyAll(old: Environment, fresh: Environment): void {
  for (const name of Object.keys(databases) as (keyof typeof databases)[]) copy(old, fresh, name);
  const damage = checkNow(fresh);
  if (damage.length > 0) throw new Error(`what was written isn't sound: ${damage.slice(0, 3).join("; ")}`);
}

function replace(old: Environment, fresh: Environment): ShrinkResult {
  const oldFile = join(old.dir, dataFile);
  const freshFile = join(fresh.dir, dataFile);
  const sizes = { before: statSync(oldFile).size, after: statSync(freshFile).size };
  renameSync(freshFile, oldFile);
  // The lock file belongs to the old file.
  rmSync(join(old.dir, lockFile), { force: true });
  return sizes;
}

/** Copies a database in the order of its keys, so that its pages are full. */
function copy(old: Environment, fresh: Environment, name: keyof typeof databases): void {
  const from = old[name] as Database<RawEntry | Buffer, Key>;
  const to = fresh[name] as Database<Buffer, Key>;
  // Appending requires an empty database, but a new file already has its state in `meta`.
  const options = name === "meta" ? {} : { append: true };
  const entries = from.getRange({ start: databases[name] as Key })[Symbol.iterator]();
  for (let more = true; more;) {
    more = fresh.root.transactionSync(() => {
      for (let count = 0; count < putsAtOnce; count++) {
        const { done, value: entry } = entries.next();
        if (done === true) return false;
        const { key, value } = entry;
        const bytes = Buffer.isBuffer(value) ? value : recordOf(old.records.name(key as string, value));
        to.putSync(key, bytes, options);
      }
      return true;
    });
  }
}
