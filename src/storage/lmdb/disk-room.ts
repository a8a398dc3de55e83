import { statfsSync } from "node:fs";
import type { StoreError } from "../store.ts";
import type { Environment } from "./databases.ts";
import { fullError } from "./errors.ts";
import { diskIsFull, fileBytes, reserveBytes, usedBytes } from "./room.ts";

/** How long an answer to whether the disk is full is used. */
const probeMs = 250;

/** The pause after a failed transaction; each further one is twice as long. */
const firstPauseMs = 1000;
const maxPauseMs = 10 * 60_000;

/** Failed transactions in a row that aren't explained by a full disk, and are tried again at once. */
const freeFailures = 2;

/**
 * Keeps writes that would fail from becoming transactions: for each transaction that fails to commit, the storage library
 * writes a stack to standard error. A disk that has less than 8 MiB left, in a file without as many free pages, counts as full before
 * a write fails.
 */
export class DiskSpaceGuard {
  /** Why writes fail at present. */
  private failure: StoreError | undefined;
  private failures = 0;
  private pausedUntil = Number.NEGATIVE_INFINITY;
  private nextProbe = Number.NEGATIVE_INFINITY;
  /** What the last probe said of the disk. */
  private diskFull = false;
  /** Whether there is no room on the disk, nor in the file. */
  private isFull = false;
  /** Whether a transaction has changed something since the store was opened; before that it is unknown whether one can. */
  private hasWritten = false;

  constructor(private readonly environment: Environment) {}

  /** Why writes fail at present, for health checks: before the first write the disk is probed. */
  obstacle(): StoreError | undefined {
    if (this.failure !== undefined || !this.hasWritten || isTight(this.environment.dir)) this.look();
    return this.failure;
  }

  /** Why a write that makes the file grow is not tried at present. */
  refusal(): StoreError | undefined {
    if (this.failure !== undefined || isTight(this.environment.dir)) this.look();
    return this.failure;
  }

  /** Whether all transactions fail at present, deletes and the removal of history too. */
  get paused(): boolean {
    return this.failure !== undefined && performance.now() < this.pausedUntil;
  }

  /** A transaction failed to commit. */
  failed(error: StoreError): void {
    this.failure = error;
    this.failures++;
    this.nextProbe = Number.NEGATIVE_INFINITY;
    const doublings = Math.min(this.failures - 1, 20);
    this.pausedUntil = performance.now() + Math.min(firstPauseMs * 2 ** doublings, maxPauseMs);
  }

  /** A transaction that changed something was committed. */
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
    else if (this.failures <= freeFailures || now >= this.pausedUntil) this.failure = undefined;
  }

  private freePageBytes(): number {
    const { root, pageBytes } = this.environment;
    return fileBytes(root, pageBytes) - usedBytes(this.environment);
  }
}

/** Whether the disk has little room by its own account, which doesn't say everything: there are quotas too. */
function isTight(dir: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(dir);
    return bavail * bsize < reserveBytes;
  } catch (error) {
    // A folder that has gone is reported by the write itself.
    if (error instanceof Error && "code" in error) return false;
    throw error;
  }
}
