import type { MaybePromise } from "../base/turns/maybe-promise.ts";
import type { Revision } from "./revision.ts";
import type { StoreError } from "./store-errors.ts";
import type { Origin, StoreHistory, StorePins } from "./store-history.ts";

export type { Revision } from "./revision.ts";
export type { Origin, StoreHistory } from "./store-history.ts";
export {
  StoreError,
  RevisionCompactedError,
  RevisionTooNewError,
  StoreFullError,
  TransactionLimitError,
  StoreTimeoutError,
  StoreClosedError,
  StoreUnavailableError,
  StoreDamagedError,
  StoreValueError,
} from "./store-errors.ts";

/**
 * The contract of storage engines. The suite of `plinth/storage-conformance` tests an engine.
 *
 * **Keys** are strings of the form `/{group}/{resource}/{namespace}/{name}` (cluster-scoped: the namespace is
 * empty), ordered by their UTF-8 bytes. The first two segments are the *collection* of a key, the first three its
 * *partition*. A prefix given to any operation ends in `/`. A key to be written has at most 1024 bytes and no NUL, else
 * `commit` rejects with a `TypeError`; reads of an invalid key find nothing.
 *
 * **The revision line.** Each committed write or transaction takes the next revision of the store. A fresh store is at revision
 * 1; the first write takes 2. Revisions grow strictly, also across restarts and processes; engines over a shared
 * cluster may skip numbers.
 *
 * **History.** The engine keeps superseded and deleted values for the retention time. `floor()` is the oldest revision
 * at which an exact read is possible, and the oldest after which a subscription may start.
 *
 * **Durability.** A promise of `commit` resolves only when the write is synced to disk (or agreed by the cluster).
 * Writes that arrive together share one sync. A crash never leaves half a write.
 *
 * **Deferred syncs.** For collections in `StoreOptions.deferredSyncMs` the promise resolves when the write is committed: every
 * reader of every process sees it, in the order of the revisions. It is synced with the next write of another collection, or after the
 * interval of its collection, whichever comes first. A crash of the process loses nothing. A power failure or a crash of the system can
 * lose acknowledged writes of these collections, those since the last sync and no others: it never loses a write of another collection
 * that any reader has seen, and what remains is the state of one earlier revision. If a state with unsynced writes was lost, the store
 * continues at a revision above all that it has ever assigned, with its floor there: a position of before is a
 * {@link RevisionCompactedError}, never the position of another write. `close` syncs everything.
 *
 * **Order.** Before `commit` resolves, every subscription of the same store object that has the key under its prefix
 * has received the event. `Subscription.sync()` extends this to writes by other processes.
 *
 * **Synchronous or asynchronous.** A method that returns a `MaybePromise` may return a value or a promise, and may throw as
 * well as reject.
 *
 * **Stamp.** A persistent store may be opened with a stamp: a label and a format. The stamp is written when the
 * store is created or first opened with one. From then on, opening the store with another label fails. The stamp isn't a
 * key, takes no revision and produces no event.
 *
 * **Not assumed:** a single process. Two stores may be open on one embedded folder or one cluster.
 */
export interface Store {
  /**
   * Returns the revision of the newest committed write of any process. Local engines return it synchronously (an embedded engine in
   * about a microsecond); a cluster engine confirms it with a quorum, and concurrent callers share one round trip.
   */
  latestRevision(): MaybePromise<Revision>;

  /** Returns the oldest revision that can be read exactly (see **History**). */
  floor(): MaybePromise<Revision>;

  /**
   * Reads one key at the latest revision (linearizable: it sees every write acknowledged before the call), or at revision `at`.
   *
   * @returns the entry, or `undefined` if the key doesn't exist at that revision.
   * @throws {RevisionCompactedError} if `at` is below the floor.
   * @throws {RevisionTooNewError} if `at` is above the latest revision.
   * @throws {StoreValueError} if the value is damaged.
   */
  get(key: string, at?: Revision): MaybePromise<Entry | undefined>;

