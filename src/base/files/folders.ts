import { mkdirSync, statSync, existsSync } from "node:fs";
import { open } from "node:fs/promises";
import path, { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * Creates a folder and its missing parents with mode 0700. An existing folder isn't changed.
 *
 * Doesn't use Node's `recursive` option: it loops forever if mkdir returns ENOENT although the parent exists, as below /proc.
 *
 * @throws {NodeJS.ErrnoException} whose message names the folder that can't be created.
 */
export function makeFolder(folder: string): void {
  const path = resolve(folder);
  if (isFolder(path)) return;
  if (dirname(path) !== path) makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have created it concurrently.
    if (!isFolder(path)) throw error;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** Syncs a file, or the entries of a folder, to the disk (fsync). */
export async function syncFile(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Returns the folder of this package, whether the code runs from its sources or from a bundle. */
export function packageFolder(): string {
  let folder = path.dirname(fileURLToPath(import.meta.url));
  while (!existsSync(path.join(folder, "package.json"))) folder = path.dirname(folder);
  return folder;
}
