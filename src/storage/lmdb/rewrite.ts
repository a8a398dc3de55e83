import { rmSync, statSync, renameSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../base/time/clock.ts";
import { makeFolder, syncFile } from "../../base/files/folders.ts";
import type { Stamp } from "../stamp.ts";
import { type Store, StoreUnavailableError } from "../store.ts";
import { requireStore } from "./require-store.ts";
import { checkEnvironment } from "./check.ts";
import type { Environment } from "./databases.ts";
import { acquireEnvironment, defaultMapBytes, releaseEnvironment, isShared } from "./environment.ts";
import { damagedError, usedError } from "./errors.ts";
import { dataFile, lockFile } from "./files.ts";
import { openLmdbStore } from "./lmdb-store.ts";
import { noProgress, type Progress, whileGrowing } from "./progress.ts";
import { stateIn } from "./stored-state.ts";
import { putStamp, stampIn } from "./stamp.ts";

/** Folder for the new file. Leftovers of a killed process are deleted. */
const workFolder = "rewriting";

/** A change of all values of a store. */
export interface Rewrite {
  /** The stamp of the store afterwards. */
  readonly stamp: Stamp;
  /**
   * Changes a copy of the store. Revisions continue those of the store.
   *
   * @returns whether the copy replaces the store.
   */
  change(copy: Store): Promise<boolean>;
  readonly progress?: Progress;
}

/**
 * Changes the values of a store and its stamp in one step: changes a copy, which then replaces the data file. Until then the store is
 * unchanged. History is dropped. The disk needs space for both.
 *
 * @throws {StoreTimeoutError} the store is open elsewhere.
 * @throws {StoreError} the folder can't be used, the disk is full, or the new file fails its check; the store is unchanged.
 * @throws what `change` throws; the store is unchanged.
 */
export async function rewriteLmdb(
  dir: string,
  { stamp, change, progress = noProgress }: Rewrite,
): Promise<void> {
  await requireStore(dir);
  const old = acquireEnvironment(dir, defaultMapBytes);
  const work = join(old.dir, workFolder);
  try {
    refuseOthers(old);
    await old.syncs.end();
    rmSync(work, { recursive: true, force: true });
    makeFolder(work);
    const revision = revisionIn(old);
    const growing = { path: join(work, dataFile), bytes: statSync(join(old.dir, dataFile)).size };
    await whileGrowing(growing, "copying", progress, () => copyTo(old, work));
    if (!(await changeCopy(work, change))) return;
    await finish(work, stamp, progress);
    old.root.transactionSync(() => {
      refuseOthers(old);
      if (revisionIn(old) !== revision)
        throw new StoreUnavailableError(`${dir} was written to meanwhile; try again`);
      replaceDataFile(old, work);
    });
  } finally {
    await releaseEnvironment(old);
    rmSync(work, { recursive: true, force: true });
    await syncFile(old.dir);
  }
}

/**
 * Returns the stamp of a store that isn't open; undefined if it has none.
 *
 * @throws {StoreError} it can't be opened.
 */
export async function stampOfStore(dir: string): Promise<Stamp | undefined> {
  await requireStore(dir);
  const environment = acquireEnvironment(dir, defaultMapBytes);
  try {
    return stampIn(environment);
  } finally {
    await releaseEnvironment(environment);
  }
}

function revisionIn({ meta }: Environment): number {
  meta.resetReadTxn();
  return stateIn(meta.getBinary("state")).revision;
}

async function copyTo(old: Environment, work: string): Promise<void> {
  try {
    await old.root.backup(work, false);
  } catch (error) {
    throw damagedError(work, error);
  }
}

async function changeCopy(work: string, change: Rewrite["change"]): Promise<boolean> {
  const copy = openLmdbStore({ dir: work, clock: systemClock, retentionMs: Infinity });
  try {
    const isAccepted = await change(copy);
    // Past values have the old form.
    if (isAccepted) await copy.compact(Number.MAX_SAFE_INTEGER);
    return isAccepted;
  } finally {
    await copy.close();
  }
}

async function finish(work: string, stamp: Stamp, progress: Progress): Promise<void> {
  const fresh = acquireEnvironment(work, defaultMapBytes);
  try {
    await fresh.root.transaction(() => putStamp(fresh, stamp));
    const damage = await checkEnvironment(fresh, progress);
    if (damage.length > 0)
      throw damagedError(work, new Error(`the new file failed its check: ${damage.slice(0, 3).join("; ")}`));
  } finally {
    await releaseEnvironment(fresh);
  }
  await syncFile(join(work, dataFile));
}

/** Sizes of the data file in bytes. */
export interface ReplacedSizes {
  readonly before: number;
  readonly after: number;
}

/**
 * Throws if the store is open elsewhere. Each reader has an entry in the lock file; stale entries are removed first.
 *
 * @throws {StoreTimeoutError}
 */
export function refuseOthers(environment: Environment): void {
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

/**
 * Replaces the data file of a store by the one of another folder. Call it in a write transaction of the store, so that a process that
 * opens the old file meanwhile waits, then detects the replacement.
 */
export function replaceDataFile(old: Environment, freshDir: string): ReplacedSizes {
  const oldFile = join(old.dir, dataFile);
  const freshFile = join(freshDir, dataFile);
  const sizes = { before: statSync(oldFile).size, after: statSync(freshFile).size };
  renameSync(freshFile, oldFile);
  // The lock file belongs to the old file.
  rmSync(join(old.dir, lockFile), { force: true });
  return sizes;
}
