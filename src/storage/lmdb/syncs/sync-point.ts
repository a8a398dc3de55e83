/**
 * The synced state of a store whose commits are ahead of their sync. LMDB writes each commit's meta page, and the system writes unsynced
 * pages to the disk in any order; so after a power failure both meta pages may describe commits whose pages are missing. The sync point
 * is a copy of the meta page of a state that is completely on the disk. It is stored in the second half of the first page,
 * which LMDB doesn't use, within one sector, so that it is never half written.
 */
import { createHash } from "node:crypto";
import { fstatSync, readFileSync, readSync, writeSync } from "node:fs";
import * as lmdb from "lmdb";
import type { TransactionFlags } from "lmdb";
import { countersOf } from "../../keys.ts";
import type { StoreOptions } from "../../options.ts";
import { StoreDamagedError, type Write } from "../../store.ts";
import { checksumBytes, checksumOf } from "../checksum.ts";
import { knownLibrary } from "../files.ts";
import { readUint64, writeUint64 } from "../layout.ts";
import { committedMeta, metaTransaction } from "../meta-pages.ts";

/** The synced state, and which commits may follow it. */
export interface SyncPoint {
  /** Whether unsynced commits may follow. Otherwise the meta pages are valid by themselves. */
  readonly isOpen: boolean;
  /** Whether the store was set back to this state, and hasn't skipped the lost revisions yet. */
  readonly isRestored: boolean;
  /** Identifies the file and the boot of the system whose memory has the unsynced pages ({@link identityOf}). */
  readonly identity: Buffer;
  /** The committed part of the state's meta page. */
  readonly meta: Buffer;
  /** Revision of the state. */
  readonly revision: number;
  /** No revision above this one is assigned by an unsynced commit. */
  readonly ceiling: number;
  /**
   * The last two transactions after the state that sync before they write their meta page; 0 for none. If a meta page of one of them
   * is on the disk, its state is synced too.
   */
  readonly synced: readonly [previous: number, last: number];
}

const magic = Buffer.from("SYNCPT01");
const identityBytes = 16;
const openFlag = 1;
const restoredFlag = 2;
/** Byte offsets in the record. */
const at = { flags: 8, identity: 16, ceiling: 32, revision: 40, previous: 48, last: 56, meta: 64 } as const;
const readAttempts = 3;
const checksumAt = at.meta + committedMeta.bytes;

/** Encodes a sync point; the result is shorter than a sector. */
export function encodeSyncPoint(point: SyncPoint): Buffer {
  const bytes = Buffer.alloc(checksumAt + checksumBytes);
  magic.copy(bytes);
  bytes[at.flags] = (point.isOpen ? openFlag : 0) | (point.isRestored ? restoredFlag : 0);
  point.identity.copy(bytes, at.identity);
  writeUint64(bytes, point.ceiling, at.ceiling);
  writeUint64(bytes, point.revision, at.revision);
  writeUint64(bytes, point.synced[0], at.previous);
  writeUint64(bytes, point.synced[1], at.last);
  point.meta.copy(bytes, at.meta);
  bytes.writeUInt32BE(checksumOf(bytes.subarray(0, checksumAt)), checksumAt);
  return bytes;
}

/**
 * Decodes a sync point; undefined if the bytes are none.
 *
 * @throws {StoreDamagedError} its checksum differs.
 */
export function decodeSyncPoint(bytes: Buffer): SyncPoint | undefined {
  if (bytes.length !== checksumAt + checksumBytes || !magic.equals(bytes.subarray(0, magic.length)))
    return undefined;
  if (bytes.readUInt32BE(checksumAt) !== checksumOf(bytes.subarray(0, checksumAt)))
    throw new StoreDamagedError("the store's sync point is damaged: restore a backup into an empty folder");
  const flags = bytes[at.flags]!;
  return {
    isOpen: (flags & openFlag) !== 0,
    isRestored: (flags & restoredFlag) !== 0,
    identity: bytes.subarray(at.identity, at.identity + identityBytes),
    meta: bytes.subarray(at.meta, checksumAt),
    revision: readUint64(bytes, at.revision),
    ceiling: readUint64(bytes, at.ceiling),
    synced: [readUint64(bytes, at.previous), readUint64(bytes, at.last)],
  };
}

/** Another process writes to the folder, or this one can't write at present: the commit must be synced. */
export class MustSync extends Error {
  override name = "MustSync";
}

