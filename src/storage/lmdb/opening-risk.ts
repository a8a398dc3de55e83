import { closeSync, openSync, readFileSync, readSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { pageDamage } from "./check.ts";
import { acquireEnvironment, defaultMapBytes, releaseEnvironment } from "./environment.ts";
import { dataFile, lockFile, lmdbMagic } from "./files.ts";
import { fileDamage } from "./meta-pages.ts";

/** Layout of the reader table in the lock file: offsets of the number of used entries and of the first entry, and the entry size. */
const table = { usedAt: 16, firstAt: 208, entryBytes: 64, processAt: 8 } as const;

/**
 * Returns why opening the store of a folder may crash this process, so that a child process should open it first: its file has
 * visible damage, or a process was killed while it had the store open. Takes less than a millisecond.
 *
 * @returns undefined if there is no store yet, or no known risk.
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
 * Opens a store and checks all pages of its file.
 *
 * @returns a message about a damaged page; undefined if there is none.
 * @throws {StoreError} if the store can't be opened.
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
 * Returns a process with an entry in the reader table that no longer uses the store; closing a store clears the entry. Works only on
 * Linux with glibc, whose lock layout it reads.
 */
function abandonedBy(path: string): number | undefined {
  if (process.platform !== "linux") return undefined;
  return processesIn(path).find((id) => !usesFile(id, path));
}

/** Returns the ids of the processes in the reader table. */
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

/** Whether a process has mapped a file. False for a process that can't be inspected. */
function usesFile(id: number, path: string): boolean {
  try {
    return readFileSync(`/proc/${id}/maps`, "utf8").includes(` ${path}\n`);
  } catch {
    // The process has ended, or belongs to another user or container.
    return false;
  }
}
