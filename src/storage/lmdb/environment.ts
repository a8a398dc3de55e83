import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  readSync,
  realpathSync,
  type Stats,
  statSync,
} from "node:fs";
import { join } from "node:path";
import { open, type RootDatabase } from "lmdb";
import { type Clock, systemClock } from "../../base/time/clock.ts";
import { makeFolder } from "../../base/files/folders.ts";
import { firstRevision } from "../entry.ts";
import type { RequestedStamp } from "../stamp.ts";
import { StoreDamagedError, StoreError } from "../store.ts";
import { historyKeys, numberKeys, RecordCodec, textKeys } from "./codecs.ts";
import type { Environment } from "./databases.ts";
import { dataFile, lmdbMagic, lockFile } from "./files.ts";
import { pageDamage } from "./check.ts";
import { noProgress } from "./progress.ts";
import { damagedError, lockedError, replacedError } from "./errors.ts";
import { encodeState, isStateSound, readableFormats } from "./layout.ts";
import { metaDamage } from "./meta-pages.ts";
import { pageBytesOf } from "./disk-space.ts";
import { DeferredSyncs } from "./syncs/deferred-syncs.ts";
import { soundStateIn } from "./stored-state.ts";
import { claimStamp, missingStamp } from "./stamp.ts";
import { finishRestore, needsRestore, restoreSyncPoint, skipLostRevisions } from "./syncs/sync-recovery.ts";
import { WriterLock } from "./writer-lock.ts";

/** Size of the address space, not of the file, which grows as needed. */
export const defaultMapBytes = 256 * 2 ** 30;

/**
 * Page size of new files. With 4 KB a page has only one or two objects of 1-2 KB, and half of it is unused; with larger pages each
 * write needs more disk bandwidth.
 */
const newPageBytes = 8192;

interface Shared {
  readonly environment: Environment;
  /** The inodes of the files that are open. */
  readonly files: readonly (number | undefined)[];
  users: number;
}

/**
 * A process may open a folder only once: file locks belong to the process, and two writers in one thread would wait for each
 * other. So stores of the same folder share this environment.
 */
const openFolders = new Map<string, Shared>();

/**
 * Opens a folder; creates it if it doesn't exist.
 *
 * @param clock measures how long commits block the event loop; that of the first store that opens the folder.
 * @throws {StoreDamagedError} if the folder or its files can't be used, or were replaced while this process has them open.
 * @throws {StoreTimeoutError} if a stopped process holds the write lock.
 * @throws {StoreStampError} if the store has another stamp.
 */
export function acquireEnvironment(
  dir: string,
  mapBytes: number,
  stamp?: RequestedStamp,
  clock: Clock = systemClock,
): Environment {
  const path = prepareFolder(dir);
  const shared = openFolders.get(path);
  if (shared !== undefined) {
    const { environment } = shared;
    // Its reads and writes would go to files that the folder no longer has.
    if (filesOf(path).some((file, index) => file !== shared.files[index]))
      throw damagedError(path, new Error("its files were replaced while this process has them open"));
    if (stamp !== undefined && missingStamp(environment, stamp) !== undefined)
      environment.root.transactionSync(() => claimMissingStamp(environment, stamp));
    shared.users++;
    return environment;
  }
  refuseStoppedWriter(path);
  let environment: Environment;
  try {
    environment = openEnvironment(path, mapBytes, stamp, clock);
  } catch (error) {
    throw error instanceof StoreError ? error : damagedError(path, error);
  }
  openFolders.set(path, { environment, files: filesOf(path), users: 1 });
  return environment;
}

/** Writes the stamp if the store has none. Call it in a write transaction. @throws as {@link claimStamp}. */
function claimMissingStamp(environment: Environment, stamp: RequestedStamp): void {
  if (missingStamp(environment, stamp) === undefined) return;
  environment.syncs.enterSynced(soundStateIn(environment.meta.getBinary("state")));
  claimStamp(environment, stamp);
}

/** Whether other stores of this process use the environment. */
export function isShared({ dir }: Environment): boolean {
  return (openFolders.get(dir)?.users ?? 0) > 1;
}

/** Releases an environment; the last user closes it. */
export async function releaseEnvironment(environment: Environment): Promise<void> {
  const shared = openFolders.get(environment.dir);
  if (shared === undefined || --shared.users > 0) return;
  openFolders.delete(environment.dir);
  await environment.root.close();
  environment.syncs.release();
  environment.lock.close();
}

