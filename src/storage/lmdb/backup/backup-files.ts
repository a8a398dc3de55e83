import { createHash } from "node:crypto";
import { open, readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { makeFolder } from "../../../base/files/folders.ts";

/** A folder of small files that a backup contains beside the store. */
export interface BackupFolder {
  /** The folder's name in the backup. */
  readonly name: string;
  /** Its path outside the backup. */
  readonly dir: string;
}

/** SHA-256 checksums of the files in these folders, by folder and file name: `pki/ca.key`. */
export type BackupChecksums = Readonly<Record<string, string>>;

/** Copies the files of folders into a backup. Missing folders and unfinished files (`.new`) are skipped. */
export async function copyFolders(
  folders: readonly BackupFolder[],
  backupDir: string,
): Promise<BackupChecksums> {
  const files: Record<string, string> = {};
  for (const { name, dir } of folders) {
    const copies: Copy[] = [];
    for (const file of await filesIn(dir)) {
      const content = await readFile(join(dir, file));
      files[`${name}/${file}`] = checksumOf(content);
      copies.push({ file, content });
    }
    if (copies.length > 0) await writeAll(join(backupDir, name), copies, []);
  }
  return files;
}

/** A file and its content. */
interface Copy {
  readonly file: string;
  readonly content: Buffer;
}

/** Files of a backup, by destination folder. */
export type BackupContents = ReadonlyMap<string, readonly Copy[]>;

/**
 * Reads and verifies the files that a backup contains for folders.
 *
 * @throws {Error} a file is missing or its checksum differs.
 */
export async function readFolders(
  folders: readonly BackupFolder[],
  backupDir: string,
  files: BackupChecksums,
): Promise<BackupContents> {
  const read = new Map<string, Copy[]>();
  for (const { name, dir } of folders) {
    const copies: Copy[] = [];
    for (const [place, checksum] of Object.entries(files)) {
      const file = basename(place);
      if (place !== `${name}/${file}`) continue;
      const content = await readFile(join(backupDir, name, file));
      if (checksumOf(content) !== checksum)
        throw new Error(`${place} is not what was backed up (checksum differs)`);
      copies.push({ file, content });
    }
    read.set(dir, copies);
  }
  return read;
}

/**
 * Writes the files that {@link readFolders} returned.
 *
 * @param written receives the path of each file before it is written, so that the caller can remove it after a failure.
 */
export async function writeFolders(read: BackupContents, written: string[]): Promise<void> {
  for (const [dir, copies] of read) if (copies.length > 0) await writeAll(dir, copies, written);
}

/** Names of the files in a folder, without subfolders. */
async function filesIn(dir: string): Promise<string[]> {
  try {
    const content = await readdir(dir, { withFileTypes: true });
    return content.filter((one) => one.isFile() && !one.name.endsWith(".new")).map(({ name }) => name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

/** Creates files with mode 0600 and syncs them to disk. */
async function writeAll(dir: string, copies: readonly Copy[], written: string[]): Promise<void> {
  makeFolder(dir);
  for (const { file, content } of copies) {
    const path = join(dir, file);
    const handle = await open(path, "wx", 0o600);
    written.push(path);
    try {
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
  }
}

function checksumOf(content: Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}
