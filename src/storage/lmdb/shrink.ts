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

/** Where the smaller file is made. What a process that was ended left there is of no use. */
const workFolder = "shrinking";

/** Each database, and a key that lies before all of its own. */
const databases = {
  marks: 0,
  counts: "/",
  history: ["/", 0],
  log: 0,
  data: "/",
  meta: "a",
} as const satisfies Partial<Record<keyof Environment, unknown>>;

/** How many values one transaction of the new file takes, so that its memory stays bounded. */
const putsAtOnce = 5000;

/** The sizes of a store's file, in bytes. */
export interface ShrinkResult {
  readonly before: number;
  readonly after: number;
}

/**
 * Drops history and gives the room that isn't in use back to the disk: writes everything to a new file, in the order of the keys, and
 * puts that in the place of the old one, which is whole until then. The disk needs room for both. Holds the event loop up.
 *
 * @param historyBefore history older than this is dropped, in milliseconds since 1970.
 * @throws {StoreTimeoutError} somebody else has the store open.
 * @throws {StoreError} the folder can't be used, there is no room, or what was written isn't sound; then the old file stays.
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
      // The right to write is held to the end: who opens the old file meanwhile waits for it, and then finds another file.
      return old.root.transactionSync(() => {
        copyAll(old, fresh);
        // Whoever opened it before is told by an entry: they don't look at which file it is again.
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

/** Each process that reads has an entry in the lock file; those of processes that ended are dropped first. */
function refuseOthers(environment: Environment): void {
  const { dir, root } = environment;
  root.readerCheck();
  // A line for each, below a heading: process, thread, transaction.
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
  // It describes the old file.
  rmSync(join(old.dir, lockFile), { force: true });
  return sizes;
}

/** Copies a database in the order of its keys, so that its pages are full. */
function copy(old: Environment, fresh: Environment, name: keyof typeof databases): void {
  const from = old[name] as Database<RawEntry | Buffer, Key>;
  const to = fresh[name] as Database<Buffer, Key>;
  // A new file has its state already.
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
