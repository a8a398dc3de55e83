import { closeSync, openSync, readFileSync, readSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { pageDamage } from "./check.ts";
import { acquireEnvironment, defaultMapBytes, releaseEnvironment } from "./environment.ts";
import { dataFile, lockFile, lmdbMagic } from "./files.ts";
import { fileDamage } from "./meta-pages.ts";
import { needsRestore } from "./syncs/sync-recovery.ts";

/** Byte offsets in the lock file: number of used reader entries, first entry, size of an entry, process id in an entry. */
const table = { usedAt: 16, firstAt: 208, entryBytes: 64, processAt: 8 } as const;

/**
 * Returns why opening the store may kill this process by a signal (SIGBUS, SIGSEGV): its file is visibly damaged, or a
 * process ended without closing it. A child process should then try it first. Takes less than a millisecond.
 *
 * @returns undefined if there is no store yet, or no risk was detected.
 */
export function openingRisk(dir: string): string | undefined {
  const file = join(dir, dataFile);
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return undefined;
  // Its meta pages are replaced before they are followed.
  if (needsRestore(dir)) return "the power failed after commits that were not synced";
  const damage = fileDamage(file);
  if (damage !== undefined) return damage;
  const process = abandonedBy(join(realpathSync(dir), lockFile));
  return process === undefined ? undefined : `process ${process} ended without closing it`;
}

/**
 * Opens a store and checks all pages of its file.
 *
 * @returns the first damage; undefined if there is none.
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
 * Returns a process that has an entry in the lock file but no longer maps the file: it ended without closing the store.
 * Linux only, because the layout of the file depends on glibc's locks.
 */
function abandonedBy(path: string): number | undefined {
  if (process.platform !== "linux") return undefined;
  return processesIn(path).find((id) => !usesFile(id, path));
}

/** Returns the process ids in a lock file. */
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

/** Whether a process maps a file; false if its maps can't be read. */
function usesFile(id: number, path: string): boolean {
  try {
    return readFileSync(`/proc/${id}/maps`, "utf8").includes(` ${path}\n`);
  } catch {
    // The process ended, or belongs to another user or container.
    return false;
  }
}
