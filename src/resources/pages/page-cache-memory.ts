import type { Clock, Timer } from "../../base/time/clock.ts";
import type { CachedCollection, CollectionLimits } from "./cached-collection.ts";

/** Limits of the memory of page caches, in bytes of bodies and their other forms. */
export interface PageCacheLimits extends CollectionLimits {
  readonly totalBytes: number;
  /** Maximum number of collections; by default 64. */
  readonly collections?: number | undefined;
}

const mebibyte = 1024 * 1024;
const leastTotalBytes = 64 * mebibyte;
const mostTotalBytes = 256 * mebibyte;
/** The caches of the server take at most this part of the memory. */
const memoryPart = 1 / 32;
const maxCollections = 64;

/**
 * Returns the limits for the cache of a process.
 *
 * @param memoryBytes memory that the process may use.
 */
export function pageCacheLimits(memoryBytes: number): PageCacheLimits {
  const totalBytes = Math.min(mostTotalBytes, Math.max(leastTotalBytes, memoryBytes * memoryPart));
  return {
    totalBytes,
    collectionBytes: totalBytes * (3 / 4),
    bodyBytes: totalBytes * (7 / 16),
    windowBytes: 16 * mebibyte,
  };
}

/** A collection that wasn't read for this time is dropped. */
const idleMs = 5 * 60_000;
/** Interval of dropping unused collections. */
const sweepMs = 60_000;

/**
 * The memory of the page caches of one or more stores. Bounded in bytes; evicts the least recently used collections, and those that aren't
 * read for some minutes.
 */
export class PageCacheMemory {
  /** By owner and prefix, least recently used first. */
  private readonly collections = new Map<string, CachedCollection>();
  private owners = 0;
  private timer: Timer | undefined;

  constructor(
    private readonly clock: Clock,
    readonly limits: PageCacheLimits = pageCacheLimits(0),
  ) {}

  /** Returns the start of the names of an owner's collections. */
  newOwner(): string {
    return `${this.owners++} `;
  }

  /** Returns a collection for use, which is created if there is none, or if it has ended. */
  use(name: string, create: () => CachedCollection): CachedCollection {
    let collection = this.collections.get(name);
    if (collection === undefined || collection.ended) collection = create();
    this.collections.delete(name);
    this.collections.set(name, collection);
    collection.usedAt = this.clock.monotonicNow();
    this.timer ??= this.clock.setTimer(() => this.sweep(), sweepMs);
    this.shrink();
    return collection;
  }

  /** Drops the collections of an owner. */
  drop(owner: string): void {
    for (const name of this.collections.keys()) if (name.startsWith(owner)) this.remove(name);
    if (this.collections.size > 0) return;
    this.timer?.cancel();
    this.timer = undefined;
  }

  /** Drops collections above the limits. */
  shrink(): void {
    const { totalBytes, collections = maxCollections } = this.limits;
    let total = 0;
    for (const { bytes } of this.collections.values()) total += bytes;
    for (const [name, { bytes }] of this.collections) {
      if (total <= totalBytes && this.collections.size <= collections) return;
      total -= bytes;
      this.remove(name);
    }
  }

  private sweep(): void {
    this.timer = undefined;
    const before = this.clock.monotonicNow() - idleMs;
    for (const [name, { usedAt }] of this.collections) if (usedAt < before) this.remove(name);
    if (this.collections.size > 0) this.timer = this.clock.setTimer(() => this.sweep(), sweepMs);
  }

  private remove(name: string): void {
    this.collections.get(name)?.close();
    this.collections.delete(name);
  }
}
