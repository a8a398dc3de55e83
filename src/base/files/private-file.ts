import { renameSync, rmSync, writeFileSync, type Stats } from "node:fs";
import { open, stat } from "node:fs/promises";
import path from "node:path";

/**
 * Writes a small file that only its owner may read (mode 0600), atomically; an existing file is replaced. Synchronous: one write of a few
 * kilobytes.
 *
 * @throws {NodeJS.ErrnoException} if it can't be written; an existing file is unchanged.
 */
export function writePrivateFile(file: string, text: string): void {
  const fresh = `${file}.${process.pid}.new`;
  try {
    // A leftover of a killed process may have another mode.
    rmSync(fresh, { force: true });
    writeFileSync(fresh, text, { mode: 0o600, flag: "wx" });
    renameSync(fresh, file);
  } catch (error) {
    rmSync(fresh, { force: true });
    throw error;
  }
}

/** A file of keys or credentials that other users of the machine can change. The message names the file and what to do. */
export class UnsafeFileError extends Error {
  override name = "UnsafeFileError";
}

/**
 * Where a file of keys or credentials comes from: the server wrote it in a folder of its own, or a flag names it. A file that a flag names
 * is often in a volume whose files a group may write.
 */
export type SecretFileOrigin = "own" | "named";

/** Who may write a file that isn't a symbolic link. */
type FileAccess = Pick<Stats, "uid" | "mode">;

/** Bits of the mode of a file or folder. */
const groupReads = 0o040;
const groupWrites = 0o020;
const othersRead = 0o004;
const othersWrite = 0o002;
const groupIsInherited = 0o2000;

/**
 * Returns who else can change a file; undefined for a file that only root and the user of this process can write, and on Windows, whose
 * files have no such modes.
 *
 * @param user the id of the user of this process; undefined on Windows.
 */
export function otherWriters({ uid, mode }: FileAccess, user = process.geteuid?.()): Writers | undefined {
  if (user === undefined) return undefined;
  if (uid !== 0 && uid !== user) return "owner";
  if ((mode & othersWrite) !== 0) return "others";
  return (mode & groupWrites) === 0 ? undefined : "group";
}

type Writers = "owner" | "others" | "group";

/**
 * Returns who else can read a file of credentials, if its mode should be narrower; undefined if only root and the user of this process can
 * read it, and on Windows. A group of a file that belongs to another user doesn't count, because this process may read it by that group.
 *
 * @param user the id of the user of this process; undefined on Windows.
 */
export function otherReaders(
  { uid, mode }: FileAccess,
  user = process.geteuid?.(),
): "others" | "group" | undefined {
  if (user === undefined) return undefined;
  if ((mode & othersRead) !== 0) return "others";
  return (mode & groupReads) !== 0 && uid === user ? "group" : undefined;
}

/**
 * Reads a file of keys or credentials.
 *
 * @throws {UnsafeFileError} if other users can change it ({@link assertSafe}).
 * @throws {NodeJS.ErrnoException} if it can't be read.
 */
export async function loadSecretFile(file: string, origin: SecretFileOrigin): Promise<string> {
  const handle = await open(file, "r");
  try {
    await assertSafe(file, await handle.stat(), origin);
    return await handle.readFile("utf8");
  } finally {
    await handle.close();
  }
}

/**
 * Refuses a file that other users of the machine can change. A file that only its group can change too is accepted if a flag names it, or if
 * it is in a folder with the bit setgid: in a volume for a group (`fsGroup`), the group of all files may write them.
 *
 * @throws {UnsafeFileError}
 */
export async function assertSafe(file: string, access: FileAccess, origin: SecretFileOrigin): Promise<void> {
  const writers = otherWriters(access);
  if (writers === undefined) return;
  if (writers === "group" && (origin === "named" || (await isInGroupVolume(file)))) return;
  throw new UnsafeFileError(unsafeMessage(file, access, writers));
}

/** Returns whether a file is in a folder with the bit setgid, as in a volume for a group (`fsGroup`). */
export async function isInGroupVolume(file: string): Promise<boolean> {
  const { mode } = await stat(path.dirname(file));
  return (mode & groupIsInherited) !== 0;
}

/** Returns the mode of a file for messages, for example `mode 0644`. */
export function modeTextOf(mode: number): string {
  return `mode ${(mode & 0o7777).toString(8).padStart(4, "0")}`;
}

/** Returns the message about a file that others can write. */
export function unsafeMessage(file: string, { uid, mode }: FileAccess, writers: Writers): string {
  const user = process.geteuid?.();
  const modeText = modeTextOf(mode);
  return writers === "owner"
    ? `${file} belongs to the user ${uid} (${modeText}), who can change it: it must belong to root or to the user of the server, ${user}; ` +
        "remove it if you didn't create it, otherwise use chown"
    : `${file} can be written by ${writers === "group" ? "its group" : "other users"} (${modeText}): ` +
        "remove it if you don't know who wrote it, otherwise use chmod go-w";
}
