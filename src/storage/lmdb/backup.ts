import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { copyFile, mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { makeFolder, syncFile } from "../../base/folders.ts";
import type { Stamp } from "../stamp.ts";
import { type Revision, StoreDamagedError } from "../store.ts";
import { checkEnvironment } from "./check.ts";
import {
  type BackupFolder,
  type BackupChecksums,
  copyFolders,
  readFolders,
  type BackupContents,
  writeFolders,
} from "./backup-files.ts";
import type { Environment } from "./databases.ts";
import { dataFile, lockFile } from "./files.ts";
import { acquireEnvironment, defaultMapBytes, releaseEnvironment } from "./environment.ts";
import { damagedError } from "./errors.ts";
import { formatVersion, readableFormats } from "./layout.ts";
import type { LmdbStore } from "./lmdb-store.ts";
import { noProgress, type Progress, whileGrowing } from "./progress.ts";
import { stateIn } from "./stored-state.ts";
import { stampIn } from "./stamp.ts";
import { closeCopiedSyncPoint } from "./syncs/sync-recovery.ts";

const manifestFile = "backup.json";

/** Manifest of a backup. It is written last, so a backup without it is incomplete. */
interface Manifest {
  readonly format: number;
  readonly revision: Revision;
  readonly bytes: number;
  readonly sha256: string;
  /** The store's stamp, if it has one. */
  readonly stamp?: Stamp | undefined;
  /** Checksums of the files beside the store; absent in backups of earlier versions. */
  readonly files?: BackupChecksums;
}

/** Options of a backup or restore. */
export interface BackupOptions {
  readonly folders?: readonly BackupFolder[];
  readonly progress?: Progress;
}

/** Result of a backup or restore. */
export interface BackupResult {
  /** Revision of the copy: it contains every write up to it and none after. */
  readonly revision: Revision;
  /** The store's stamp; undefined if it has none. */
  readonly stamp: Stamp | undefined;
  /** The files beside the store, by folder and name. */
  readonly files: readonly string[];
}

/**
 * Copies a store to a folder while it is in use, by this process or others. Writes are not blocked. The copy is consistent at one
 * revision.
 *
 * @param source an open store, or its folder.
 * @param targetDir must be empty or not exist.
 * @param options.folders folders whose files are copied too.
 * @throws {StoreDamagedError} if a folder can't be used, or the copy is damaged.
 */
export async function backupLmdb(
  source: LmdbStore | string,
  targetDir: string,
  { folders = [], progress = noProgress }: BackupOptions = {},
): Promise<BackupResult> {
  const dir = typeof source === "string" ? source : source.dir;
  await requireStore(dir);
  const target = await emptyFolder(targetDir);
  const environment = acquireEnvironment(dir, defaultMapBytes);
  try {
    // Without compaction: compacting copies are not reliable in this version of LMDB.
    const growing = { path: join(target, dataFile), bytes: (await stat(join(dir, dataFile))).size };
    await whileGrowing(growing, "copying", progress, () => environment.root.backup(target, false));
  } catch (error) {
    throw damagedError(target, error);
  } finally {
    await releaseEnvironment(environment);
  }
  await endDeferral(target);
  const file = join(target, dataFile);
  // Hash the file before it is opened, because opening may change it.
  const sha256 = await hashOf(file, progress);
  const { size: bytes } = await stat(file);
  const { revision, stamp } = await verify(target, "the backup", progress);
  const files = await copyFolders(folders, target);
  const manifest: Manifest = { format: formatVersion, revision, bytes, sha256, stamp, files };
  await syncFile(file);
  await writeFile(join(target, manifestFile), `${JSON.stringify(manifest)}\n`, { mode: 0o600 });
  await syncFile(join(target, manifestFile));
  return { revision, stamp, files: Object.keys(files) };
}

/**
 * Creates a data folder from a backup. The target is created atomically.
 *
 * @param targetDir must be empty or not exist.
 * @param options.folders destinations of the backup's files beside the store; they must be empty or not exist.
 * @throws {StoreDamagedError} if the backup is incomplete or damaged, or a target isn't empty.
 */
export async function restoreLmdb(
  backupDir: string,
  targetDir: string,
  { folders = [], progress = noProgress }: BackupOptions = {},
): Promise<BackupResult> {
  const manifest = await readManifest(backupDir);
  const beside = await besideStore(folders, backupDir, manifest);
  for (const { dir } of folders) await requireEmpty(dir);
  const target = await emptyFolder(targetDir);
  const part = join(target, "restoring");
  const written: string[] = [];
  try {
    await mkdir(part);
    const copy = join(part, dataFile);
    const growing = { path: copy, bytes: manifest.bytes };
    await whileGrowing(growing, "copying", progress, () => copyFile(join(backupDir, dataFile), copy));
    if ((await hashOf(copy, progress)) !== manifest.sha256) {
      throw damagedError(backupDir, new Error(`${dataFile} is not what was backed up (checksum differs)`));
    }
    const { revision, stamp } = await verify(part, `the backup ${backupDir}`, progress);
    if (revision !== manifest.revision) {
      throw damagedError(backupDir, new Error(`its revision is ${revision}, not ${manifest.revision}`));
    }
    await syncFile(copy);
    // Before the store: a server that starts too early would otherwise create new ones.
    await writeFolders(beside, written);
    await rename(copy, join(target, dataFile));
    await rm(part, { recursive: true });
    await syncFile(target);
    return { revision, stamp, files: Object.keys(manifest.files ?? {}) };
  } catch (error) {
    for (const file of [part, ...written]) await rm(file, { recursive: true, force: true });
    throw error instanceof StoreDamagedError ? error : damagedError(target, error);
  }
}

/** Reads the backup's files beside the store. */
async function besideStore(
  folders: readonly BackupFolder[],
  backupDir: string,
  { files = {} }: Manifest,
): Promise<BackupContents> {
  try {
    return await readFolders(folders, backupDir, files);
  } catch (error) {
    throw incompleteError(backupDir, error);
  }
}

/** Gives a copy the form of a store that was closed. */
async function endDeferral(dir: string): Promise<void> {
  if (!closeCopiedSyncPoint(dir)) return;
  const environment = acquireEnvironment(dir, defaultMapBytes);
  try {
    await environment.syncs.end();
  } finally {
    await releaseEnvironment(environment);
    await rm(join(dir, lockFile), { force: true });
  }
}

/** Opens a copy, checks it completely and returns its description. */
async function verify(
  dir: string,
  what: string,
  progress: Progress,
): Promise<Pick<BackupResult, "revision" | "stamp">> {
  const environment: Environment = acquireEnvironment(dir, defaultMapBytes);
  try {
    const problems = await checkEnvironment(environment, progress);
    if (problems.length > 0) {
      throw damagedError(dir, new Error(`${what} isn't sound: ${problems.slice(0, 3).join("; ")}`));
    }
    const { revision } = stateIn(environment.meta.getBinary("state"));
    return { revision, stamp: stampIn(environment) };
  } finally {
    await releaseEnvironment(environment);
    await rm(join(dir, lockFile), { force: true });
  }
}

/**
 * Asserts that a folder has a store, because opening an empty folder would create one.
 *
 * @throws {StoreDamagedError} if it has none, or doesn't exist.
 */
export async function requireStore(dir: string): Promise<void> {
  try {
    await stat(join(dir, dataFile));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw damagedError(dir, code === "ENOENT" ? new Error("there is no store in it") : error);
  }
}

async function emptyFolder(dir: string): Promise<string> {
  const path = resolve(dir);
  try {
    makeFolder(path);
  } catch (error) {
    throw damagedError(path, error);
  }
  await requireEmpty(path);
  return path;
}

/** @throws {StoreDamagedError} if the folder exists and isn't empty. */
async function requireEmpty(dir: string): Promise<void> {
  let content: string[];
  try {
    content = await readdir(dir);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
    throw damagedError(dir, error);
  }
  if (content.length > 0)
    throw new StoreDamagedError(`the folder ${resolve(dir)} is not empty: choose an empty or a new one`);
}

async function readManifest(dir: string): Promise<Manifest> {
  try {
    const manifest = JSON.parse(await readFile(join(dir, manifestFile), "utf8")) as Manifest;
    if (!readableFormats.includes(manifest.format))
      throw new Error(`its format version is ${manifest.format}`);
    const { size } = await stat(join(dir, dataFile));
    if (size !== manifest.bytes)
      throw new Error(`${dataFile} is cut off at ${size} of ${manifest.bytes} bytes`);
    return manifest;
  } catch (error) {
    throw incompleteError(dir, error);
  }
}

function incompleteError(dir: string, cause: unknown): StoreDamagedError {
  const message = cause instanceof Error ? cause.message : String(cause);
  return new StoreDamagedError(`${dir} is not a complete backup: ${message}; use another backup`, { cause });
}

async function hashOf(file: string, progress: Progress): Promise<string> {
  const hash = createHash("sha256");
  const { size } = await stat(file);
  let read = 0;
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    progress("computing the checksum", (read += chunk.length) / size);
  }
  return hash.digest("hex");
}