  /**
   * Reads one page of the keys under a prefix, in key order, all at one revision. To read the next page, pass the first page's
   * `revision` as `at` and the last key as `after`. The engine keeps no lock and no open read between pages.
   *
   * @throws as {@link Store.get}.
   */
  range(options: RangeOptions): MaybePromise<RangePage>;

  /**
   * Returns the number of keys under a prefix, at the latest or an exact revision. At the latest revision an embedded engine uses
   * counters, in constant time, for a whole collection or partition. Long counts yield to the event loop.
   */
  count(prefix: string, at?: Revision): MaybePromise<number>;

  /**
   * Writes one key if its current state is the expected one. A conflict is a result with the current entry, not an error.
   *
   * @throws {StoreFullError} if disk or quota are exhausted; nothing was written.
   * @throws {StoreTimeoutError} if the write couldn't begin in time; nothing was written.
   * @throws {StoreClosedError} if the store is closing.
   */
  commit(write: Write): Promise<CommitResult>;

  /**
   * Commits several writes together: all of them or none, at one revision, which is inserted into every body. Each write is as in
   * {@link Store.commit}; all expectations and conditions are about the state before the transaction. A subscription receives its
   * events in one batch, in any order. A sync is deferred only if those of all writes would be.
   *
   * @param writes at least one, each of another key.
   * @throws {TransactionLimitError} they exceed {@link Store.transactionLimits}; nothing was written.
   * @throws {TypeError} (a bug of the caller) without writes, or for two of the same key.
   * @throws as {@link Store.commit}.
   */
  transact(writes: readonly Write[]): Promise<TransactionResult>;

  /** What {@link Store.transact} accepts at most. */
  readonly transactionLimits: TransactionLimits;

  /** History that is kept longer than the retention time; absent if none is. */
  readonly history?: StoreHistory | undefined;

  /** @internal The pinned revisions; absent if the store was opened without pins. */
  readonly pins?: StorePins | undefined;

  /**
   * @internal Removes the value of a key if it can't be read, which {@link get} reports as a {@link StoreValueError}. Other values stay.
   * Subscriptions that would receive the removed value end instead. Without this method the engine has no such values, or they can only
   * be removed with its own tools.
   *
   * @param dryRun only determines the result.
   */
  discard?(key: string, dryRun: boolean): Promise<DiscardResult>;

  /**
   * Delivers every event under `prefix` with a revision above `after`, in revision order, without gap or duplicate: first the
   * history, then live events. Delivery may begin during the call. The listener is called synchronously and must not throw (its
   * subscription ends if it does); a batch never splits a revision.
   *
   * A subscription ends with `close()`, or with one call of `listener.ended` with a {@link RevisionCompactedError} (required history
   * was removed), a {@link StoreClosedError} or another {@link StoreError}. Nothing is delivered after that.
   */
  subscribe(options: SubscribeOptions, listener: Listener): Subscription;

  /**
   * Runs `work` synchronously. All `Subscription.sync()` calls and reads at latest that begin within it may share one
   * snapshot, taken by the first of them. Use it for a batch of requests that all arrived before the first one began.
   */
  together(work: () => void): void;

  /** Drops history older than `before` (milliseconds since 1970) and raises the floor. Engines also do so by themselves. */
  compact(before: number): Promise<Revision>;

  /** Reads all data and returns a message for each damage; an empty list if there is none. Yields to the event loop. */
  check(): Promise<readonly string[]>;

  /**
   * Returns why writes fail at present; undefined if the engine knows no obstacle. For health checks: it may read the
   * state of the disk or query the cluster.
   */
  writeObstacle(): MaybePromise<StoreError | undefined>;

  /**
   * @internal Whether reads of most unchanged keys return the same {@link Entry} object, so that values derived from it may be kept with
   * it.
   */
  readonly keepsEntries?: boolean;

