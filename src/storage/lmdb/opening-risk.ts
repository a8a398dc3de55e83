import { closeSync, openSync, readFileSync, readSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { pageDamage } from "./check.ts";
import { acquireEnvironment, defaultMapBytes, releaseEnvironment } from "./environment.ts";
import { dataFile, lockFile, lmdbMagic } from "./files.ts";
import { fileDamage } from "./meta-pages.ts";

/** Where the lock file has how many entries of its table were ever used, the first of these, and how long each is. */
const table = { usedAt: 16, firstAt: 208, entryBytes: 64, processAt: 8 } as const;

/**
 * Why opening the store of a folder may end this process by a signal, so that another process should try it first: something
 * is wrong with its file at first sight, or a process that used it was ended before it could close it. It takes less than a
 * millisecond.
 *
 * @returns undefined where there is no store yet, or nothing speaks against opening it.
 */
export function openingRisk(dir: string): string | undefined {
  const file = join(dir, dataFile);
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return undefined;
  const damage = fileDamage(file);
  if (damage !== undefined) return damage;
  const process = abandonedBy(join(realpathSync(dir), lockFile));
  return process === undefined ? undefined : `process ${process} ended without closing it`;
}

/**
 * Opens a store and looks through all pages of its file.
 *
 * @returns what is wrong with one; undefined when they are sound.
 * @throws {StoreError} the store can't be opened.
 */
export async function damagedPageOf(dir: string): Promise<string | undefined> {
  const environment = acquireEnvironment(dir, defaultMapBytes);
  try {
    return pageDamage(environment, true);
  } finally {
    await releaseEnvironment(environment);
  }
}

/**
 * A process that has an entry in the lock file and doesn't use it any more: closing a store clears the entry. Known on Linux
 * alone, where the file's form is that of glibc's locks.
 */
function abandonedBy(path: string): number | undefined {
  if (process.platform !== "linux") return undefined;
  return processesIn(path).find((id) => !usesFile(id, path));
}

/** The processes that have an entry in a lock file. */
function processesIn(path: string): number[] {
  const { size } = statSync(path, { throwIfNoEntry: false }) ?? { size: 0 };
  if (size < table.firstAt) return [];
  const bytes = Buffer.alloc(size);
  const file = openSync(path, "r");
  try {
    readSync(file, bytes, 0, size, 0);
  } finally {
    closeSync(file);
  }
  if (bytes.readUInt32LE(0) !== lmdbMagic) return [];
  const entries = Math.floor((size - table.firstAt) / table.entryBytes);
  const used = Math.min(bytes.readUInt32LE(table.usedAt), entries);
  return Array.from({ length: used }, (_, index) =>
    bytes.readUInt32LE(table.firstAt + index * table.entryBytes + table.processAt),
  ).filter((id) => id !== 0);
}

/** Whether a process has a file in its memory. One that can't be looked at doesn't, as far as is known here. */
function usesFile(id: number, path: string): boolean {
  try {
    return readFileSync(`/proc/${id}/maps`, "utf8").includes(` ${path}\n`);
  } catch {
    // It ended, or is another user's or another container's.
    return false;
  }
}
