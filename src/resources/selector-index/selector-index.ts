import type { Clock, Timer } from "../../base/time/clock.ts";
import { andThen, detach, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import { RevisionCompactedError, type Store } from "../../storage/store.ts";
import {
  CollectionIndex,
  type Candidates,
  type CollectionIndexLimits,
  type Search,
} from "./collection-index.ts";
import type { TermName } from "./term-index.ts";

/** Limits of the indexes. */
export interface SelectorIndexLimits extends CollectionIndexLimits {
  /** Approximate memory limit of all indexes, in bytes. */
  readonly totalBytes: number;
  /** Maximum number of indexes of one collection. */
  readonly termsOfCollection: number;
  /** Collections with fewer objects are always scanned. */
  readonly leastObjects: number;
  /** An index is dropped after this time without use, in milliseconds. */
  readonly idleMs: number;
}

const defaultLimits: SelectorIndexLimits = {
  totalBytes: 256 * 1024 * 1024,
  termsOfCollection: 8,
  leastObjects: 1000,
  idleMs: 15 * 60_000,
  pageObjects: 300,
  changesAtATime: 500,
  commonLeast: 1000,
};

/** An index is built once lists have read this part of the collection without selecting it. */
const worthPart = 1 / 2;
/** Maximum time for which a list waits for an index that is being built: on a busy server that may take longer than a scan. */
const maxWaitMs = 2000;
/** Delay before building an index is retried. */
const retryMs = 10 * 60_000;
/** Interval of dropping unused indexes. */
const sweepMs = 60_000;

/** Counters of filtered lists and the size of the indexes. */
export interface SelectorCounters {
  /** Number of lists that used an index. */
  readonly fromIndex: number;
  /** Number of lists that scanned the collection. */
  readonly scanned: number;
  /** Number of indexes. */
  readonly indexes: number;
  /** Approximate memory of the indexes. */
  readonly bytes: number;
  /** Number of indexes that were aborted or dropped because of the memory limit. */
  readonly tooLarge: number;
}

/** A search in a collection. */
export interface CollectionSearch extends Search {
  readonly collection: string;
}

/** The use of a label or field of a collection in searches, with or without an index. */
interface TermUsage {
  readonly collection: string;
  readonly term: TermName;
  /** Number of objects that lists read for it and didn't select. */
  unselected: number;
  usedAt: number;
  /** Earliest time of the next attempt to build the index. */
  notBefore: number;
}

/**
 * Indexes of the labels and selectable fields in searches of large collections. An index is built in the background once lists have read
 * half of the collection without selecting it; events of the store update it; it is dropped after a time without use, or when others need
 * its memory. Without an index, lists scan the collection.
 */
export class SelectorIndex {
  private readonly collections = new Map<string, CollectionIndex>();
  /** Least recently used first. */
  private readonly usages = new Map<string, TermUsage>();
  private readonly counts = { fromIndex: 0, scanned: 0, tooLarge: 0 };
  /** The current building of indexes, which are built one after the other. */
  private building: Promise<void> | undefined;
  /** The index that is being built, and the end of its building. */
  private current: { readonly usage: TermUsage; readonly done: Promise<void> } | undefined;
  private readonly waiting = new Set<TermUsage>();
  private timer: Timer | undefined;
  private closed = false;

  constructor(
    private readonly store: Store,
    private readonly clock: Clock,
    /** Called with the error when an index can't be built. */
    private readonly failed: (error: unknown) => void,
    private readonly limits: SelectorIndexLimits = defaultLimits,
  ) {}

  /**
   * Finds the objects that may be selected; undefined if they must be scanned. If an index for a search in most of the collection is being
   * built, waits for it, because a scan beside it would take longer than both.
   *
   * @throws {StoreError}
   */
  find(search: CollectionSearch): MaybePromise<Candidates | undefined> {
    for (const term of search.terms) this.use(search.collection, term);
    return andThen(this.findNow(search), (candidates) => {
      const building = candidates === undefined ? this.buildingFor(search) : undefined;
      if (building === undefined) return this.count(candidates);
      return andThen(this.isMostOf(search), (isMost) => {
        if (!isMost) return this.count(undefined);
        return this.atMost(maxWaitMs, building)
          .then(() => this.findNow(search))
          .then((later) => this.count(later));
      });
    });
  }

  /** Whether the list has most objects of the collection, so that a scan takes about as long as building an index. */
  private isMostOf({ prefix, collection }: CollectionSearch): MaybePromise<boolean> {
    if (prefix === collection) return true;
    return andThen(this.store.count(prefix), (listed) =>
      andThen(this.store.count(collection), (all) => listed >= all * worthPart),
    );
  }

  /** Waits for work, at most a number of milliseconds. */
  private async atMost(ms: number, work: Promise<void>): Promise<void> {
    let timer: Timer | undefined;
    await Promise.race([work, new Promise<void>((resolve) => (timer = this.clock.setTimer(resolve, ms)))]);
    timer?.cancel();
  }

  private findNow(search: CollectionSearch): MaybePromise<Candidates | undefined> {
    const collection = this.collections.get(search.collection);
    if (collection === undefined || collection.ended) return undefined;
    for (const term of collection.outdated(search.terms)) this.requestIndex(search.collection, term);
    return collection.find(search);
  }

  /** Returns the end of building an index for a search; undefined if none is built, or it couldn't answer the search. */
  private buildingFor({ collection, terms, at }: CollectionSearch): Promise<void> | undefined {
    if (this.current === undefined || at !== undefined) return undefined;
    const { usage, done } = this.current;
    const isBuilt = usage.collection === collection && terms.some((term) => isSameTerm(term, usage.term));
    return isBuilt ? done : undefined;
  }

  /** Whether a scan for these terms will soon be replaced by an index: one may be built, and isn't. */
  expectsIndex({ collection, terms }: Pick<CollectionSearch, "collection" | "terms">): MaybePromise<boolean> {
    const indexes = this.collections.get(collection);
    const now = this.clock.monotonicNow();
    const isExpected = terms.some((term) => {
      const usage = this.usages.get(idOf(collection, term));
      return indexes?.has(term) !== true && usage !== undefined && now >= usage.notBefore;
    });
    return (
      isExpected && andThen(this.store.count(collection), (objects) => objects >= this.limits.leastObjects)
    );
  }

  /** Records that a list for these terms read a number of objects without selecting them. */
  scanned({ collection, terms }: Pick<CollectionSearch, "collection" | "terms">, unselected: number): void {
    for (const term of terms) {
      const usage = this.usages.get(idOf(collection, term));
      if (usage === undefined) continue;
      usage.unselected += unselected;
      const there = this.collections.get(collection)?.has(term);
      if (usage.unselected >= this.limits.leastObjects && !there) this.requestIndex(collection, term);
    }
  }

  get counters(): SelectorCounters {
    let indexes = 0;
    for (const collection of this.collections.values()) indexes += collection.size;
    return { ...this.counts, indexes, bytes: this.bytes };
  }

  /** Resolves when no index is being built. */
  async settled(): Promise<void> {
    while (this.building !== undefined) await this.building;
  }

  async close(): Promise<void> {
    this.closed = true;
    this.timer?.cancel();
    this.waiting.clear();
    for (const collection of this.collections.values()) collection.close();
    this.collections.clear();
    await this.building;
  }

  private get bytes(): number {
    let bytes = 0;
    for (const collection of this.collections.values()) bytes += collection.bytes;
    return bytes;
  }

  private count(candidates: Candidates | undefined): Candidates | undefined {
    if (candidates === undefined) this.counts.scanned++;
    else this.counts.fromIndex++;
    return candidates;
  }

  private use(collection: string, { of, name }: TermName): void {
    const id = idOf(collection, { of, name });
    const usage = this.usages.get(id) ?? {
      collection,
      term: { of, name },
      unselected: 0,
      usedAt: 0,
      notBefore: 0,
    };
    usage.usedAt = this.clock.monotonicNow();
    this.usages.delete(id);
    this.usages.set(id, usage);
    if (this.usages.size > maxTermUsages) {
      for (const oldest of this.usages.values()) return this.forget(oldest);
    }
    this.timer ??= this.clock.setTimer(() => this.sweep(), sweepMs);
  }

  /** Requests an index, unless building it failed a short time ago. */
  private requestIndex(collection: string, term: TermName): void {
    const usage = this.usages.get(idOf(collection, term));
    if (usage === undefined || this.closed || this.clock.monotonicNow() < usage.notBefore) return;
    this.waiting.add(usage);
    this.building ??= this.buildAll().finally(() => (this.building = undefined));
    detach(this.building, this.failed);
  }

  private async buildAll(): Promise<void> {
    for (const usage of this.waiting) {
      const done = this.buildOrReport(usage);
      this.current = { usage, done };
      await done;
      this.current = undefined;
      this.waiting.delete(usage);
    }
  }

  private async buildOrReport(usage: TermUsage): Promise<void> {
    try {
      await this.build(usage);
    } catch (error) {
      const isCompacted = error instanceof RevisionCompactedError;
      usage.notBefore = this.clock.monotonicNow() + (isCompacted ? sweepMs : retryMs);
      if (!this.closed && !isCompacted) this.failed(error);
    }
  }

  private async build(usage: TermUsage): Promise<void> {
    const { collection: prefix, term } = usage;
    const objects = await this.store.count(prefix);
    if (this.closed || objects < this.limits.leastObjects || usage.unselected < objects * worthPart) return;
    const collection = await this.collection(prefix);
    if (collection === undefined) return;
    this.makeRoom(usage);
    usage.unselected = 0;
    if (await collection.build(term, () => this.fits(usage))) return;
    usage.notBefore = this.clock.monotonicNow() + retryMs;
  }

  private async collection(prefix: string): Promise<CollectionIndex | undefined> {
    const existing = this.collections.get(prefix);
    if (existing !== undefined && !existing.ended) return existing;
    const latest = await this.store.latestRevision();
    if (this.closed) return undefined;
    const created = new CollectionIndex(this.store, prefix, latest, () => this.grown(), this.limits);
    this.collections.set(prefix, created);
    return created;
  }

  /** Drops the least recently used index of a collection that has the most allowed. */
  private makeRoom({ collection }: TermUsage): void {
    const indexes = this.collections.get(collection);
    for (const usage of this.usages.values()) {
      if (indexes === undefined || indexes.size < this.limits.termsOfCollection) return;
      if (usage.collection === collection) indexes.drop(usage.term);
    }
  }

  /** Whether an index that is being built is within the memory limit; drops less recently used ones before. */
  private fits(usage: TermUsage): boolean {
    const id = idOf(usage.collection, usage.term);
    for (const [other, one] of this.usages) {
      if (this.bytes <= this.limits.totalBytes) return true;
      if (other !== id) this.collections.get(one.collection)?.drop(one.term);
    }
    if (this.bytes <= this.limits.totalBytes) return true;
    this.counts.tooLarge++;
    return false;
  }

  /** Drops indexes, least recently used first, until the memory limit is kept. */
  private grown(): void {
    for (const usage of this.usages.values()) {
      if (this.bytes <= this.limits.totalBytes) return;
      const collection = this.collections.get(usage.collection);
      if (collection?.has(usage.term) !== true) continue;
      collection.drop(usage.term);
      usage.notBefore = this.clock.monotonicNow() + retryMs;
      this.counts.tooLarge++;
    }
  }

  private sweep(): void {
    this.timer = undefined;
    const before = this.clock.monotonicNow() - this.limits.idleMs;
    for (const usage of this.usages.values()) if (usage.usedAt < before) this.forget(usage);
    for (const [prefix, collection] of this.collections) {
      if (collection.size > 0 || this.building !== undefined) continue;
      collection.close();
      this.collections.delete(prefix);
    }
    if (!this.closed && this.usages.size > 0) {
      this.timer = this.clock.setTimer(() => this.sweep(), sweepMs);
    }
  }

  private forget(usage: TermUsage): void {
    this.usages.delete(idOf(usage.collection, usage.term));
    this.waiting.delete(usage);
    this.collections.get(usage.collection)?.drop(usage.term);
  }
}

function isSameTerm(a: TermName, b: TermName): boolean {
  return a.of === b.of && a.name === b.name;
}

/** Maximum number of labels and fields, of all collections, whose use is recorded. */
const maxTermUsages = 256;

function idOf(collection: string, { of, name }: TermName): string {
  return `${collection} ${of} ${name}`;
}
