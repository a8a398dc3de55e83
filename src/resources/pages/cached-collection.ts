import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import { compareKeys } from "../../storage/keys.ts";
import type { Entry, RangePage, Revision, Store, StoreEvent, Subscription } from "../../storage/store.ts";
import {
  entriesIn,
  headerBytes,
  joinBodies,
  stretchOf,
  type ItemForm,
  type JoinedEntry,
} from "./joined-bodies.ts";
import { PageForms, type StretchForms } from "./page-forms.ts";

/** A range of keys of a collection whose entries are unchanged since they were read. */
interface Segment {
  /** Exclusive lower bound; undefined for the start of the collection. */
  readonly after: string | undefined;
  /** Inclusive upper bound; undefined for the end of the collection. */
  readonly last: string | undefined;
  readonly entries: readonly JoinedEntry[];
  readonly joined: Buffer;
  /** Bytes of the bodies and headers. */
  readonly bytes: number;
  readonly forms: PageForms;
  /** The revision at which it was read. */
  readonly since: Revision;
}

/** The cached result of a request. */
export interface CachedPage {
  readonly entries: readonly JoinedEntry[];
  /** The items as one buffer. */
  readonly joined: Buffer;
  /** The forms of the segment, and the index of the first entry in it. */
  readonly forms: PageForms;
  readonly from: number;
  /** All entries of the segment. */
  readonly all: readonly JoinedEntry[];
  /** Whether there are keys above the last entry; undefined if only the store knows. */
  readonly more: boolean | undefined;
}

/** Limits of the cache for one collection, in bytes. */
export interface CollectionLimits {
  /** Of bodies and other forms; forms above it aren't cached. */
  readonly collectionBytes: number;
  /** Of bodies and headers; a collection above it isn't cached as a whole. */
  readonly bodyBytes: number;
  /** Of the newest pages of a larger collection, which are cached while several lists read it at once. */
  readonly windowBytes: number;
  /** Least number of entries of a page that ends at the limit of a list, which is cached when it is read again; by default 100. */
  readonly limitedEntries?: number | undefined;
}

/** A page after its insertion. */
export interface InsertedPage {
  readonly entries: readonly JoinedEntry[];
  readonly joined: Buffer;
  readonly forms: StretchForms;
}

/** The cached segments of one collection; a subscription removes segments with changed keys. */
export class CachedCollection {
  /** In key order, without overlap. */
  private segments: Segment[] = [];
  private readonly subscription: Subscription;
  /** Whether the collection is above the limits; then it isn't cached as a whole until the cache drops it as unused. */
  private tooLarge = false;
  /** Above the limits: the cached segments, oldest first. */
  private readonly window = new Set<Segment>();
  /** Where the newest pages begin that were read from the store and weren't cached unless they are read again. */
  private readonly newestReads = new Set<string>();
  /** The number of such pages that are still cached because several lists read the same ones. */
  private sharedPages = 0;
  /** Bytes of the cached bodies, headers and other forms. */
  bytes = 0;
  /** When it was last read, in milliseconds of the monotonic clock. */
  usedAt = 0;
  /** Whether the subscription has ended, so that the cache can't be used. */
  ended = false;

  /**
   * @param latest the store's latest revision.
   * @param form the form of the collection's items in lists.
   * @param grown called when forms were added.
   */
  constructor(
    store: Store,
    prefix: string,
    latest: Revision,
    private readonly form: ItemForm,
    private readonly limits: CollectionLimits,
    private readonly grown: () => void,
  ) {
    this.subscription = store.subscribe(
      { prefix, after: latest },
      { events: (batch) => this.invalidate(batch), ended: () => this.end() },
    );
  }

  /** Waits for every write that was acknowledged before the call; returns the revision reached. */
  sync(): MaybePromise<Revision> {
    return this.subscription.sync();
  }

  /** The rest of the segment that contains the first key above `after`, if it is the same at the revision `at`. */
  find(after: string | undefined, at: Revision): CachedPage | undefined {
    const index = this.indexBelow(after);
    const segment = this.segments[index];
    if (segment === undefined || segment.since > at || !endsAbove(segment, after)) return undefined;
    const more =
      segment.last === undefined
        ? false
        : segment.since === at || this.hasMore(this.segments[index + 1], segment.last, at);
    const { entries: all, joined, forms } = segment;
    if (this.tooLarge) this.sharedPages = pagesAfterSharing;
    if (after === segment.after) return { entries: all, joined, forms, from: 0, all, more };
    const from = firstAbove(all, after!);
    const entries = all.slice(from);
    return { entries, joined: stretchOf(entries), forms, from, all, more };
  }

  /**
   * Estimates the size of the collection. One above the limits isn't cached as a whole.
   *
   * @param first entries of its first page.
   * @param count number of its objects.
   */
  expect(first: readonly Entry[], count: number): void {
    if (this.tooLarge || bytesOf(first) * (count / first.length) <= this.limits.bodyBytes) return;
    this.tooLarge = true;
    this.clear();
  }

