import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import { createYielder } from "../../base/turns/yielding.ts";
import { compareKeys } from "../keys.ts";
import type { Entry, RangeOptions, RangePage, Revision, Store } from "../store.ts";
import { isMarker, markerKey, shownKey } from "./hidden-keys.ts";

/** Maximum number of keys and bytes that are read of one of the stores at once. */
const pageKeys = 500;
const pageBytes = 1024 * 1024;

/** The keys of one store under a prefix, read in pages. */
class Cursor {
  private page: readonly Entry[] = [];
  private index = 0;
  private more = true;
  private after: string | undefined;

  /** @param at absent: the latest at the first page. */
  constructor(
    private readonly store: Store,
    private readonly prefix: string,
    start: string | undefined,
    public at: Revision | undefined,
    private readonly limit: number,
  ) {
    this.after = start;
  }

  /** Reads the first page. */
  begin(): MaybePromise<void> {
    return this.read();
  }

  /** Whether the next entry is unknown until {@link read} has read a page. */
  get isDrained(): boolean {
    return this.index >= this.page.length && this.more;
  }

  /** The next entry; undefined at the end. */
  get next(): Entry | undefined {
    return this.page[this.index];
  }

  skip(): void {
    this.index++;
  }

  read(): MaybePromise<void> {
    const { prefix, after, at, limit } = this;
    return andThen(this.store.range({ prefix, after, at, limit, maxBytes: pageBytes }), (page) => {
      this.at = page.revision;
      this.page = page.entries;
      this.index = 0;
      this.more = page.more;
      this.after = page.entries.at(-1)?.key ?? after;
    });
  }
}

/** A page of a derived store: the keys of its own store, and those of the base that aren't hidden. */
export class MergedRange {
  private readonly own: Cursor;
  private readonly base: Cursor;

  constructor(
    own: Store,
    base: Store,
    start: Revision,
    private readonly options: RangeOptions,
  ) {
    const { prefix, after, at, limit = Infinity } = options;
    const keys = Math.min(pageKeys, limit + 1);
    // The marker of the last key of the page before isn't part of this one.
    this.own = new Cursor(own, prefix, after && markerKey(after), at, keys);
    this.base = new Cursor(base, prefix, after, start, keys);
  }

  async read(): Promise<RangePage> {
    const { limit = Infinity, maxBytes = Infinity } = this.options;
    const entries: Entry[] = [];
    const yieldIfDue = createYielder();
    let bytes = 0;
    const { own, base } = this;
    await own.begin();
    const revision = own.at!;
    for (;;) {
      while (own.isDrained) await own.read();
      while (base.isDrained) await base.read();
      if (own.next === undefined && base.next === undefined) return { revision, entries, more: false };
      const entry = this.take();
      if (entry === undefined) continue;
      if (own.isDrained) await own.read();
      // The marker of an own key follows it.
      if (own.next?.key === markerKey(entry.key)) own.skip();
      if (entries.length >= limit || (entries.length > 0 && bytes >= maxBytes))
        return { revision, entries, more: true };
      entries.push(entry);
      bytes += entry.body.length;
      const pause = yieldIfDue();
      if (pause !== undefined) await pause;
    }
  }

  /** Takes the next key; returns its entry, or undefined if it is hidden. */
  private take(): Entry | undefined {
    const [own, base] = [this.own.next, this.base.next];
    const isOwn = base === undefined || (own !== undefined && compareKeys(shownKey(own.key), base.key) <= 0);
    if (!isOwn) {
      this.base.skip();
      return base;
    }
    if (base?.key === shownKey(own!.key)) this.base.skip();
    this.own.skip();
    return isMarker(own!.key) ? undefined : own;
  }
}
