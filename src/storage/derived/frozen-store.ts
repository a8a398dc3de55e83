import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import { compareKeys, prefixEnd } from "../keys.ts";
import { pagesOf } from "../range-pages.ts";
import { StoreView } from "../store-view.ts";
import type {
  CommitResult,
  Entry,
  RangeOptions,
  RangePage,
  Revision,
  Store,
  TransactionResult,
} from "../store.ts";

/** Number of entries that are read at once. */
const pageKeys = 500;

/** The entries of a state, in key order. */
interface LoadedState {
  readonly entries: readonly Entry[];
  readonly byKey: ReadonlyMap<string, Entry>;
}

/**
 * A state of a store at one revision, read at its first use and kept in memory, so that many derived stores share its entries. It is for
 * small states; only this revision can be read, and nothing is written.
 */
export class FrozenStore extends StoreView {
  private loaded: LoadedState | undefined;
  private loading: Promise<LoadedState> | undefined;
  readonly keepsEntries = true;

  /** @param at must be pinned. */
  constructor(
    inner: Store,
    private readonly at: Revision,
  ) {
    super(inner);
  }

  override get history(): undefined {
    return undefined;
  }

  get(key: string): MaybePromise<Entry | undefined> {
    return andThen(this.state(), ({ byKey }) => byKey.get(key));
  }

  range({ prefix, after, limit = Infinity, maxBytes = Infinity }: RangeOptions): MaybePromise<RangePage> {
    return andThen(this.state(), ({ entries }) => {
      const end = prefix === "/" ? entries.length : indexOf(entries, prefixEnd(prefix));
      let index = indexOf(entries, prefix);
      if (after !== undefined) index = Math.max(index, indexOf(entries, `${after}\0`));
      const start = index;
      let bytes = 0;
      while (index < end && index - start < limit && bytes < maxBytes) bytes += entries[index++]!.body.length;
      return { revision: this.at, entries: entries.slice(start, index), more: index < end };
    });
  }

  override count(prefix: string): MaybePromise<number> {
    return andThen(this.range({ prefix }), ({ entries }) => entries.length);
  }

  private state(): MaybePromise<LoadedState> {
    return this.loaded ?? (this.loading ??= this.load());
  }

  private async load(): Promise<LoadedState> {
    try {
      const entries: Entry[] = [];
      for await (const page of pagesOf(this.inner, { prefix: "/", at: this.at, limit: pageKeys }))
        entries.push(...page.entries);
      const byKey = new Map(entries.map((entry) => [entry.key, entry]));
      this.loaded = { entries, byKey };
      return this.loaded;
    } finally {
      this.loading = undefined;
    }
  }

  commit(): Promise<CommitResult> {
    return Promise.reject(new TypeError("a state of the past can't be written"));
  }

  transact(): Promise<TransactionResult> {
    return this.commit() as Promise<never>;
  }

  /** Leaves the other store open, because its users share it. */
  override close(): Promise<void> {
    return Promise.resolve();
  }
}

/** Returns the index of the first entry whose key isn't below another one. */
function indexOf(entries: readonly Entry[], key: string): number {
  let [low, high] = [0, entries.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareKeys(entries[middle]!.key, key) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
