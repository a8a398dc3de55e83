import { mkdirSync, statSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname, resolve } from "node:path";

/**
 * Creates a folder and its missing parents with access for the owner only. An existing folder isn't changed.
 *
 * Doesn't use Node's `recursive` option, which never ends if the system answers ENOENT although the parent exists, as below
 * /proc.
 *
 * @throws {NodeJS.ErrnoException} the folder can't be created; the message names the one that failed.
 */
export function makeFolder(folder: string): void {
  const path = resolve(folder);
  if (isFolder(path)) return;
  if (dirname(path) !== path) makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have made it in the meantime.
    if (!isFolder(path)) throw error;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** Flushes a file, or the entries of a folder, to the disk. */
export async function syncFile(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
