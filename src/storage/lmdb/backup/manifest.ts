import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { syncFile } from "../../../base/files/folders.ts";
import type { Stamp } from "../../stamp.ts";
import { type Revision, StoreDamagedError } from "../../store.ts";
import { dataFile } from "../files.ts";
import { readableFormats } from "../layout.ts";
import type { BackupChecksums } from "./backup-files.ts";

export const manifestFile = "backup.json";

/** The latest time that a date can have, in milliseconds since 1970. */
const maxTimeMs = 8.64e15;

/** Manifest of a backup. It is written last, so a backup without it is incomplete. */
export interface Manifest {
  readonly format: number;
  /** The revision of the copy: it contains every write up to it and none after. */
  readonly revision: Revision;
  /** Size of the data file. */
  readonly bytes: number;
  readonly sha256: string;
  /** The store's stamp, if it has one. */
  readonly stamp?: Stamp | undefined;
  /** Checksums of the files beside the store; absent in backups of earlier versions. */
  readonly files?: BackupChecksums;
  /** When the copy began, in milliseconds since 1970; absent in backups of earlier versions. */
  readonly timeMs?: number;
  /** Time from which on the copy has every state, in milliseconds since 1970; absent in backups of earlier versions. */
  readonly historySinceMs?: number;
}

/** Writes the manifest of a backup whose other files are synced. */
export async function writeManifest(dir: string, manifest: Manifest): Promise<void> {
  await writeFile(join(dir, manifestFile), `${JSON.stringify(manifest)}\n`, { mode: 0o600 });
  await syncFile(join(dir, manifestFile));
}

/** @throws {StoreDamagedError} if the folder isn't a complete backup that this version can read. */
export async function readManifest(dir: string): Promise<Manifest> {
  try {
    const manifest = JSON.parse(await readFile(join(dir, manifestFile), "utf8")) as Manifest;
    if (!isManifest(manifest)) throw new Error(`${manifestFile} is malformed`);
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

function isManifest(value: unknown): value is Manifest {
  if (typeof value !== "object" || value === null) return false;
  const { revision, bytes, sha256, timeMs = 0, historySinceMs = 0 } = value as Partial<Manifest>;
  const times = [timeMs, historySinceMs].every((time) => Math.abs(time) <= maxTimeMs);
  return [revision, bytes].every(Number.isSafeInteger) && typeof sha256 === "string" && times;
}

export function incompleteError(dir: string, cause: unknown): StoreDamagedError {
  const message = cause instanceof Error ? cause.message : String(cause);
  return new StoreDamagedError(`${dir} is not a complete backup: ${message}; use another backup`, { cause });
}