/** Flags of a transaction of lmdb-js that is committed before `transactionSync` returns, and isn't synced. */
export const unsyncedTransaction = 0x10002 as TransactionFlags;

/** The data file of a store, for reading and writing its sync point and meta pages. */
export class SyncPointFile {
  constructor(
    /** Descriptor of the file, open for reading and writing. */
    readonly file: number,
    private readonly pageBytes: number,
  ) {}

  /** Returns the sync point; undefined if the file has none. @throws {StoreDamagedError} it is damaged. */
  read(): SyncPoint | undefined {
    // Without the write lock it may be read while another process writes it; damage persists.
    for (let attempt = 1; ; attempt++) {
      try {
        return decodeSyncPoint(this.readBytes());
      } catch (error) {
        if (attempt === readAttempts) throw error;
      }
    }
  }

  /** Writes a sync point without syncing it. Returns its bytes, for {@link has}. */
  write(point: SyncPoint): Buffer {
    const bytes = encodeSyncPoint(point);
    writeSync(this.file, bytes, 0, bytes.length, this.pageBytes / 2);
    return bytes;
  }

  /** Whether the file has exactly these bytes as its sync point. */
  has(bytes: Buffer): boolean {
    return this.readBytes().equals(bytes);
  }

  private readBytes(): Buffer {
    const bytes = Buffer.alloc(checksumAt + checksumBytes);
    readSync(this.file, bytes, 0, bytes.length, this.pageBytes / 2);
    return bytes;
  }

  /** Returns the committed part of the meta page that a transaction writes, or an earlier one of the same parity. */
  readMeta(transaction: number): Buffer {
    const bytes = Buffer.alloc(committedMeta.bytes);
    readSync(this.file, bytes, 0, bytes.length, this.metaAt(transaction));
    return bytes;
  }

  /** Writes a meta page of a transaction without syncing it. */
  writeMeta(meta: Buffer): void {
    writeSync(this.file, meta, 0, meta.length, this.metaAt(metaTransaction(meta)));
  }

  private metaAt(transaction: number): number {
    return (transaction % 2) * this.pageBytes + committedMeta.at;
  }
}

/** The identity of a store whose sync failed: no boot has its unsynced pages. */
export const noIdentity = Buffer.alloc(identityBytes);

/**
 * Returns the identity of the memory that has the unsynced pages of a file: the boot of the system, the device and the inode. With
 * another identity the unsynced pages are lost, or it is unknown whether they are.
 *
 * @returns undefined if the system doesn't tell its boots apart.
 */
export function identityOf(file: number): Buffer | undefined {
  const boot = bootOf();
  if (boot === undefined) return undefined;
  const { dev, ino } = fstatSync(file, { bigint: true });
  return createHash("sha256").update(`${boot} ${dev} ${ino}`).digest().subarray(0, identityBytes);
}

/**
 * Returns why this process can't defer syncs; undefined if it can.
 *
 * @param library how the compiled part of LMDB names itself.
 */
export function deferralObstacle(library: string = compiledLibrary()): string | undefined {
  if (bootOf() === undefined)
    return "the embedded store can defer syncs only on Linux with /proc/sys/kernel/random/boot_id";
  if (library !== knownLibrary.compiled)
    return (
      `the embedded store can defer syncs only with ${knownLibrary.compiled}, whose meta pages it knows, not with ${library}: ` +
      `install version ${knownLibrary.package} of the package @lmdb/lmdb-${process.platform}-${process.arch}, or leave out --durability`
    );
  return undefined;
}

/** How the compiled part of LMDB names itself, which the types of the library leave out. */
function compiledLibrary(): string {
  const { version } = lmdb as { readonly version?: { readonly versionString: string } };
  return version?.versionString ?? "an unknown library";
}

function bootOf(): string | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
  } catch (error) {
    // Without /proc.
    if (error instanceof Error && "code" in error) return undefined;
    throw error;
  }
}

/**
 * Returns the time within which writes must be synced together, in milliseconds; undefined if one of them must be synced before it is
 * acknowledged.
 *
 * @param deferredSyncMs the option of the store, by collection.
 */
export function syncWithin(
  writes: readonly Pick<Write, "key">[],
  deferredSyncMs: StoreOptions["deferredSyncMs"],
): number | undefined {
  let shortest = Infinity;
  for (const { key } of writes) {
    const withinMs = deferredSyncMs?.get(countersOf(key).collection);
    if (withinMs === undefined) return undefined;
    shortest = Math.min(shortest, withinMs);
  }
  return shortest;
}
