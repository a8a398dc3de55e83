import { closeSync, openSync, rmSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Database, RootDatabase } from "lmdb";
import type { Environment } from "./databases.ts";
import { dataFile } from "./files.ts";
import type { StoreUsage } from "../store.ts";

/** Statistics of lmdb-js that its types lack. */
interface NativeEnvironment {
  info(): { readonly lastPageNumber: number };
  stat(): { readonly pageSize: number };
}

interface NativeStat {
  readonly treeBranchPageCount: number;
  readonly treeLeafPageCount: number;
  readonly overflowPages: number;
  readonly entryCount: number;
}

const ampleBytes = 16 * 1024 * 1024;

function nativeOf(root: RootDatabase<Buffer, string>): NativeEnvironment {
  return (root as unknown as { env: NativeEnvironment }).env;
}

/** Returns the size of a page, which never changes for a file. */
export function pageBytesOf(root: RootDatabase<Buffer, string>): number {
  return nativeOf(root).stat().pageSize;
}

/** Returns the size of all pages of the data file in bytes, used or free. */
export function fileBytes(root: RootDatabase<Buffer, string>, pageBytes: number): number {
  return (nativeOf(root).info().lastPageNumber + 1) * pageBytes;
}

/**
 * Returns how many more bytes may be stored up to `limit`. LMDB enlarges its map automatically, so the caller enforces the limit.
 * Runs inside the write transaction; exact only near the limit.
 */
export function remainingBytes(environment: Environment, limit: number): number {
  const { root, pageBytes } = environment;
  const file = fileBytes(root, pageBytes);
  return limit - (limit - file > ampleBytes ? file : usedBytes(environment));
}

/** Returns the size of the used pages of the data file, without the pages of LMDB's free lists. */
export function usedBytes({ pageBytes, data, history, log, counts, marks }: Environment): number {
  let pages = 0;
  for (const database of [data, history, log, counts, marks]) pages += pagesOf(database);
  return pages * pageBytes;
}

/** Returns the number of entries of databases. */
export function entriesIn(databases: readonly Pick<Database, "get">[]): number {
  return databases.reduce((sum, database) => sum + statOf(database).entryCount, 0);
}

function statOf(database: Pick<Database, "get">): NativeStat {
  return (database as unknown as { db: { stat(): NativeStat } }).db.stat();
}

function pagesOf(database: Pick<Database, "get">): number {
  const { treeBranchPageCount, treeLeafPageCount, overflowPages } = statOf(database);
  return treeBranchPageCount + treeLeafPageCount + overflowPages;
}

/** Returns the size of the store's file, and of its free space. */
export function sizesOf(environment: Environment): Pick<StoreUsage, "totalBytes" | "freeBytes"> {
  const totalBytes = fileBytes(environment.root, environment.pageBytes);
  return { totalBytes, freeBytes: Math.max(0, totalBytes - usedBytes(environment)) };
}

/** Minimum free space of a disk that isn't full: more than two batches need, and enough to delete objects and history. */
export const reserveBytes = 8 * 1024 * 1024;

/**
 * Whether the disk is full. LMDB reports a disk that becomes full during a write as an input/output error, like a broken disk; a
 * write of a probe file at the same offset distinguishes them.
 */
export function diskIsFull(dir: string): boolean {
  const probe = join(dir, `probe-${process.pid}`);
  try {
    const end = statSync(join(dir, dataFile)).size;
    const file = openSync(probe, "w");
    try {
      const bytes = Buffer.alloc(reserveBytes);
      return writeSync(file, bytes, 0, bytes.length, end) < bytes.length;
    } finally {
      closeSync(file);
    }
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    return code === "ENOSPC" || code === "EDQUOT" || code === "EFBIG";
  } finally {
    rmSync(probe, { force: true });
  }
}
