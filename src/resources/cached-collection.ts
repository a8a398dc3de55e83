import type { MaybePromise } from "../base/maybe-promise.ts";
import { compareKeys } from "../storage/keys.ts";
import type { Entry, RangePage, Revision, Store, StoreEvent, Subscription } from "../storage/store.ts";
import { entriesIn, joinBodies, stretchOf } from "./joined-bodies.ts";

/** Neighbouring keys of a collection, unchanged since they were read. */
interface Segment {
  /** Keys above this one; undefined: from the first. */
  readonly after: string | undefined;
  /** Up to and including this one; undefined: to the end. */
  readonly last: string | undefined;
  readonly entries: readonly Entry[];
  readonly joined: Buffer;
  /** The revision at which it was read. */
  readonly since: Revision;
}

/** What a collection's cache has for a request. */
export interface CachedPage {
  readonly entries: readonly Entry[];
  readonly joined: Buffer;
  readonly more: boolean;
}

/** The cached segments of one collection, kept true by a subscription. */
export class CachedCollection {
  private segments: Segment[] = [];
  private readonly subscription: Subscription;
  /** Once too large, it is read from the store until it is forgotten among the collections that aren't used. */
  private tooLarge = false;
  /** Bytes of the bodies that are kept. */
  bytes = 0;
  /** The subscription is gone, so nothing here can be relied on. */
  ended = false;

  /** @param latest the store's latest revision. */
  constructor(store: Store, prefix: string, latest: Revision) {
    this.subscription = store.subscribe(
      { prefix, after: latest },
      { events: (batch) => this.forget(batch), ended: () => this.end() },
    );
  }

  /** Takes in every write acknowledged before the call; gives the revision reached. */
  sync(): MaybePromise<Revision> {
    return this.subscription.sync();
  }

  /** The rest of the segment that holds the first key above `after`, if it is the same at revision `at`. */
  find(after: string | undefined, at: Revision): CachedPage | undefined {
    const segment = this.segments.find((one) => this.holdsNext(one, after));
    if (segment === undefined || segment.since > at) return undefined;
    const more = segment.last !== undefined;
    if (after === segment.after || after === undefined) return { ...segment, more };
    const entries = segment.entries.filter((entry) => compareKeys(entry.key, after) > 0);
    if (entries.length === 0 && more) return undefined;
    return { entries, joined: stretchOf(entries, segment.joined), more };
  }

  /** Keeps a page that was just read above `after`; gives its joined bodies when it is kept. */
  insert(after: string | undefined, page: RangePage, maxBytes: number): Buffer | undefined {
    if (this.ended || this.tooLarge || this.subscription.position > page.revision) return undefined;
    if (this.segments.some((one) => this.holdsNext(one, after))) return undefined;
    const joined = joinBodies(page.entries);
    if (this.bytes + joined.length > maxBytes) {
      this.tooLarge = true;
      this.clear();
      return undefined;
    }
    const last = page.more ? page.entries.at(-1)?.key : undefined;
    const entries = entriesIn(joined, page.entries);
    this.segments.push({ after, last, entries, joined, since: page.revision });
    this.bytes += joined.length;
    return joined;
  }

  close(): void {
    this.end();
    this.subscription.close();
  }

  private holdsNext({ after, last }: Segment, key: string | undefined): boolean {
    if (key === undefined) return after === undefined;
    const above = after === undefined || compareKeys(after, key) <= 0;
    return above && (last === undefined || compareKeys(key, last) < 0);
  }

  /** Drops the segments in which something changed. */
  private forget(batch: readonly StoreEvent[]): void {
    for (const { key } of batch) {
      if (this.segments.length === 0) return;
      const at = this.segments.findIndex((one) => this.covers(one, key));
      if (at === -1) continue;
      this.bytes -= this.segments[at]!.joined.length;
      this.segments.splice(at, 1);
    }
  }

  /** Whether a key lies in a segment's range, whether or not it is there. */
  private covers({ after, last }: Segment, key: string): boolean {
    const above = after === undefined || compareKeys(after, key) < 0;
    return above && (last === undefined || compareKeys(key, last) <= 0);
  }

  private end(): void {
    this.ended = true;
    this.clear();
  }

  private clear(): void {
    this.segments = [];
    this.bytes = 0;
  }
}