/** Time that a start waits for the write lock of another process. */
const stoppedMs = 2000;

/** Checks for a stopped process first: opening a folder is a write, which would wait for its lock. */
function refuseStoppedWriter(dir: string): void {
  if (!existsSync(join(dir, lockFile))) return;
  const lock = new WriterLock(dir);
  const sleep = new Int32Array(new SharedArrayBuffer(4));
  try {
    const start = performance.now();
    for (let holder = lock.stoppedHolder(); holder !== undefined; holder = lock.stoppedHolder()) {
      const waitedMs = performance.now() - start;
      if (waitedMs > stoppedMs) throw lockedError(dir, holder, waitedMs);
      Atomics.wait(sleep, 0, 0, 50);
    }
  } finally {
    lock.close();
  }
}

function prepareFolder(dir: string): string {
  try {
    makeFolder(dir);
    const path = realpathSync(dir);
    if (!statSync(path).isDirectory()) throw new Error("it is not a folder");
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
    return path;
  } catch (error) {
    throw damagedError(dir, error);
  }
}

/** Restricts access to the files to their owner, because their content is secret. */
function keepPrivate(dir: string): void {
  for (const name of [dataFile, lockFile]) {
    const file = join(dir, name);
    if (!existsSync(file)) continue;
    const { uid, mode } = statSync(file);
    if ((mode & 0o077) !== 0 && uid === process.getuid?.()) chmodSync(file, 0o600);
  }
}

function openEnvironment(
  dir: string,
  mapBytes: number,
  stamp: RequestedStamp | undefined,
  clock: Clock,
): Environment {
  refuseForeignFile(dir);
  const restores = needsRestore(dir);
  if (!restores) refuseDamagedMeta(dir);
  const before = filesOf(dir);
  const textual = { keyEncoder: textKeys };
  const root = open<Buffer, string>({
    path: dir,
    noSubdir: false,
    // With overlapping syncs a write is acknowledged before it is durable.
    overlappingSync: false,
    // Batches of the library create promises without handlers: a failed commit would end the process.
    eventTurnBatching: false,
    mapSize: mapBytes,
    maxDbs: 8,
    pageSize: newPageBytes,
    maxReaders: 512,
    encoding: "binary",
    ...textual,
  });
  let openLock: WriterLock | undefined;
  try {
    keepPrivate(dir);
    root.readerCheck();
    enter(dir, root, before);
    if (restores) restoreSyncPoint(dir, root);
    refuseDamagedPages(dir, root, restores);
    const records = new RecordCodec();
    const plain = { encoding: "binary" as const, compression: false };
    const numbered = { keyEncoder: numberKeys };
    const indexed = { keyEncoder: historyKeys };
    const values = { encoder: records, keyEncoder: textKeys };
    // One transaction: in a new folder, each database would otherwise need its own sync.
    const lock = (openLock = new WriterLock(dir));
    const environment = root.transactionSync(() => {
      const asNew = isNew(root);
      const meta = root.openDB({ name: "meta", ...plain, ...textual });
      const pageBytes = pageBytesOf(root);
      const opened: Environment = {
        dir,
        root,
        lock,
        pageBytes,
        syncs: new DeferredSyncs({ dir, root, meta, lock, pageBytes, clock }),
        records,
        meta,
        data: root.openDB({ name: "data", ...values }),
        history: root.openDB({ name: "history", ...plain, ...indexed }),
        log: root.openDB({ name: "log", ...plain, ...numbered }),
        counts: root.openDB({ name: "counts", ...plain, ...textual }),
        marks: root.openDB({ name: "marks", ...plain, ...numbered }),
      };
      initialise(opened, asNew);
      if (restores) skipLostRevisions(opened);
      if (stamp !== undefined) claimMissingStamp(opened, stamp);
      return opened;
    });
    if (restores) finishRestore(dir, root);
    return environment;
  } catch (error) {
    openLock?.close();
    root
      .close()
      .catch((failure: unknown) => process.emitWarning(`closing ${dir} failed: ${String(failure)}`));
    throw error;
  }
}

/** Returns the inodes of the current files of the store; undefined for a missing file. */
function filesOf(dir: string): readonly (number | undefined)[] {
  return [dataFile, lockFile].map((name) => statSync(join(dir, name), { throwIfNoEntry: false })?.ino);
}

/**
 * Registers this process in the lock file, so that others see that the store is open, before the first read or write. Files that
 * were replaced while they were opened may not belong together: reads would be wrong and writes lost. The replacing process
 * holds the write lock, so a holder of the lock sees either the old or the new files.
 */
