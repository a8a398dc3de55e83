import { closeSync, openSync, rmSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Database, RootDatabase } from "lmdb";
import type { Environment } from "./databases.ts";
import { dataFile } from "./files.ts";

/** Methods of lmdb-js that its types don't declare. */
interface NativeEnvironment {
  info(): { readonly lastPageNumber: number };
  stat(): { readonly pageSize: number };
}

interface NativeStat {
  readonly treeBranchPageCount: number;
  readonly treeLeafPageCount: number;
  readonly overflowPages: number;
}

const ampleBytes = 16 * 1024 * 1024;

function nativeOf(root: RootDatabase<Buffer, string>): NativeEnvironment {
  return (root as unknown as { env: NativeEnvironment }).env;
}

/** Returns the page size of a file, which never changes. */
export function pageBytesOf(root: RootDatabase<Buffer, string>): number {
  return nativeOf(root).stat().pageSize;
}

/** Returns the size of the data file's pages in bytes, used or free. */
export function fileBytes(root: RootDatabase<Buffer, string>, pageBytes: number): number {
  return (nativeOf(root).info().lastPageNumber + 1) * pageBytes;
}

/**
 * Returns the number of bytes that may still be stored below `limit`. lmdb-js enlarges the map by itself, so this program enforces
 * the limit. Must be called in the write transaction. Exact only near the limit.
 */
export function roomLeft(environment: Environment, limit: number): number {
  const { root, pageBytes } = environment;
  const file = fileBytes(root, pageBytes);
  return limit - (limit - file > ampleBytes ? file : usedBytes(environment));
}

/** Returns the used bytes of the data file, without a few pages for LMDB's own lists. */
export function usedBytes({ pageBytes, data, history, log, counts, marks }: Environment): number {
  let pages = 0;
  for (const database of [data, history, log, counts, marks]) pages += pagesOf(database);
  return pages * pageBytes;
}

function pagesOf(database: Pick<Database, "get">): number {
  const { db } = database as unknown as { db: { stat(): NativeStat } };
  const { treeBranchPageCount, treeLeafPageCount, overflowPages } = db.stat();
  return treeBranchPageCount + treeLeafPageCount + overflowPages;
}

/** Minimum free space of a disk that isn't full: more than two batches need, and enough to delete objects and compact. */
export const reserveBytes = 8 * 1024 * 1024;

/**
 * Whether the disk is full. If the disk fills up during a write, LMDB reports an I/O error, as for a broken disk. Writing a test file
 * distinguishes the two.
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
