import { mkdirSync, statSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname, resolve } from "node:path";

/**
 * Makes a folder, and the folders above it that are missing, for their owner alone. A folder that exists stays as it is.
 *
 * Node's `recursive` option isn't used: it tries forever where the system answers ENOENT though the folder above exists, as
 * below /proc.
 *
 * @throws {NodeJS.ErrnoException} it can't be made; the message names the folder that failed.
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

/** Waits until a file, or which files a folder holds, is on the disk. */
export async function syncFile(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
