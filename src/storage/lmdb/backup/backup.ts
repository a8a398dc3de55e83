import { stat } from "node:fs/promises";
import { join } from "node:path";
import { syncFile } from "../../../base/files/folders.ts";
import { systemClock } from "../../../base/time/clock.ts";
import type { Stamp } from "../../stamp.ts";
import type { Revision } from "../../store.ts";
import { acquireEnvironment, defaultMapBytes, releaseEnvironment } from "../environment.ts";
import { damagedError } from "../errors.ts";
import { dataFile } from "../files.ts";
import { formatVersion } from "../layout.ts";
import type { LmdbStore } from "../lmdb-store.ts";
import { noProgress, type Progress, whileGrowing } from "../progress.ts";
import { requireStore } from "../require-store.ts";
import { closeCopiedSyncPoint } from "../syncs/sync-recovery.ts";
import { type BackupFolder, copyFolders } from "./backup-files.ts";
import { emptyFolder, hashOf, verifyCopy, withCopy } from "./copies.ts";
import { writeManifest } from "./manifest.ts";

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
  const timeMs = systemClock.now();
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
  // Gives the copy the form of a store that was closed.
  if (closeCopiedSyncPoint(target)) await withCopy(target, (copy) => copy.syncs.end());
  const file = join(target, dataFile);
  // Hash the file before it is opened, because opening may change it.
  const sha256 = await hashOf(file, progress);
  const { size: bytes } = await stat(file);
  const { revision, stamp, historySinceMs } = await verifyCopy(target, "the backup", progress);
  const files = await copyFolders(folders, target);
  await syncFile(file);
  await writeManifest(target, {
    format: formatVersion,
    revision,
    bytes,
    sha256,
    stamp,
    files,
    timeMs,
    historySinceMs,
  });
  return { revision, stamp, files: Object.keys(files) };
}
