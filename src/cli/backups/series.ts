import { readdir, rename, rm, stat } from "node:fs/promises";
import path from "node:path";
import { manifestFile, readManifest } from "../../storage/lmdb/backup/manifest.ts";
import { timeText } from "../../storage/lmdb/backup/restore-point.ts";
import { type Revision, StoreDamagedError } from "../../storage/store.ts";

/** Folder of a backup that is being deleted. Its name is hidden, so that it isn't taken for a backup. */
const deletedFolder = ".deleted";

/** A complete backup of a series. Times are in milliseconds since 1970. */
export interface StoredBackup {
  readonly dir: string;
  readonly timeMs: number;
  /** Time from which on it has every state. */
  readonly historySinceMs: number;
  readonly revision: Revision;
  readonly bytes: number;
}

/** Returns the name of a backup in its series, in the order of time: `2026-11-28T10-15-00Z`. */
export function backupName(timeMs: number): string {
  return timeText(timeMs)
    .replace(/\.\d+Z$/, "Z")
    .replaceAll(":", "-");
}

/**
 * Returns the complete backups in the folder of a series, oldest first. Everything else in it is ignored, also damaged backups. Empty if
 * the folder doesn't exist.
 */
export async function backupsIn(dir: string): Promise<StoredBackup[]> {
  const backups: StoredBackup[] = [];
  for (const name of await foldersIn(dir)) {
    const one = await readBackup(path.join(dir, name));
    if (one !== undefined) backups.push(one);
  }
  return backups.toSorted((one, other) => one.timeMs - other.timeMs);
}

/** Returns the newest complete backup of a series, by the names of the folders. */
export async function newestBackupIn(dir: string): Promise<StoredBackup | undefined> {
  for (const name of (await foldersIn(dir)).toSorted().toReversed()) {
    const one = await readBackup(path.join(dir, name));
    if (one !== undefined) return one;
  }
  return undefined;
}

/** Returns undefined for an incomplete backup, and for one of an earlier version, whose time isn't known. */
async function readBackup(dir: string): Promise<StoredBackup | undefined> {
  try {
    const { timeMs, historySinceMs = timeMs, revision, bytes } = await readManifest(dir);
    if (timeMs === undefined || historySinceMs === undefined) return undefined;
    return { dir, timeMs, historySinceMs, revision, bytes };
  } catch (error) {
    if (error instanceof StoreDamagedError) return undefined;
    throw error;
  }
}

/** Names of the folders in a folder, without hidden ones. */
async function foldersIn(dir: string): Promise<string[]> {
  try {
    const content = await readdir(dir, { withFileTypes: true });
    return content.filter((one) => one.isDirectory() && !one.name.startsWith(".")).map(({ name }) => name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

/**
 * Returns the folder of the backup to restore from: the folder itself if it is a backup; of a series the newest one, or the oldest one that
 * has the state of a time.
 *
 * @param timeMs in milliseconds since 1970.
 * @throws {StoreDamagedError} if there is none; the message has the times of the series.
 */
export async function backupFor(dir: string, timeMs: number | undefined): Promise<string> {
  if (await exists(path.join(dir, manifestFile))) return dir;
  const backups = await backupsIn(dir);
  const newest = backups.at(-1);
  // The command that reads the folder explains why it isn't a backup.
  if (newest === undefined) return dir;
  if (timeMs === undefined) return newest.dir;
  const match = backups.find((one) => one.historySinceMs <= timeMs && timeMs <= one.timeMs);
  if (match !== undefined) return match.dir;
  const ranges = backups.map((one) => `${timeText(one.historySinceMs)} to ${timeText(one.timeMs)}`);
  throw new StoreDamagedError(
    `no backup in ${dir} has the state of ${timeText(timeMs)}; they have: ${ranges.slice(-10).join(", ")}`,
  );
}

async function exists(file: string): Promise<boolean> {
  try {
    await stat(file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}

/**
 * Deletes the backups that were made before a time, except the newest of all.
 *
 * @returns the deleted folders.
 */
export async function deleteBackupsBefore(dir: string, timeMs: number): Promise<string[]> {
  const backups = await backupsIn(dir);
  const old = backups.slice(0, -1).filter((one) => one.timeMs < timeMs);
  const deleted = path.join(dir, deletedFolder);
  // What a process that ended left there.
  await rm(deleted, { recursive: true, force: true });
  for (const { dir: one } of old) {
    // In one step, so that a backup that is half deleted isn't taken for a complete one.
    await rename(one, deleted);
    await rm(deleted, { recursive: true, force: true });
  }
  return old.map((one) => one.dir);
}