  /** Returns the size of the data; undefined if the engine doesn't know it. */
  usage?(): MaybePromise<StoreUsage | undefined>;

  /**
   * Ends subscriptions, waits for pending writes, and releases files and connections. May be called twice.
   *
   * @throws {StoreTimeoutError} another process blocks a write; the resources of that write aren't released.
   */
  close(): Promise<void>;
}

/** Size of a store's data, in bytes. */
export interface StoreUsage {
  /** Total size, including free space. */
  readonly totalBytes: number;
  /** Free space inside the file, reused by the next writes. */
  readonly freeBytes: number;
  /** Number of writes that failed since the store was opened: the disk was full or the commit failed. */
  readonly failedWrites?: number | undefined;
  /**
   * Upper bound of the age of the oldest acknowledged write that isn't synced, in milliseconds; 0 if all are. Absent if no syncs are
   * deferred (see **Deferred syncs** of {@link Store}).
   */
  readonly unsyncedMs?: number | undefined;
}

/** The value to write. */
export interface Draft {
  /** Small index data, stored beside the body; opaque to the store. */
  readonly header: Uint8Array;
  /** The encoded object; opaque to the store, except for the revision at `revisionAt`. */
  readonly body: Uint8Array;
  /**
   * Offset in `body` at which the store inserts the write's revision in decimal digits. Example: body `{"v":"","a":1}` with
   * `revisionAt` 6, committed at revision 42, is read as `{"v":"42","a":1}`.
   */
  readonly revisionAt: number;
}

/** The value of a key at a revision. Readers must not modify its bytes. */
export interface Entry {
  readonly key: string;
  /** Revision of the write of this value. */
  readonly revision: Revision;
  readonly header: Uint8Array;
  /** The body with `revision` inserted at `revisionAt`. */
  readonly body: Uint8Array;
  readonly revisionAt: number;
  /** Whether new values are encrypted in another way, so that an update without changes stores this one again. */
  readonly outdated?: boolean;
}

/** The keys of a page, for {@link Store.range}. */
export interface RangeOptions {
  readonly prefix: string;
  /** Exact revision to read at; the latest when absent. */
  readonly at?: Revision | undefined;
  /** Only keys greater than this one. */
  readonly after?: string | undefined;
  /** Maximum number of entries; default unlimited. */
  readonly limit?: number | undefined;
  /** The page ends after the entry with which its bodies reach this size; it has at least one entry. */
  readonly maxBytes?: number | undefined;
}

/** A page of entries in key order. */
export interface RangePage {
  /** The revision at which the page was read. */
  readonly revision: Revision;
  readonly entries: readonly Entry[];
  /** Whether there are keys under the prefix after the last entry. */
  readonly more: boolean;
}

/** A change of one key. */
export type Change =
  /** Succeeds if the key doesn't exist. */
  | { readonly kind: "create"; readonly key: string; readonly draft: Draft }
  /** Succeeds if the key's value was written at revision `expected`. */
  | { readonly kind: "update"; readonly key: string; readonly expected: Revision; readonly draft: Draft }
  /** Succeeds if the key's value was written at revision `expected`. */
  | { readonly kind: "delete"; readonly key: string; readonly expected: Revision };

/** A change, and the conditions on other keys under which it is committed. */
export type Write = Change & {
  /** Checked in the same transaction as the key itself. */
  readonly conditions?: readonly WriteCondition[] | undefined;
  /** Kept with the history of a collection in {@link Store.history}; has no effect elsewhere. */
  readonly origin?: Origin | undefined;
};

/**
 * A condition of a write on another key: its value must be the one written at `revision`; 0 means that the key must not exist. It
 * guarantees that the other key is unchanged when the write is committed. It writes nothing, so concurrent writes may have the same
 * condition.
 */
export interface WriteCondition {
  readonly key: string;
  readonly revision: Revision | 0;
}

