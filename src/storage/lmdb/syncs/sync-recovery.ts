import { closeSync, existsSync, fdatasyncSync, openSync } from "node:fs";
import { join } from "node:path";
import type { RootDatabase } from "lmdb";
import { type Environment, skipRevisions } from "../databases.ts";
import { dataFile } from "../files.ts";
import { metaTransaction, PageDamage, pageBytesIn, relabelledMeta } from "../meta-pages.ts";
import { soundStateIn } from "../stored-state.ts";
import { identityOf, noIdentity, type SyncPoint, SyncPointFile, unsyncedTransaction } from "./sync-point.ts";
import { revisionOf } from "../../entry.ts";

/** Runs work with the data file of a folder. */
function withFile<T>(dir: string, work: (file: SyncPointFile) => T, mode: "r" | "r+" = "r+"): T {
  const file = openSync(join(dir, dataFile), mode);
  try {
    return work(new SyncPointFile(file, pageBytesIn(file)));
  } finally {
    closeSync(file);
  }
}

/** Whether the unsynced pages of a store are lost, or may be. */
function isLost({ isOpen, identity }: SyncPoint, file: number): boolean {
  return isOpen && !identity.equals(identityOf(file) ?? noIdentity);
}

/**
 * Whether a folder has a store whose meta pages may describe lost commits. They must not be followed before {@link restoreSyncPoint}.
 *
 * @returns false also if the first page is damaged.
 * @throws {StoreDamagedError} the sync point is damaged.
 */
export function needsRestore(dir: string): boolean {
  if (!existsSync(join(dir, dataFile))) return false;
  const look = (file: SyncPointFile) => {
    const point = file.read();
    return point !== undefined && point.isOpen && (point.isRestored || isLost(point, file.file));
  };
  try {
    return withFile(dir, look, "r");
  } catch (error) {
    if (error instanceof PageDamage) return false;
    throw error;
  }
}

/**
 * Sets a store back to its synced state if the power failed after commits that weren't synced. Reads no page but the meta pages. The write
 * lock is held, so that no other process does the same at once.
 */
export function restoreSyncPoint(dir: string, root: RootDatabase<Buffer, string>): void {
  withFile(dir, (file) =>
    root.transactionSync(() => {
      const point = file.read();
      if (point === undefined || !isLost(point, file.file)) return;
      const meta = newestSynced(file, point);
      // The state gets the numbers of the lost transactions, because LMDB never counts back.
      const last = root.getWriteTxnId() - 1;
      for (const transaction of [last - 1, last]) file.writeMeta(relabelledMeta(meta, transaction));
      fdatasyncSync(file.file);
      const identity = identityOf(file.file) ?? noIdentity;
      file.write({ ...point, meta, identity, isRestored: true, synced: [0, 0] });
      fdatasyncSync(file.file);
    }, unsyncedTransaction),
  );
  root.resetReadTxn();
}

/** Returns the newest meta page that is known to describe synced pages. */
function newestSynced(file: SyncPointFile, { meta, synced }: SyncPoint): Buffer {
  for (const transaction of [synced[1], synced[0]]) {
    if (transaction === 0) continue;
    const candidate = file.readMeta(transaction);
    if (metaTransaction(candidate) === transaction) return candidate;
  }
  return meta;
}

/**
 * Continues a restored store at a revision above all lost ones, with its floor there, so that no reader takes a new write for a lost one.
 * Must be called in a write transaction that is synced.
 */
export function skipLostRevisions(environment: Environment): void {
  const point = withFile(environment.dir, (file) => file.read());
  if (point === undefined || !point.isOpen || !point.isRestored) return;
  if (soundStateIn(environment.meta.getBinary("state")).revision < point.ceiling)
    skipRevisions(environment, revisionOf(point.ceiling));
}

/** Declares the meta pages of a restored store valid; before that no write is accepted. */
export function finishRestore(dir: string, root: RootDatabase<Buffer, string>): void {
  withFile(dir, (file) =>
    root.transactionSync(() => {
      const point = file.read();
      if (point === undefined || !point.isOpen || !point.isRestored) return;
      file.write({ ...point, isOpen: false, isRestored: false });
      fdatasyncSync(file.file);
    }, unsyncedTransaction),
  );
}

/**
 * Declares the meta pages of a copied file valid, which has everything that its original had in memory.
 *
 * @param dir folder of the copy, which no process has open.
 * @returns whether syncs were deferred when it was copied.
 */
export function closeCopiedSyncPoint(dir: string): boolean {
  return withFile(dir, (file) => {
    const point = file.read();
    if (point === undefined || !point.isOpen) return false;
    file.write({ ...point, isOpen: false });
    return true;
  });
}
