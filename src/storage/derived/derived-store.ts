import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import { revisionOf } from "../entry.ts";
import { closedError } from "../feed.ts";
import { assertKey, assertPrefix } from "../keys.ts";
import { PendingOperations } from "../pending-operations.ts";
import { pagesOf } from "../range-pages.ts";
import { StoreView } from "../store-view.ts";
import {
  RevisionCompactedError,
  StoreError,
  type CommitResult,
  type Deferral,
  type DiscardResult,
  type Entry,
  type Listener,
  type RangeOptions,
  type RangePage,
  type Revision,
  type Store,
  type StoreHistory,
  type SubscribeOptions,
  type Subscription,
  type TransactionLimits,
  type TransactionResult,
  type Write,
  type WriteCondition,
} from "../store.ts";
import { assertTransaction, draftBytes, singleResult } from "../transaction.ts";
import { DerivedHistory } from "./derived-history.ts";
import { ShownEvents } from "./shown-events.ts";
import { isMarker, markerDraft, markerKey } from "./hidden-keys.ts";
import { MergedRange } from "./merged-range.ts";

/** Attempts of a write whose keys others change meanwhile. */
const maxAttempts = 50;
/** Number of keys that a count reads at once. */
const countedKeys = 500;
/** A read of one key costs about as much as this number of keys of a page. */
const manyTimes = 8;
/** Bounds the counts of the base that are remembered. */
const maxCounts = 1000;

/** What a derived store is over. */
export interface DerivedOptions {
  /** Has the writes of the derived store: an empty store of the same revision line as the base, such as a keyspace. */
  readonly own: Store;
  /** Has what was there before; nothing is written to it. */
  readonly base: Store;
  /** The state of the base, from whose revision on the derived store exists. It must be pinned as long as the store is in use. */
  readonly at: Revision;
  /** The revision from which on its own writes are over this state, if that is a later one. */
  readonly since?: Revision | undefined;
}

/**
 * Returns a store that begins with the state of another one at a revision: what isn't written in it is read there. Making one costs
 * nothing; it takes space for the keys that are written or deleted in it. It is itself a base for others.
 *
 * It differs from other stores in that its floor isn't below its first revision, and in its limits of transactions, which are half of
 * those of the engine.
 */
export function derivedStore(options: DerivedOptions): Store {
  return new DerivedStore(options);
}

/** The state of a key: the own value, else the marker that hides the base's one, else the base's one. */
interface KeyState {
  readonly own: Entry | undefined;
  readonly marker: Entry | undefined;
  /** Absent if there is an own value or a marker. */
  readonly base: Entry | undefined;
}

/** A write as it is executed in the own store. */
interface OwnWrite {
  readonly writes: readonly Write[];
  /** The result if it differs from that of the first write: the value of the base that is deleted. */
  readonly deleted: Entry | undefined;
}

type Refusal = Extract<CommitResult, { ok: false }>;

class DerivedStore extends StoreView {
  private readonly base: Store;
  private readonly start: Revision;
  private readonly since: Revision;
  private readonly ownHistory: StoreHistory | undefined;
  private readonly baseCounts = new Map<string, number>();
  private readonly eventViews = new ShownEvents();
  private readonly pending = new PendingOperations();
  private closing: Promise<void> | undefined;

  constructor({ own, base, at, since = at }: DerivedOptions) {
    super(own);
    this.base = base;
    this.start = at;
    this.since = revisionOf(Math.max(at, since));
    const { history } = own;
    const baseValue = (key: string) => base.get(key, at);
    this.ownHistory =
      history && new DerivedHistory({ derived: this, own, history, baseValue, since: this.since });
  }

  /** Those of the base are the same objects if the base keeps them. */
  get keepsEntries(): boolean {
    return this.base.keepsEntries === true;
  }

  override get history(): StoreHistory | undefined {
    return this.ownHistory;
  }

  override get transactionLimits(): TransactionLimits {
    const { writes, bytes } = this.inner.transactionLimits;
    return { writes: Math.floor(writes / 2), bytes: Math.floor(bytes / 2) };
  }

  override floor(): MaybePromise<Revision> {
    return andThen(this.inner.floor(), (floor) => revisionOf(Math.max(floor, this.since)));
  }