/** Result of {@link Store.commit}. */
export type CommitResult =
  | {
      readonly ok: true;
      /** Revision of the write. */
      readonly revision: Revision;
      /** The new value; for a delete, the value that was deleted. */
      readonly entry: Entry;
    }
  /** The expectation failed; `current` is the key's current value, absent if there is none. */
  | {
      readonly ok: false;
      readonly current: Entry | undefined;
      /** Index in `conditions` of the first failed one; absent if the key itself isn't in the expected state. */
      readonly failedCondition?: number;
    };

/** Result of {@link Store.transact}. */
export type TransactionResult =
  | {
      readonly ok: true;
      /** Revision of all writes. */
      readonly revision: Revision;
      /** The entries of {@link CommitResult}, in the order of the writes. */
      readonly entries: readonly Entry[];
    }
  /** The expectation or a condition of a write failed; nothing was written. */
  | {
      readonly ok: false;
      /** Index of the first write that failed. */
      readonly failedWrite: number;
      /** The current value of its key, absent if there is none. */
      readonly current: Entry | undefined;
      /** Index in its `conditions` of the first failed one; absent if the key itself isn't in the expected state. */
      readonly failedCondition?: number;
    };

/** Limits of a transaction. */
export interface TransactionLimits {
  /** Number of writes; of writes and conditions together, twice as many. */
  readonly writes: number;
  /** Sum of headers and bodies, in bytes. */
  readonly bytes: number;
}

/** @internal Result of {@link Store.discard}: the key has no value, a value that can be read and stays, or its value is removed. */
export type DiscardResult = "absent" | "readable" | "discarded";

/** One change of a key. Those of a transaction have the same revision. All subscribers of a store receive the same object. */
export interface StoreEvent {
  readonly key: string;
  readonly revision: Revision;
  /** The new value; absent for a delete. */
  readonly entry: Entry | undefined;
  /**
   * The previous value; absent only for a create. An engine that no longer has it ends the subscription with a
   * {@link RevisionCompactedError} instead.
   */
  readonly previous: Entry | undefined;
}

/** The events of a subscription, for {@link Store.subscribe}. */
export interface SubscribeOptions {
  readonly prefix: string;
  /** Only events after this revision are delivered. It may be above the latest revision. */
  readonly after: Revision;
  /**
   * For a subscriber that may have received only a part of a transaction at `after`: its events are delivered too, as long as the
   * history has them. A write alone may be delivered again as well; it is the only event of its revision.
   */
  readonly repeatsTransaction?: boolean | undefined;
  /**
   * Allows live events to be delivered some turns of the event loop later, several batches as one. {@link Subscription.sync} delivers
   * them at once.
   */
  readonly deferral?: Deferral;
}

/** How deferrable subscriptions share their work. */
export interface Deferral {
  /** Subscriptions with the same prefix and key select the same events. */
  readonly key: string;
  /** Whether a batch has an event for the subscription; batches without one need not be delivered. If it throws, the batch is delivered. */
  selects(batch: readonly StoreEvent[]): boolean;
}

/** Receives the events of a subscription. */
export interface Listener {
  /**
   * Receives a batch of events in revision order. With it, every event under the prefix up to and including revision `upTo` has been
   * delivered. An empty batch only advances the position, for bookmarks; there is no guaranteed interval.
   */
  events(batch: readonly StoreEvent[], upTo: Revision): void;
  /** The store has ended the subscription; called at most once. */
  ended(error: StoreError): void;
  /**
   * Flow control for the history: the next portion, about 1 MB, is delivered when the promise resolves. It must not reject. Without
   * this method portions are delivered without a pause. Live events never wait.
   */
  drained?(): Promise<void>;
}

/** A subscription to the events under a prefix. */
export interface Subscription {
  /** Every event up to here has been delivered. */
  readonly position: Revision;
  /**
   * Delivers every event that any process committed before this call, then returns the position. Synchronous if `latestRevision`
   * is.
   */
  sync(): MaybePromise<Revision>;
  close(): void;
}
