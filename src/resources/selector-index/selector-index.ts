import type { Clock, Timer } from "../../base/clock.ts";
import { andThen, detach, type MaybePromise } from "../../base/maybe-promise.ts";
import { RevisionCompactedError, type Store } from "../../storage/store.ts";
import {
  CollectionIndex,
  type Candidates,
  type CollectionIndexLimits,
  type Search,
} from "./collection-index.ts";
import type { TermName } from "./term-index.ts";

/** Bounds of what is kept. */
export interface SelectorIndexLimits extends CollectionIndexLimits {
  /** The most memory that all indexes take, in bytes, roughly. */
  readonly totalBytes: number;
  /** The most labels and fields of one collection that have an index at a time. */
  readonly termsOfCollection: number;
  /** Collections with fewer objects are always scanned. */
  readonly leastObjects: number;
  /** An index that wasn't asked for so long is forgotten, in milliseconds. */
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

/** An index is made once lists have looked in vain at as many objects as this part of the collection. */
const worthPart = 1 / 2;
/** After an index couldn't be made, it is tried again after this time at the earliest. */
const refusedMs = 10 * 60_000;
/** How often it is looked which indexes aren't used. */
const sweepMs = 60_000;

/** What became of filtered lists, and what the indexes take. */
export interface SelectorCounters {
  /** Lists that were answered from an index. */
  readonly fromIndex: number;
  /** Lists for which the objects were looked through. */
  readonly scanned: number;
  /** Indexes of labels and fields, and roughly the memory that they take. */
  readonly indexes: number;
  readonly bytes: number;
  /** Indexes that weren't made, or were given up, as memory would have gone past the bound. */
  readonly tooLarge: number;
}

/** A search, and the whole collection in which it is. */
export interface CollectionSearch extends Search {
  readonly collection: string;
}

/** What is remembered of a label or field of a collection, whether or not there is an index of it. */
interface Interest {
  readonly collection: string;
  readonly term: TermName;
  /** How many objects were looked at in vain for it. */
  inVain: number;
  usedAt: number;
  /** No index is made before. */
  notBefore: number;
}

/**
 * Indexes of the labels and selectable fields by which large collections are searched. One is made, in the background, once
 * lists have looked in vain at half as many objects as the collection has, is kept true by the store's events, and is forgotten
 * when it wasn't used for a while, or when others need its memory. Until there is one, lists scan.
 */
export class SelectorIndex {
  private readonly collections = new Map<string, CollectionIndex>();
  /** The least lately used first. */
  private readonly interests = new Map<string, Interest>();
  private readonly counts = { fromIndex: 0, scanned: 0, tooLarge: 0 };
  /** Indexes are made one after the other. */
  private building: Promise<void> | undefined;
  private readonly waiting = new Set<Interest>();
  private timer: Timer | undefined;
  private closed = false;

  constructor(
    private readonly store: Store,
    private readonly clock: Clock,
    /** Told why an index couldn't be made. */
    private readonly failed: (error: unknown) => void,
    private readonly limits: SelectorIndexLimits = defaultLimits,
  ) {}

  /** Finds the objects that may be selected; undefined where the collection has to be scanned, with the store's errors. */
  find(search: CollectionSearch): MaybePromise<Candidates | undefined> {
    const collection = this.collections.get(search.collection);
    for (const term of search.terms) this.use(search.collection, term);
    if (collection === undefined || collection.ended) return this.count(undefined);
    for (const term of collection.outdated(search.terms)) this.want(search.collection, term);
    return andThen(collection.find(search), (found) => this.count(found));
  }

  /** Takes note that a list for these terms looked at so many objects in vain. */
  scanned({ collection, terms }: Pick<CollectionSearch, "collection" | "terms">, inVain: number): void {
    for (const term of terms) {
      const interest = this.interests.get(idOf(collection, term));
      if (interest === undefined) continue;
      interest.inVain += inVain;
      const there = this.collections.get(collection)?.has(term);
      if (interest.inVain >= this.limits.leastObjects && !there) this.want(collection, term);
    }
  }

  get counters(): SelectorCounters {
    let indexes = 0;
    for (const collection of this.collections.values()) indexes += collection.size;
    return { ...this.counts, indexes, bytes: this.bytes };
  }

  /** Resolves when no index is being made. */
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

  private count(found: Candidates | undefined): Candidates | undefined {
    if (found === undefined) this.counts.scanned++;
    else this.counts.fromIndex++;
    return found;
  }