  override async compact(before: number): Promise<Revision> {
    return revisionOf(Math.max(await this.inner.compact(before), this.since));
  }

  get(key: string, at?: Revision): MaybePromise<Entry | undefined> {
    this.assertExists(at);
    // A client may ask for any name.
    if (isMarker(key)) return undefined;
    // The marker is read first: it appears with the own value, and stays.
    return andThen(this.inner.get(markerKey(key), at), (marker) =>
      andThen(this.inner.get(key, at), (own) => {
        if (own !== undefined || marker !== undefined) return own;
        return this.base.get(key, this.start);
      }),
    );
  }

  private stateOf(key: string): MaybePromise<KeyState> {
    return andThen(this.inner.get(markerKey(key)), (marker) =>
      andThen(this.inner.get(key), (own) => {
        if (own !== undefined || marker !== undefined) return { own, marker, base: undefined };
        return andThen(this.base.get(key, this.start), (base) => ({ own, marker, base }));
      }),
    );
  }

  range(options: RangeOptions): MaybePromise<RangePage> {
    assertPrefix(options.prefix);
    this.assertExists(options.at);
    return new MergedRange(this.inner, this.base, this.start, options).read();
  }

  override async count(prefix: string, at?: Revision): Promise<number> {
    assertPrefix(prefix);
    this.assertExists(at);
    const base = await this.baseCount(prefix);
    const revision = at ?? (await this.inner.latestRevision());
    const own = await this.inner.count(prefix, revision);
    if (own === 0 || base === 0) return base + own;
    // A marker is an own key that hides one of the base.
    const markers =
      base * manyTimes <= own
        ? await this.markersOfBase(prefix, revision)
        : await this.markersAmongOwn(prefix, revision);
    return base + own - 2 * markers;
  }

  /** Counts the markers under a prefix by asking for that of each key of the base. */
  private async markersOfBase(prefix: string, at: Revision): Promise<number> {
    let markers = 0;
    for await (const page of pagesOf(this.base, { prefix, at: this.start, limit: countedKeys })) {
      const read = page.entries.map(({ key }) => this.inner.get(markerKey(key), at));
      for (const marker of await Promise.all(read)) if (marker !== undefined) markers++;
    }
    return markers;
  }

  /** Counts the markers under a prefix by reading all own keys. */
  private async markersAmongOwn(prefix: string, at: Revision): Promise<number> {
    let markers = 0;
    for await (const page of pagesOf(this.inner, { prefix, at, limit: countedKeys }))
      for (const { key } of page.entries) if (isMarker(key)) markers++;
    return markers;
  }

  /** The count of the base, which doesn't change. */
  private async baseCount(prefix: string): Promise<number> {
    const counted = this.baseCounts.get(prefix);
    if (counted !== undefined) return counted;
    const count = await this.base.count(prefix, this.start);
    if (this.baseCounts.size >= maxCounts) this.baseCounts.clear();
    this.baseCounts.set(prefix, count);
    return count;
  }

  async commit(write: Write): Promise<CommitResult> {
    assertKey(write.key);
    return singleResult(await this.executed([write]));
  }

  async transact(writes: readonly Write[]): Promise<TransactionResult> {
    assertTransaction(writes, this.transactionLimits);
    return this.executed(writes);
  }

  private async executed(writes: readonly Write[]): Promise<TransactionResult> {
    if (this.closing !== undefined) throw closedError();
    return this.pending.add(this.execute(writes));
  }

  override close(): Promise<void> {
    return (this.closing ??= this.release());
  }

  private async release(): Promise<void> {
    await this.pending.settled();
    await this.inner.close();
  }

