import { closeSync, openSync, rmSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Database, RootDatabase } from "lmdb";
import type { Environment } from "./databases.ts";
import { dataFile } from "./files.ts";

/** What lmdb-js knows but doesn't declare. */
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

/** The size of a page, which a file keeps for life. */
export function pageBytesOf(root: RootDatabase<Buffer, string>): number {
  return nativeOf(root).stat().pageSize;
}

/** How many bytes the data file's pages take, used or free. */
export function fileBytes(root: RootDatabase<Buffer, string>, pageBytes: number): number {
  return (nativeOf(root).info().lastPageNumber + 1) * pageBytes;
}

/**
 * How many bytes may still be stored below `limit`. The engine enlarges its map by itself, so the limit is ours to
 * keep. Runs inside the write transaction; exact only where it gets tight.
 */
export function roomLeft(environment: Environment, limit: number): number {
  const { root, pageBytes } = environment;
  const file = fileBytes(root, pageBytes);
  return limit - (limit - file > ampleBytes ? file : usedBytes(environment));
}

/** How much of the data file holds something, but for a few pages that the engine keeps its own lists in. */
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

/** What a disk has left that counts as not full: more than two batches take, and enough to remove objects and history. */
export const reserveBytes = 8 * 1024 * 1024;

/**
 * Whether the disk takes no more. A disk that fills up in the middle of a write shows itself to the engine as an
 * input/output error, like one that is broken; writing as far out as the engine does tells them apart.
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
