import { copyFile, mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { syncFile } from "../../../base/files/folders.ts";
import { type Revision, StoreDamagedError } from "../../store.ts";
import { damagedError } from "../errors.ts";
import { dataFile } from "../files.ts";
import { noProgress, type Progress, whileGrowing } from "../progress.ts";
import { type BackupFolder, type BackupContents, readFolders, writeFolders } from "./backup-files.ts";
import type { BackupOptions, BackupResult } from "./backup.ts";
import { emptyFolder, hashOf, requireEmpty, verifyCopy } from "./copies.ts";
import { incompleteError, type Manifest, readManifest } from "./manifest.ts";
import { goToPoint, type RestorePoint, skipUnsavedRevisions } from "./restore-point.ts";

/** Options of a restore. */
export interface RestoreOptions extends BackupOptions {
  /** Restores a past state from the history of the backup; by default the state of the backup. */
  readonly point?: RestorePoint | undefined;
  /**
   * Continues at the revision of the backup, with its history. Only if no client has seen a later revision: it would take a new write for
   * one that it knows. By default the store continues at a revision above all that the original can have assigned since, without history.
   */
  readonly keepsRevisions?: boolean | undefined;
}

/**
 * Creates a data folder from a backup. The target is created atomically.
 *
 * @param targetDir must be empty or not exist.
 * @param options.folders destinations of the backup's files beside the store; they must be empty or not exist.
 * @returns the revision of the restored state.
 * @throws {StoreDamagedError} if the backup is incomplete or damaged, lacks the state, or a target isn't empty.
 */
export async function restoreLmdb(
  backupDir: string,
  targetDir: string,
  { folders = [], progress = noProgress, ...options }: RestoreOptions = {},
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
    await requireHash(backupDir, copy, manifest, progress);
    const { stamp, lastWriteMs } = await verifyBackup(part, backupDir, manifest, progress);
    // A backup of an earlier version has no time of its own.
    const newestMs = Math.max(manifest.timeMs ?? 0, lastWriteMs);
    const revision = await prepareStore(part, manifest.revision, newestMs, options);
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

/** Gives a verified copy the requested state and revision; returns the revision of the state. */
async function prepareStore(
  dir: string,
  latest: Revision,
  newestMs: number,
  { point, keepsRevisions = false }: RestoreOptions,
): Promise<Revision> {
  const revision = point === undefined ? latest : await goToPoint(dir, point, newestMs);
  if (!keepsRevisions) await skipUnsavedRevisions(dir, newestMs);
  return revision;
}

/**
 * Checks a backup as a restore does, without writing anything.
 *
 * @returns its revision, and the names of its files beside the store.
 * @throws {StoreDamagedError} if it is incomplete or damaged.
 */
export async function checkBackup(
  backupDir: string,
  progress: Progress = noProgress,
): Promise<Omit<BackupResult, "stamp">> {
  const manifest = await readManifest(backupDir);
  const files = Object.keys(manifest.files ?? {});
  const folders = [...new Set(files.map((file) => file.slice(0, file.indexOf("/"))))];
  await besideStore(
    folders.map((name) => ({ name, dir: name })),
    backupDir,
    manifest,
  );
  await requireHash(backupDir, join(backupDir, dataFile), manifest, progress);
  await verifyBackup(backupDir, backupDir, manifest, progress);
  return { revision: manifest.revision, files };
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

async function requireHash(
  backupDir: string,
  file: string,
  { sha256 }: Manifest,
  progress: Progress,
): Promise<void> {
  if ((await hashOf(file, progress)) !== sha256)
    throw damagedError(backupDir, new Error(`${dataFile} is not what was backed up (checksum differs)`));
}

/** Checks the store of a backup, or of a copy of it. */
async function verifyBackup(dir: string, backupDir: string, { revision }: Manifest, progress: Progress) {
  const content = await verifyCopy(dir, `the backup ${backupDir}`, progress);
  if (content.revision !== revision)
    throw damagedError(backupDir, new Error(`its revision is ${content.revision}, not ${revision}`));
  return content;
}
