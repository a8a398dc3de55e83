import { createHash } from "node:crypto";
import { open, readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { makeFolder } from "../../base/folders.ts";

/** A folder with a few small files that a backup holds beside the store. */
export interface Companion {
  /** The folder's name in the backup. */
  readonly name: string;
  /** Where it is in use. */
  readonly dir: string;
}

/** Checksums (SHA-256) of a backup's files beside the store, by folder and name: `pki/ca.key`. */
export type CompanionFiles = Readonly<Record<string, string>>;

/** Copies the files of folders into a backup; a folder that doesn't exist has none. What is being written is left out. */
export async function copyCompanions(
  companions: readonly Companion[],
  backupDir: string,
): Promise<CompanionFiles> {
  const files: Record<string, string> = {};
  for (const { name, dir } of companions) {
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

/** A file that was read. */
interface Copy {
  readonly file: string;
  readonly content: Buffer;
}

/** Files of a backup that were read whole, by the folder that they are for. */
export type ReadCompanions = ReadonlyMap<string, readonly Copy[]>;

/**
 * Reads the files that a backup holds for folders.
 *
 * @throws {Error} one is missing, or isn't what was backed up.
 */
export async function readCompanions(
  companions: readonly Companion[],
  backupDir: string,
  files: CompanionFiles,
): Promise<ReadCompanions> {
  const read = new Map<string, Copy[]>();
  for (const { name, dir } of companions) {
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
 * Writes what {@link readCompanions} has read.
 *
 * @param written takes the path of each file that was begun, so that a failure can be undone.
 */
export async function writeCompanions(read: ReadCompanions, written: string[]): Promise<void> {
  for (const [dir, copies] of read) if (copies.length > 0) await writeAll(dir, copies, written);
}

/** Names of the files directly in a folder. */
async function filesIn(dir: string): Promise<string[]> {
  try {
    const content = await readdir(dir, { withFileTypes: true });
    return content.filter((one) => one.isFile() && !one.name.endsWith(".new")).map(({ name }) => name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

/** Writes new files, for their owner alone, to the disk. */
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
