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
  async begin(): Promise<void> {
    await this.read();
  }

  /** The next entry; undefined at the end. */
  async peek(): Promise<Entry | undefined> {
    while (this.index >= this.page.length && this.more) await this.read();
    return this.page[this.index];
  }

  skip(): void {
    this.index++;
  }

  private async read(): Promise<void> {
    const { prefix, after, at, limit } = this;
    const page = await this.store.range({ prefix, after, at, limit, maxBytes: pageBytes });
    this.at = page.revision;
    this.page = page.entries;
    this.index = 0;
    this.more = page.more;
    this.after = page.entries.at(-1)?.key ?? after;
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
    await this.own.begin();
    const revision = this.own.at!;
    for (;;) {
      const entry = await this.next();
      if (entry === undefined) return { revision, entries, more: false };
      if (entries.length >= limit || (entries.length > 0 && bytes >= maxBytes))
        return { revision, entries, more: true };
      entries.push(entry);
      bytes += entry.body.length;
      await yieldIfDue();
    }
  }

  /** Returns the next visible entry. */
  private async next(): Promise<Entry | undefined> {
    for (;;) {
      const own = await this.own.peek();
      const base = await this.base.peek();
      if (own === undefined && base === undefined) return undefined;
      const isOwn =
        base === undefined || (own !== undefined && compareKeys(shownKey(own.key), base.key) <= 0);
      if (!isOwn) {
        this.base.skip();
        return base;
      }
      const key = shownKey(own!.key);
      if (base?.key === key) this.base.skip();
      this.own.skip();
      if (isMarker(own!.key)) continue;
      const marker = await this.own.peek();
      if (marker?.key === markerKey(key)) this.own.skip();
      return own;
    }
  }
}