function enter(
  dir: string,
  root: RootDatabase<Buffer, string>,
  before: readonly (number | undefined)[],
): void {
  root.transactionSync(() => {
    const now = filesOf(dir);
    if (before.some((file, index) => file !== undefined && file !== now[index])) throw replacedError(dir);
    root.useReadTransaction().done();
  });
}

/** Time to wait for another process that is creating the file. */
const madeWithinMs = 1000;

/** Returns the size of a data file; waits for an empty file, which another process may be initializing. */
function contentBytes(file: Stats, path: string): number {
  const sleep = new Int32Array(new SharedArrayBuffer(4));
  let { size } = file;
  for (let waitedMs = 0; size === 0 && waitedMs < madeWithinMs; waitedMs += 20) {
    Atomics.wait(sleep, 0, 0, 20);
    size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  }
  return size;
}

/** Rejects an unusable data file before LMDB opens it: LMDB would report only a failed call, or nothing. */
function refuseForeignFile(dir: string): void {
  const file = statSync(join(dir, dataFile), { throwIfNoEntry: false });
  if (file === undefined) return;
  if (!file.isFile()) throw new Error(`${dataFile} is not a file`);
  const size = contentBytes(file, join(dir, dataFile));
  accessSync(join(dir, dataFile), constants.R_OK | constants.W_OK);
  // A store always has its first pages: an empty file is a damaged store.
  if (size < 8192) throw new Error(`${dataFile} is cut off at ${size} bytes`);
  if (!hasMagic(join(dir, dataFile)))
    throw new Error(`${dataFile} was not written by this program (MDB_INVALID)`);
}

function refuseDamagedMeta(dir: string): void {
  const path = join(dir, dataFile);
  const damage = existsSync(path) ? metaDamage(path) : undefined;
  if (damage !== undefined) throw new Error(`${dataFile} is CORRUPTED: ${damage}`);
}

/** Whether the file begins like an LMDB file: a page header, whose size depends on the version, and a magic number. */
function hasMagic(path: string): boolean {
  const start = Buffer.alloc(28);
  const file = openSync(path, "r");
  try {
    readSync(file, start, 0, start.length, 0);
  } finally {
    closeSync(file);
  }
  return [16, 24].some((at) => start.readUInt32LE(at) === lmdbMagic);
}

/** Checks the pages: reading a damaged or missing page through mapped memory would end the process by a signal. */
function refuseDamagedPages(dir: string, root: RootDatabase<Buffer, string>, isRestored: boolean): void {
  const problem = pageDamage({ dir, root }, false, noProgress, isRestored);
  if (problem !== undefined) throw new Error(`${dataFile} is CORRUPTED: ${problem}`);
}

/** The databases of a store, which are created in one transaction. */
const databaseNames = ["meta", "data", "history", "log", "counts", "marks"] as const;

/**
 * Whether the file has no databases yet. Must be called in the transaction that opens them.
 *
 * @throws {Error} if one is missing: a database with a damaged name would be created again.
 */
function isNew(root: RootDatabase<Buffer, string>): boolean {
  // lmdb-js stores the names with a trailing NUL.
  const present = new Set(root.getKeys({ start: "a" }));
  const missing = databaseNames.filter((name) => !present.has(`${name}\0`));
  if (missing.length === 0 || present.size === 0) return missing.length > 0;
  throw new Error(`${dataFile} is CORRUPTED: it has no database ${missing.join(" and ")}`);
}

/** Writes the state of a new store, or checks that of an existing one. Must be called in the transaction that opens the databases. */
function initialise({ dir, meta }: Environment, asNew: boolean): void {
  const state = meta.getBinary("state");
  if (state === undefined && asNew) {
    meta.putSync(
      "state",
      encodeState({ revision: firstRevision, floor: firstRevision, markTime: 0, batch: 0 }),
    );
  } else if (state === undefined || state.length === 0) {
    throw new Error(`${dataFile} is CORRUPTED: the state record is missing`);
  } else if (!readableFormats.includes(state[0]!)) {
    throw new StoreDamagedError(
      `the data folder ${dir} has format version ${state[0]}, this program knows up to ${Math.max(...readableFormats)}: ` +
        "use the program version that wrote it, or restore a backup into an empty folder",
    );
  } else if (!isStateSound(state)) {
    throw new Error(`${dataFile} is CORRUPTED: the state record is damaged`);
  }
}
