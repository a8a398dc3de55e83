import { statfsSync } from "node:fs";
import type { StoreError } from "../store.ts";
import type { Environment } from "./databases.ts";
import { fullError } from "./errors.ts";
import { diskIsFull, fileBytes, reserveBytes, usedBytes } from "./disk-space.ts";

/** Lifetime of a cached result of the disk check. */
const probeMs = 250;

/** Pause after a failed transaction; doubled after each further failure. */
const firstPauseMs = 1000;
const maxPauseMs = 10 * 60_000;

/** Number of consecutive failures, other than by a full disk, that are retried without a pause. */
const immediateRetries = 2;

/**
 * Rejects writes that would fail before they become transactions, because lmdb-js prints a stack to standard error for each failed
 * commit. The disk counts as full if it has less than 8 MiB left and the file has less than that in free pages.
 */
export class DiskSpaceGuard {
  /** The error with which writes currently fail. */
  private failure: StoreError | undefined;
  private failures = 0;
  private pausedUntil = Number.NEGATIVE_INFINITY;
  private nextProbe = Number.NEGATIVE_INFINITY;
  /** Result of the last disk check. */
  private diskFull = false;
  /** Whether both the disk and the file are full. */
  private isFull = false;
  /** Whether a write transaction has succeeded since the store was opened. */
  private hasWritten = false;

  constructor(private readonly environment: Environment) {}

  /** Returns the error with which writes currently fail, for health checks. Before the first write it checks the disk. */
  obstacle(): StoreError | undefined {
    if (this.failure !== undefined || !this.hasWritten || isTight(this.environment.dir)) this.look();
    return this.failure;
  }

  /** Returns the error with which writes that need space are currently rejected. */
  refusal(): StoreError | undefined {
    if (this.failure !== undefined || isTight(this.environment.dir)) this.look();
    return this.failure;
  }

  /** Whether all transactions are currently paused, also deletes and compaction. */
  get paused(): boolean {
    return this.failure !== undefined && performance.now() < this.pausedUntil;
  }

  /** Records a failed commit. */
  failed(error: StoreError): void {
    this.failure = error;
    this.failures++;
    this.nextProbe = Number.NEGATIVE_INFINITY;
    const doublings = Math.min(this.failures - 1, 20);
    this.pausedUntil = performance.now() + Math.min(firstPauseMs * 2 ** doublings, maxPauseMs);
  }

  /** Records a successful write transaction. */
  succeeded(): void {
    this.hasWritten = true;
    if (this.failure === undefined) this.failures = 0;
  }

  private look(): void {
    const { dir } = this.environment;
    const now = performance.now();
    if (now >= this.nextProbe) {
      this.nextProbe = now + probeMs;
      const wasFull = this.diskFull;
      this.diskFull = diskIsFull(dir);
      this.isFull = this.diskFull && (this.paused || this.freePageBytes() < reserveBytes);
      if (wasFull && !this.diskFull) this.failures = 0;
    }
    if (this.isFull) this.failure ??= fullError(dir, "the disk is full");
    else if (this.failures <= immediateRetries || now >= this.pausedUntil) this.failure = undefined;
  }

  private freePageBytes(): number {
    const { root, pageBytes } = this.environment;
    return fileBytes(root, pageBytes) - usedBytes(this.environment);
  }
}

/** Whether the file system reports little free space. It doesn't report quotas. */
function isTight(dir: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(dir);
    return bavail * bsize < reserveBytes;
  } catch (error) {
    // If the folder was removed, the write itself fails with an error.
    if (error instanceof Error && "code" in error) return false;
    throw error;
  }
}
