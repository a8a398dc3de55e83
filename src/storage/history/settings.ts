/** Which collections are kept, since when, and the floors of those that were too large; stored beside the records. */
import type { Clock } from "../../base/time/clock.ts";
import { draftOf, revisionOf } from "../entry.ts";
import { withoutKeyspace } from "../keys.ts";
import { deleteKeys } from "../range-pages.ts";
import type { CollectionRetention } from "../store-history.ts";
import { StoreDamagedError, type Draft, type Entry, type Revision, type Store } from "../store.ts";

/** Which history is kept. */
export interface HistoryOptions {
  readonly clock: Clock;
  /** By the prefix of the collection (`/{group}/{resource}/`), in all keyspaces. */
  readonly collections: ReadonlyMap<string, CollectionRetention>;
  /** The retention of other collections that `isIncluded` accepts; absent if their history isn't kept. */
  readonly others?:
    (CollectionRetention & { readonly isIncluded: (collection: string) => boolean }) | undefined;
  /** Whether revisions can be pinned; each write has a condition on the pins then. */
  readonly pins?: boolean | undefined;
  /** Whether this process drops what exceeds the limits; at least one of those that have the store open must. */
  readonly drops: boolean;
  /** Called when background work has failed; it will be retried. */
  readonly failed: (error: unknown) => void;
}

const settingsKey = "/~/kept//settings";
const floorsPrefix = "/~/floors//";
/** Name of the rule for collections without one of their own. */
export const othersRule = "*";

const minSweepPauseMs = 30_000;

/** The revision since which each rule holds; null for that of the settings themselves. */
type Since = Readonly<Record<string, number | null>>;

/** The settings of a store whose history is kept. */
export class HistorySettings {
  private constructor(
    private readonly store: Store,
    private readonly options: HistoryOptions,
    private readonly since: ReadonlyMap<string, Revision>,
  ) {}

  /** Stores the settings of the options if they differ from the stored ones. A rule that was there before keeps its beginning. */
  static async enter(store: Store, options: HistoryOptions): Promise<HistorySettings> {
    const { collections, others } = options;
    const rules = [...collections.keys(), ...(others === undefined ? [] : [othersRule])];
    for (;;) {
      const stored = await store.get(settingsKey);
      const before = stored === undefined ? {} : sinceIn(stored);
      const next: Record<string, number | null> = {};
      for (const rule of rules) next[rule] = before[rule] ?? before[othersRule] ?? null;
      const isSame =
        stored !== undefined &&
        rules.length === Object.keys(before).length &&
        rules.every((rule) => rule in before);
      if (isSame) return new HistorySettings(store, options, new Map(entriesOf(before)));
      const draft = draftWith(next);
      const result = await store.commit(
        stored === undefined
          ? { kind: "create", key: settingsKey, draft }
          : { kind: "update", key: settingsKey, expected: stored.revision, draft },
      );
      if (result.ok) return new HistorySettings(store, options, new Map(entriesOf(sinceIn(result.entry))));
    }
  }

  /** Returns the rules of the stored settings: prefixes of collections, and `*` for others; undefined if no history is kept. */
  static async storedRules(store: Store): Promise<readonly string[] | undefined> {
    const stored = await store.get(settingsKey);
    return stored && Object.keys(sinceIn(stored));
  }

  /** Removes the settings; returns whether there were some. */
  static async remove(store: Store): Promise<boolean> {
    for (;;) {
      const stored = await store.get(settingsKey);
      if (stored === undefined) return false;
      const { ok } = await store.commit({ kind: "delete", key: settingsKey, expected: stored.revision });
      if (ok) return true;
    }
  }

  /** Returns the retention of a collection; undefined if its history isn't kept. */
  retentionOf(collection: string): CollectionRetention | undefined {
    const { collections, others } = this.options;
    const inner = withoutKeyspace(collection);
    const own = collections.get(inner);
    if (own !== undefined || others === undefined) return own;
    return others.isIncluded(inner) ? others : undefined;
  }

  /** Whether no history is kept; then there may be pins. */
  get isEmpty(): boolean {
    return this.retentions().length === 0;
  }

  get shortestMs(): number {
    return Math.min(...this.retentions().map(({ ms }) => ms));
  }

  get longestMs(): number {
    return Math.max(0, ...this.retentions().map(({ ms }) => ms));
  }

  /** Time between two rounds of {@link Sweep}, in milliseconds. */
  get sweepPauseMs(): number {
    const hasSizes = this.retentions().some(({ bytes }) => bytes !== undefined);
    return Math.min(
      Math.max(this.shortestMs / 10, minSweepPauseMs),
      hasSizes ? 10 * minSweepPauseMs : 3_600_000,
    );
  }

  private retentions(): CollectionRetention[] {
    const { collections, others } = this.options;
    return [...collections.values(), ...(others === undefined ? [] : [others])];
  }

  /** The revision since which any history is kept. */
  get oldestSince(): Revision {
    return revisionOf(Math.min(Number.MAX_SAFE_INTEGER, ...this.since.values()));
  }

  /** Returns the revision since which a collection is kept, or up to which it was dropped because of its size. */
  async floorOf(collection: string): Promise<Revision> {
    const since = this.since.get(withoutKeyspace(collection)) ?? this.since.get(othersRule)!;
    const stored = await this.store.get(floorKey(collection));
    return stored === undefined ? since : revisionOf(Math.max(since, numberIn(stored)));
  }

  /** Removes the floors of the collections that begin with a text. */
  async forget(start: string, ending: AbortSignal | undefined): Promise<void> {
    await deleteKeys(this.store, floorsPrefix + start.slice(1), ending);
  }

  /** Raises the floor of a collection. */
  async raise(collection: string, floor: Revision): Promise<void> {
    const key = floorKey(collection);
    for (;;) {
      const stored = await this.store.get(key);
      if (stored !== undefined && numberIn(stored) >= floor) return;
      const draft = draftOfText(String(floor));
      const result = await this.store.commit(
        stored === undefined
          ? { kind: "create", key, draft }
          : { kind: "update", key, expected: stored.revision, draft },
      );
      if (result.ok) return;
    }
  }
}

function floorKey(collection: string): string {
  return floorsPrefix + collection.slice(1, -1).replaceAll("/", "~");
}

function draftOfText(text: string): Draft {
  return { header: new Uint8Array(), body: Buffer.from(`:${text}`), revisionAt: 0 };
}

function textIn(entry: Entry): string {
  return Buffer.from(draftOf(entry).body).toString("utf8", 1);
}

function numberIn(entry: Entry): number {
  return Number(textIn(entry));
}

function draftWith(since: Since): Draft {
  return draftOfText(JSON.stringify(since));
}

/** @throws {StoreDamagedError} the settings can't be read. */
function sinceIn(entry: Entry): Readonly<Record<string, number>> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(textIn(entry));
  } catch (error) {
    throw new StoreDamagedError(`the settings of the history can't be read: ${String(error)}`);
  }
  const since = parsed as Since;
  return Object.fromEntries(
    Object.entries(since).map(([rule, revision]) => [rule, revision ?? entry.revision]),
  );
}

function entriesOf(since: Readonly<Record<string, number>>): [string, Revision][] {
  return Object.entries(since).map(([rule, revision]) => [rule, revisionOf(revision)]);
}
