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
import { makeFolder } from "../../base/folders.ts";
import { firstRevision } from "../entry.ts";
import type { RequestedStamp } from "../stamp.ts";
import { StoreDamagedError, StoreError } from "../store.ts";
import { historyKeys, numberKeys, RecordCodec, textKeys } from "./codecs.ts";
import type { Environment } from "./databases.ts";
import { dataFile, lmdbMagic, lockFile } from "./files.ts";
import { pageDamage } from "./check.ts";
import { damagedError, lockedError, replacedError } from "./errors.ts";
import { encodeState, formatVersion, isStateSound, readableFormats } from "./layout.ts";
import { metaDamage } from "./meta-pages.ts";
import { pageBytesOf } from "./room.ts";
import { claimStamp, missingStamp } from "./stamp.ts";
import { WriterLock } from "./writer-lock.ts";

/** Address space, not disk: the file grows as it fills. */
export const defaultMapBytes = 256 * 2 ** 30;

/**
 * The page size of new files. Of objects of one to two kilobytes a page of 4 KB holds only one or two, and half of it stays
 * empty; with larger pages than this each write would cost the disk more.
 */
const newPageBytes = 8192;

interface Shared {
  readonly environment: Environment;
  users: number;
}

/**
 * A folder may be opened once only by a process: its file locks belong to the process, and two writers in one thread
 * would wait for each other. So stores over the same folder share the environment here, and nothing else.
 */
const openFolders = new Map<string, Shared>();

/**
 * Opens a folder, making it when it doesn't exist.
 *
 * @throws {StoreDamagedError} the folder or what is in it can't be used.
 * @throws {StoreTimeoutError} a process that was stopped holds the right to write.
 * @throws {StoreStampError} the store is used for something else.
 */
export function acquireEnvironment(dir: string, mapBytes: number, stamp?: RequestedStamp): Environment {
  const path = prepareFolder(dir);
  const shared = openFolders.get(path);
  if (shared !== undefined) {
    const { environment } = shared;
    if (stamp !== undefined && missingStamp(environment, stamp) !== undefined)
      environment.root.transactionSync(() => claimStamp(environment, stamp));
    shared.users++;
    return environment;
  }
  refuseStoppedWriter(path);
  let environment: Environment;
  try {
    environment = openEnvironment(path, mapBytes, stamp);
  } catch (error) {
    throw error instanceof StoreError ? error : damagedError(path, error);
  }
  openFolders.set(path, { environment, users: 1 });
  return environment;
}

/** Whether something else in this process has the environment open too. */
export function isShared({ dir }: Environment): boolean {
  return (openFolders.get(dir)?.users ?? 0) > 1;
}

/** Gives an environment back; the last user closes it. */
export async function releaseEnvironment(environment: Environment): Promise<void> {
  const shared = openFolders.get(environment.dir);
  if (shared === undefined || --shared.users > 0) return;
  openFolders.delete(environment.dir);
  await environment.root.close();
  environment.lock.close();
}

/** How long a start waits for another process that was stopped while it writes. */
const stoppedMs = 2000;

/** Opening a folder is a write, which waits for the writes of other processes; so a stopped process is reported first. */
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

/** What is stored holds secrets: its files are their owner's alone, whatever folder they lie in. */
function keepPrivate(dir: string): void {
  for (const name of [dataFile, lockFile]) {
    const file = join(dir, name);
    if (!existsSync(file)) continue;
    const { uid, mode } = statSync(file);
    if ((mode & 0o077) !== 0 && uid === process.getuid?.()) chmodSync(file, 0o600);
  }
}