  /**
   * Caches a page that was just read above `after`; undefined if it can't be cached.
   *
   * @param isLimited whether the page ends at the limit of the list: few lists have the same one, and small segments cost more than they
   * save, so only large pages that are read again are cached.
   */
  insert(after: string | undefined, page: RangePage, isLimited: boolean): InsertedPage | undefined {
    if (this.ended || this.subscription.position > page.revision) return undefined;
    if (isLimited && page.entries.length < (this.limits.limitedEntries ?? limitedEntries)) return undefined;
    if ((isLimited || this.tooLarge) && !this.isShared(after)) return undefined;
    const bytes = bytesOf(page.entries);
    const bodies = this.segments.reduce((sum, segment) => sum + segment.bytes, bytes);
    if (!this.tooLarge && bodies > this.limits.bodyBytes) {
      this.tooLarge = true;
      this.clear();
      return undefined;
    }
    // Bodies have priority over other forms.
    if (this.bytes + bytes > this.limits.collectionBytes) this.dropForms();
    const joined = joinBodies(page.entries, this.form);
    const last = page.more ? page.entries.at(-1)?.key : undefined;
    const entries = entriesIn(joined, page.entries, this.form);
    const forms = new PageForms((more) => this.grow(more));
    const segment = { after, last, entries, joined, bytes, forms, since: page.revision };
    this.putSegment(segment);
    if (this.tooLarge) this.shrinkWindow(segment);
    return { entries, joined, forms: forms.stretch(0, entries.length) };
  }

  close(): void {
    this.end();
    this.subscription.close();
  }

  /** Whether keys follow after a segment; undefined if the next segment doesn't show it. */
  private hasMore(next: Segment | undefined, last: string, at: Revision): boolean | undefined {
    if (next === undefined || next.after !== last || next.since > at) return undefined;
    return next.entries.length > 0 ? true : next.last === undefined ? false : undefined;
  }

  /** Inserts a segment and drops those that it overlaps. */
  private putSegment(segment: Segment): void {
    let from = this.indexBelow(segment.after);
    if (from === -1 || !endsAbove(this.segments[from]!, segment.after)) from++;
    let to = from;
    while (to < this.segments.length && beginsBelow(this.segments[to]!, segment.last)) to++;
    for (const dropped of this.segments.splice(from, to - from, segment)) this.drop(dropped);
    this.bytes += segment.bytes;
  }

  /** Drops the segments with changed keys. */
  private invalidate(batch: readonly StoreEvent[]): void {
    for (const { key } of batch) {
      // The segment that begins below the key, not at it: its range is above its `after`.
      let at = this.indexBelow(key);
      if (at !== -1 && this.segments[at]!.after === key) at--;
      const segment = this.segments[at];
      if (segment === undefined || (segment.last !== undefined && compareKeys(segment.last, key) < 0))
        continue;
      this.drop(segment);
      this.segments.splice(at, 1);
    }
  }

  private drop(segment: Segment): void {
    this.window.delete(segment);
    this.bytes -= segment.bytes + segment.forms.drop();
  }

  /** Whether another list has lately read the page after a key, or pages near it, from the store too. */
  private isShared(after = ""): boolean {
    if (this.newestReads.has(after)) this.sharedPages = pagesAfterSharing;
    this.newestReads.add(after);
    if (this.newestReads.size > rememberedReads) {
      const [oldest] = this.newestReads;
      this.newestReads.delete(oldest!);
    }
    if (this.sharedPages === 0) return false;
    this.sharedPages--;
    return true;
  }

  /** Drops the oldest segments of a collection above the limits. */
  private shrinkWindow(newest: Segment): void {
    this.window.add(newest);
    for (const segment of this.window) {
      if (this.bytes <= this.limits.windowBytes || segment === newest) return;
      this.segments.splice(this.segments.indexOf(segment), 1);
      this.drop(segment);
    }
  }

  private dropForms(): void {
    for (const { forms } of this.segments) this.bytes -= forms.forgetAll();
  }

  /** Adds the bytes of forms; false if that exceeds the limit. */
  private grow(bytes: number): boolean {
    if (this.bytes + bytes > this.limits.collectionBytes) return false;
    this.bytes += bytes;
    if (bytes > 0) this.grown();
    return true;
  }

  /** Index of the last segment whose `after` is at or below a key (undefined: below every key); -1 if there is none. */
  private indexBelow(key: string | undefined): number {
    let low = 0;
    let high = this.segments.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const { after } = this.segments[middle]!;
      if (after === undefined || (key !== undefined && compareKeys(after, key) <= 0)) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  private end(): void {
    this.ended = true;
    this.clear();
  }

  private clear(): void {
    for (const { forms } of this.segments) forms.drop();
    this.segments = [];
    this.window.clear();
    this.bytes = 0;
  }
}

/** Bytes of the bodies and headers of a page. */
function bytesOf(entries: readonly Entry[]): number {
  return entries.reduce((sum, { body }) => sum + body.length, entries.length + headerBytes(entries));
}

/** Pages that are cached after two lists have read the same page of a collection above the limits. */
const pagesAfterSharing = 64;
/** Page reads that are remembered, to notice that. */
const rememberedReads = 64;
const limitedEntries = 100;

/** Whether a segment reaches above a key (undefined: below every key). */
function endsAbove({ last }: Segment, key: string | undefined): boolean {
  return last === undefined || key === undefined || compareKeys(key, last) < 0;
}

/** Whether a segment begins below a key (undefined: above every key). */
function beginsBelow({ after }: Segment, key: string | undefined): boolean {
  return key === undefined || after === undefined || compareKeys(after, key) < 0;
}

/** Index of the first entry above a key. */
function firstAbove(entries: readonly JoinedEntry[], key: string): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compareKeys(entries[middle]!.key, key) <= 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
