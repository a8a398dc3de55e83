import { renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Environment } from "./databases.ts";
import { isShared } from "./environment.ts";
import { usedError } from "./errors.ts";
import { dataFile, lockFile } from "./files.ts";

/** Sizes of the data file in bytes. */
export interface ReplacedSizes {
  readonly before: number;
  readonly after: number;
}

/**
 * Throws if the store is open elsewhere. Each reader has an entry in the lock file; stale entries are removed first.
 *
 * @throws {StoreTimeoutError}
 */
export function refuseOthers(environment: Environment): void {
  const { dir, root } = environment;
  root.readerCheck();
  // A heading, then a line per entry: process, thread, transaction.
  const processes = root
    .readerList()
    .split("\n")
    .map((line) => Number.parseInt(line.trim(), 10))
    .filter((id) => !Number.isNaN(id));
  const other = processes.find((id) => id !== process.pid || isShared(environment));
  if (other !== undefined) throw usedError(dir, other);
}

/**
 * Replaces the data file of a store by the one of another folder. Call it in a write transaction of the store, so that a process that
 * opens the old file meanwhile waits, then detects the replacement.
 */
export function replaceDataFile(old: Environment, freshDir: string): ReplacedSizes {
  const oldFile = join(old.dir, dataFile);
  const freshFile = join(freshDir, dataFile);
  const sizes = { before: statSync(oldFile).size, after: statSync(freshFile).size };
  renameSync(freshFile, oldFile);
  // The lock file belongs to the old file.
  rmSync(join(old.dir, lockFile), { force: true });
  return sizes;
}