function openEnvironment(dir: string, mapBytes: number, stamp: RequestedStamp | undefined): Environment {
  refuseForeignFile(dir);
  const before = filesOf(dir);
  const textual = { keyEncoder: textKeys };
  const root = open<Buffer, string>({
    path: dir,
    noSubdir: false,
    // With overlapping syncs a write would be acknowledged before it is durable.
    overlappingSync: false,
    // The library's own batches create promises without handlers: a failed commit would end the process.
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
    refuseDamagedPages(dir, root);
    const records = new RecordCodec();
    const plain = { encoding: "binary" as const, compression: false };
    const numbered = { keyEncoder: numberKeys };
    const indexed = { keyEncoder: historyKeys };
    const values = { encoder: records, keyEncoder: textKeys };
    // In one transaction: in a new folder, each database would wait for a sync of its own.
    const lock = (openLock = new WriterLock(dir));
    const environment = root.transactionSync(() => {
      const asNew = isNew(root);
      const opened: Environment = {
        dir,
        root,
        lock,
        pageBytes: pageBytesOf(root),
        records,
        meta: root.openDB({ name: "meta", ...plain, ...textual }),
        data: root.openDB({ name: "data", ...values }),
        history: root.openDB({ name: "history", ...plain, ...indexed }),
        log: root.openDB({ name: "log", ...plain, ...numbered }),
        counts: root.openDB({ name: "counts", ...plain, ...textual }),
        marks: root.openDB({ name: "marks", ...plain, ...numbered }),
      };
      initialise(opened, asNew);
      if (stamp !== undefined) claimStamp(opened, stamp);
      return opened;
    });
    return environment;
  } catch (error) {
    openLock?.close();
    root
      .close()
      .catch((failure: unknown) => process.emitWarning(`closing ${dir} failed: ${String(failure)}`));
    throw error;
  }
}

/** Which files the store is in at present; undefined for what isn't there yet. */
function filesOf(dir: string): readonly (number | undefined)[] {
  return [dataFile, lockFile].map((name) => statSync(join(dir, name), { throwIfNoEntry: false })?.ino);
}

/**
 * Makes an entry for this process in the lock file, by which others see that the store is open, before anything is read or
 * written. Files that were replaced while they were opened may not belong together: what is read would be nonsense, and
 * what is written lost. Who replaces them holds the right to write, so that with it one sees either the old ones or the new.
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

/** How long it is waited for another process that is just making the file. */
const madeWithinMs = 1000;

/** The size of a data file; a file without content is looked at again, as another process may be about to fill it. */
function contentBytes(file: Stats, path: string): number {
  const sleep = new Int32Array(new SharedArrayBuffer(4));
  let { size } = file;
  for (let waitedMs = 0; size === 0 && waitedMs < madeWithinMs; waitedMs += 20) {
    Atomics.wait(sleep, 0, 0, 20);
    size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  }
  return size;
}

/** What LMDB would only report as a failed call, or not at all, is looked at first. */
function refuseForeignFile(dir: string): void {
  const file = statSync(join(dir, dataFile), { throwIfNoEntry: false });
  if (file === undefined) return;
  if (!file.isFile()) throw new Error(`${dataFile} is not a file`);
  const size = contentBytes(file, join(dir, dataFile));
  accessSync(join(dir, dataFile), constants.R_OK | constants.W_OK);
  // Nothing is ever stored without its first pages: an empty file is what is left of a store.
  if (size < 8192) throw new Error(`${dataFile} is cut off at ${size} bytes`);
  if (!hasMagic(join(dir, dataFile)))
    throw new Error(`${dataFile} was not written by this program (MDB_INVALID)`);
  const damage = metaDamage(join(dir, dataFile));
  if (damage !== undefined) throw new Error(`${dataFile} is CORRUPTED: ${damage}`);
}

/** Whether the file begins as LMDB's do: a page header, whose size differs between versions, and a magic number. */
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

/** A damaged page, or one that was cut off, would end the process by a signal as soon as it is read through memory. */
function refuseDamagedPages(dir: string, root: RootDatabase<Buffer, string>): void {
  const problem = pageDamage({ dir, root }, false);
  if (problem !== undefined) throw new Error(`${dataFile} is CORRUPTED: ${problem}`);
}

/** The databases of a store; all are made in one transaction. */
const databaseNames = ["meta", "data", "history", "log", "counts", "marks"] as const;

/**
 * Whether the file has no databases yet. Runs inside the transaction that opens them.
 *
 * @throws {Error} one is missing: a damaged name would be taken for a database that is to be made.
 */
function isNew(root: RootDatabase<Buffer, string>): boolean {
  // The library stores the names as C does, with a NUL behind them.
  const present = new Set(root.getKeys({ start: "a" }));
  const missing = databaseNames.filter((name) => !present.has(`${name}\0`));
  if (missing.length === 0 || present.size === 0) return missing.length > 0;
  throw new Error(`${dataFile} is CORRUPTED: it has no database ${missing.join(" and ")}`);
}

/** Runs inside the transaction that opens the databases. */
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
      `the data folder ${dir} has format version ${state[0]}, this program knows up to ${formatVersion}: ` +
        "use the program version that wrote it, or restore a backup into an empty folder",
    );
  } else if (!isStateSound(state)) {
    throw new Error(`${dataFile} is CORRUPTED: the state record is damaged`);
  }
}