  private async execute(writes: readonly Write[]): Promise<TransactionResult> {
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const own: OwnWrite[] = [];
      let rest = this.inner.transactionLimits.bytes - draftBytes(writes);
      for (const [failedWrite, write] of writes.entries()) {
        const state = await this.stateOf(write.key);
        const conditions = await this.ownConditions(write, state);
        if ("ok" in conditions) return { ...conditions, failedWrite };
        const planned = ownWriteOf(write, state, conditions, rest);
        rest -= draftBytes(planned.writes.slice(1));
        own.push(planned);
      }
      const result = await this.commitOwn(own.flatMap((planned) => planned.writes));
      if (!result.ok) continue;
      let index = 0;
      const entries = own.map(({ writes: { length }, deleted }) => {
        const entry = result.entries[index]!;
        index += length;
        return deleted ?? entry;
      });
      return { ...result, entries };
    }
    throw new StoreError(`${writes[0]!.key} changed during each of ${maxAttempts} attempts to write it`);
  }

  private async commitOwn(writes: readonly Write[]): Promise<TransactionResult> {
    const [first] = writes;
    if (writes.length > 1) return this.inner.transact(writes);
    const result = await this.inner.commit(first!);
    return result.ok
      ? { ok: true, revision: result.revision, entries: [result.entry] }
      : { ...result, failedWrite: 0 };
  }

  /** Returns the conditions of a write as they are in the own store, or why the write fails. */
  private async ownConditions(write: Write, state: KeyState): Promise<readonly WriteCondition[] | Refusal> {
    const current = state.own ?? state.base;
    const expected = write.kind === "create" ? undefined : write.expected;
    if (current?.revision !== expected) return { ok: false, current };
    const own: WriteCondition[] = [];
    for (const [failedCondition, { key, revision }] of (write.conditions ?? []).entries()) {
      const other = await this.stateOf(key);
      const actual = (other.own ?? other.base)?.revision ?? 0;
      if (actual !== revision) return { ok: false, current, failedCondition };
      own.push(...unchanged(key, other));
    }
    return own;
  }

  override async discard(key: string, dryRun: boolean): Promise<DiscardResult> {
    return (await this.inner.discard?.(key, dryRun)) ?? "readable";
  }

  override subscribe(options: SubscribeOptions, listener: Listener): Subscription {
    const { prefix, after, deferral, ...others } = options;
    assertPrefix(prefix);
    if (after < this.since) return refusedSubscription(after, this.since, listener);
    const { eventViews } = this;
    const selects = (batch: Parameters<Deferral["selects"]>[0]): boolean => {
      const events = eventViews.of(batch);
      return events === undefined || deferral!.selects(events);
    };
    const subscription = this.inner.subscribe(
      { ...others, prefix, after, ...(deferral && { deferral: { key: deferral.key, selects } }) },
      {
        events: (batch, upTo) => {
          const events = eventViews.of(batch);
          if (events !== undefined) return listener.events(events, upTo);
          subscription.close();
          listener.ended(new RevisionCompactedError(after, upTo));
        },
        ended: (error) => listener.ended(error),
        ...(listener.drained && { drained: () => listener.drained!() }),
      },
    );
    return subscription;
  }

  /** @throws {RevisionCompactedError} the store didn't exist at a revision. */
  private assertExists(at: Revision | undefined): void {
    if (at !== undefined && at < this.since) throw new RevisionCompactedError(at, this.since);
  }
}

/** The conditions that a key is in a state. */
function unchanged(key: string, { own, marker }: KeyState): WriteCondition[] {
  if (own !== undefined) return [{ key, revision: own.revision }];
  return [
    { key, revision: 0 },
    { key: markerKey(key), revision: marker?.revision ?? 0 },
  ];
}

/** @param rest size of the values that can be copied, in bytes. */
function ownWriteOf(
  write: Write,
  { own, base }: KeyState,
  conditions: readonly WriteCondition[],
  rest: number,
): OwnWrite {
  const { key } = write;
  if (own !== undefined || base === undefined)
    return { writes: [{ ...write, conditions }], deleted: undefined };
  const isCopied = base.header.length + base.body.length <= rest;
  const draft = markerDraft(base, isCopied ? base : undefined);
  const marker = { kind: "create", key: markerKey(key), draft } as const;
  if (write.kind === "delete") {
    const stillThere = { key, revision: 0 } as const;
    const { origin } = write;
    const hiding = { ...marker, ...(origin && { origin }), conditions: [...conditions, stillThere] };
    return { writes: [hiding], deleted: base };
  }
  return { writes: [{ ...write, kind: "create", conditions }, marker], deleted: undefined };
}

function refusedSubscription(after: Revision, floor: Revision, listener: Listener): Subscription {
  let closed = false;
  queueMicrotask(() => {
    if (!closed) listener.ended(new RevisionCompactedError(after, floor));
  });
  return { position: after, sync: () => after, close: () => void (closed = true) };
}