  private use(collection: string, { of, name }: TermName): void {
    const id = idOf(collection, { of, name });
    const interest = this.interests.get(id) ?? {
      collection,
      term: { of, name },
      inVain: 0,
      usedAt: 0,
      notBefore: 0,
    };
    interest.usedAt = this.clock.monotonicNow();
    this.interests.delete(id);
    this.interests.set(id, interest);
    if (this.interests.size > maxInterests) {
      for (const oldest of this.interests.values()) return this.forget(oldest);
    }
    this.timer ??= this.clock.setTimer(() => this.sweep(), sweepMs);
  }

  /** Has an index made, unless there was a reason not to a short time ago. */
  private want(collection: string, term: TermName): void {
    const interest = this.interests.get(idOf(collection, term));
    if (interest === undefined || this.closed || this.clock.monotonicNow() < interest.notBefore) return;
    this.waiting.add(interest);
    this.building ??= this.buildAll().finally(() => (this.building = undefined));
    detach(this.building, this.failed);
  }

  private async buildAll(): Promise<void> {
    for (const interest of this.waiting) {
      try {
        await this.build(interest);
      } catch (error) {
        const outrun = error instanceof RevisionCompactedError;
        interest.notBefore = this.clock.monotonicNow() + (outrun ? sweepMs : refusedMs);
        if (!this.closed && !outrun) this.failed(error);
      }
      this.waiting.delete(interest);
    }
  }

  private async build(interest: Interest): Promise<void> {
    const { collection: prefix, term } = interest;
    const objects = await this.store.count(prefix);
    if (this.closed || objects < this.limits.leastObjects || interest.inVain < objects * worthPart) return;
    const collection = await this.collection(prefix);
    if (collection === undefined) return;
    this.makeRoom(interest);
    interest.inVain = 0;
    if (await collection.build(term, () => this.fits(interest))) return;
    interest.notBefore = this.clock.monotonicNow() + refusedMs;
  }

  private async collection(prefix: string): Promise<CollectionIndex | undefined> {
    const found = this.collections.get(prefix);
    if (found !== undefined && !found.ended) return found;
    const latest = await this.store.latestRevision();
    if (this.closed) return undefined;
    const made = new CollectionIndex(this.store, prefix, latest, () => this.grown(), this.limits);
    this.collections.set(prefix, made);
    return made;
  }

  /** Forgets the index used longest ago where the collection has as many as it may. */
  private makeRoom({ collection }: Interest): void {
    const kept = this.collections.get(collection);
    for (const interest of this.interests.values()) {
      if (kept === undefined || kept.size < this.limits.termsOfCollection) return;
      if (interest.collection === collection) kept.drop(interest.term);
    }
  }

  /** Whether there is memory for one that is being made, when others that were used less lately have made room for it. */
  private fits(interest: Interest): boolean {
    const id = idOf(interest.collection, interest.term);
    for (const [other, one] of this.interests) {
      if (this.bytes <= this.limits.totalBytes) return true;
      if (other !== id) this.collections.get(one.collection)?.drop(one.term);
    }
    if (this.bytes <= this.limits.totalBytes) return true;
    this.counts.tooLarge++;
    return false;
  }

  /** Keeps within the bound when indexes have grown with what they index. */
  private grown(): void {
    for (const interest of this.interests.values()) {
      if (this.bytes <= this.limits.totalBytes) return;
      const collection = this.collections.get(interest.collection);
      if (collection?.has(interest.term) !== true) continue;
      collection.drop(interest.term);
      interest.notBefore = this.clock.monotonicNow() + refusedMs;
      this.counts.tooLarge++;
    }
  }

  private sweep(): void {
    this.timer = undefined;
    const before = this.clock.monotonicNow() - this.limits.idleMs;
    for (const interest of this.interests.values()) if (interest.usedAt < before) this.forget(interest);
    for (const [prefix, collection] of this.collections) {
      if (collection.size > 0 || this.building !== undefined) continue;
      collection.close();
      this.collections.delete(prefix);
    }
    if (!this.closed && this.interests.size > 0) {
      this.timer = this.clock.setTimer(() => this.sweep(), sweepMs);
    }
  }

  private forget(interest: Interest): void {
    this.interests.delete(idOf(interest.collection, interest.term));
    this.waiting.delete(interest);
    this.collections.get(interest.collection)?.drop(interest.term);
  }
}

/** How many labels and fields are remembered at a time, over all collections. */
const maxInterests = 256;

function idOf(collection: string, { of, name }: TermName): string {
  return `${collection} ${of} ${name}`;
}
