import type { MaybePromise } from "../base/maybe-promise.ts";

/**
 * The store's contract. Every engine in this folder keeps it, and `conformance.ts` proves it on each.
 *
 * **Keys** are strings of the form `/{group}/{resource}/{namespace}/{name}` (cluster-scoped: the namespace is
 * empty), ordered by their UTF-8 bytes. The first two segments are the *collection* of a key, the first three its
 * *partition*. A prefix given to any operation ends in `/`. A key to be written has at most 1024 bytes and no NUL, else
 * `commit` rejects with a `TypeError`; whatever can't be a key is simply not found.
 *
 * **The revision line.** Each committed write takes the next revision of the store. A fresh store is at revision
 * 1; the first write takes 2. Revisions grow strictly, also across restarts and processes; engines over a shared
 * cluster may skip numbers.
 *
 * **History.** The engine keeps superseded and deleted values for the retention time. `floor()` is the oldest revision
 * at which an exact read is still answered, and the oldest after which a subscription may start.
 *
 * **Durability.** A promise of `commit` resolves only when the write is synced to disk (or agreed by the cluster).
 * Writes that arrive together share one sync. A crash never leaves half a write.
 *
 * **Order.** Before `commit` resolves, every subscription of the same store object that has the key under its prefix
 * has received the event. `Subscription.sync()` extends this to writes by other processes.
 *
 * **Synchronous or asynchronous.** A method that returns a `MaybePromise` may return a value or a promise, and may throw as
 * well as reject.
 *
 * **Stamp.** A persistent store may be opened with a stamp: a label and a format (`stamp.ts`). The stamp is written when the
 * store is created or first opened with one. From then on, opening the store with another label fails. The stamp isn't a
 * key, takes no revision and produces no event.
 *
 * **Not assumed:** a single process. Two stores may be open on one embedded folder or one cluster.
 */
export interface Store {
  /**
   * The revision of the newest committed write, by whichever process. Engines in this machine answer at once (an
   * embedded engine in about a microsecond); a cluster engine confirms with a quorum, and concurrent callers share one
   * round trip.
   */
  latestRevision(): MaybePromise<Revision>;

  /** The oldest revision that is still readable exactly (see **History**). */
  floor(): MaybePromise<Revision>;

  /**
   * Reads one key: at the latest revision (linearizable: it sees every write acknowledged before the call), or as it
   * was at revision `at`.
   *
   * @returns the entry, or `undefined` when the key doesn't exist at that revision.
   * @throws {RevisionCompactedError} `at` is below the floor.
   * @throws {RevisionTooNewError} `at` is above the latest revision.
   * @throws {StoreValueError} the value is damaged.
   */
  get(key: string, at?: Revision): MaybePromise<Entry | undefined>;

  /**
   * Reads one page of the keys under a prefix, in key order, all as they were at one revision. Pages that belong
   * together pass the first page's `revision` as `at` and the last key as `after`. The engine doesn't hold a lock or
   * an open read between pages.
   *
   * @throws as {@link Store.get}.
   */
  range(options: RangeOptions): MaybePromise<RangePage>;

  /**
   * How many keys exist under a prefix, at latest or at an exact revision. At latest an embedded engine answers from
   * counters in constant time for a whole collection or partition. Long counts yield to the event loop.
   */
  count(prefix: string, at?: Revision): MaybePromise<number>;

  /**
   * Writes one key if its state is what the caller saw. Conflicts are results, not errors: they carry the state that
   * was there.
   *
   * @throws {StoreFullError} disk or quota exhausted; nothing was written.
   * @throws {StoreTimeoutError} the write couldn't begin in time; nothing was written.
   * @throws {StoreClosedError} the store is closing.
   */
  commit(write: Write): Promise<CommitResult>;

  /**
   * Delivers every event under `prefix` with a revision above `after`, in revision order, without gap or duplicate:
   * first those of the past, then those to come. Delivery may begin inside the call. The listener runs synchronously
   * and must not throw (its subscription ends if it does); it sees batches that never split a revision.
   *
   * A subscription ends by `close()`, or by one call of `listener.ended` with a {@link RevisionCompactedError} (the
   * past it needs is gone), or {@link StoreClosedError}, or another {@link StoreError}; nothing is delivered after.
   */
  subscribe(options: SubscribeOptions, listener: Listener): Subscription;

  /**
   * Runs `work` synchronously. All `Subscription.sync()` calls and reads at latest that begin within it may share one
   * snapshot, taken by the first of them. Use it for a batch of requests that all arrived before the first one began.
   */
  together(work: () => void): void;

  /** Drops history older than `before` (milliseconds since 1970) and raises the floor. Engines also do so by themselves. */
  compact(before: number): Promise<Revision>;

  /** Reads everything once and reports what is damaged; an empty list means sound. Yields to the event loop. */
  check(): Promise<readonly string[]>;

  /**
   * Returns why writes fail at present; undefined if the engine knows no obstacle. For health checks: it may read the
   * state of the disk or query the cluster.
   */
  writeObstacle(): MaybePromise<StoreError | undefined>;

  /** Returns the size of the data; undefined, or no such method, if the engine doesn't know it. */
  usage?(): MaybePromise<StoreUsage | undefined>;

  /**
   * Ends subscriptions, waits for writes under way, releases files and connections. Safe to call twice.
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
}

declare const revisionBrand: unique symbol;
/** A position on the revision line: a positive integer below 2^53. */
export type Revision = number & { readonly [revisionBrand]: true };

/** The value to write. */
export interface Draft {
  /** Small index data kept beside the body; opaque to the store. */
  readonly header: Uint8Array;
  /** The encoded object; opaque to the store, except for the revision at `revisionAt`. */
  readonly body: Uint8Array;
  /**
   * Offset in `body` at which the write's own revision, in decimal digits, is inserted. What is read later is the body
   * with those digits in place. Example: body `{"v":"","a":1}` with `revisionAt` 6, committed at revision 42, is read
   * as `{"v":"42","a":1}`.
   */
  readonly revisionAt: number;
}

/** What is stored under a key at a revision. Its bytes must not be changed by the reader. */
export interface Entry {
  readonly key: string;
  /** The revision of the write that made this value. */
  readonly revision: Revision;
  readonly header: Uint8Array;
  /** The body with `revision` in place at `revisionAt`. */
  readonly body: Uint8Array;
  readonly revisionAt: number;
}

export interface RangeOptions {
  readonly prefix: string;
  /** Exact revision to read at; the latest when absent. */
  readonly at?: Revision | undefined;
  /** Only keys above this one. */
  readonly after?: string | undefined;
  /** At most this many entries; unlimited when absent. */
  readonly limit?: number | undefined;
  /** Stop after the entry that makes the page's bodies reach this size; at least one entry is returned. */
  readonly maxBytes?: number | undefined;
}

export interface RangePage {
  /** The revision at which the page was read. */
  readonly revision: Revision;
  readonly entries: readonly Entry[];
  /** Whether keys remain under the prefix above the last entry. */
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
};

/**
 * A condition of a write on another key: it holds while that key's value is the one that was written at `revision`; 0: while
 * the key doesn't exist. So a writer that read the store after that revision is sure that nobody has changed that key before the
 * write was committed. Several writes may have the same condition and be under way together; the condition writes nothing.
 */
export interface WriteCondition {
  readonly key: string;
  readonly revision: Revision | 0;
}

export type CommitResult =
  | {
      readonly ok: true;
      /** The revision that the write took. */
      readonly revision: Revision;
      /** The new value; for a delete, the value that was deleted. */
      readonly entry: Entry;
    }
  /** The expectation failed; `current` is the current value of the key (absent: none). */
  | {
      readonly ok: false;
      readonly current: Entry | undefined;
      /** Index in `conditions` of the first one that failed; absent where the key itself isn't as expected. */
      readonly failedCondition?: number;
    };

/** One committed write as subscribers see it. The same object is handed to every subscriber of a store. */
export interface StoreEvent {
  readonly key: string;
  readonly revision: Revision;
  /** The value written; absent for a delete. */
  readonly entry: Entry | undefined;
  /**
   * The value that stood before; absent only when the key was created. An engine that no longer has it ends the
   * subscription with a {@link RevisionCompactedError} instead.
   */
  readonly previous: Entry | undefined;
}

export interface SubscribeOptions {
  readonly prefix: string;
  /** Deliver what comes after this revision. May be above the latest one; then earlier events are not delivered. */
  readonly after: Revision;
}

export interface Listener {
  /**
   * A batch of events in revision order. Every event under the prefix up to and including revision `upTo` has now been
   * delivered. The batch may be empty: then only the position moved (this is what bookmarks are made of; no interval
   * is promised).
   */
  events(batch: readonly StoreEvent[], upTo: Revision): void;
  /** The subscription ended by itself; called at most once. */
  ended(error: StoreError): void;
  /**
   * Asked between portions of the past: the next one, of about a megabyte, waits for the promise. It must not reject.
   * Without it portions follow each other at once; events to come never wait.
   */
  drained?(): Promise<void>;
}

export interface Subscription {
  /** Every event up to here has been delivered. */
  readonly position: Revision;
  /**
   * Delivers every event that was committed, by any process, before this call, then gives the position reached. At once
   * where `latestRevision` is at once.
   */
  sync(): MaybePromise<Revision>;
  close(): void;
}

/** An operational failure of a store. Bugs are other errors. */
export class StoreError extends Error {
  override name = "StoreError";
}

/** The revision lies before the retained history. */
export class RevisionCompactedError extends StoreError {
  override name = "RevisionCompactedError";
  constructor(
    readonly requested: Revision,
    readonly floor: Revision,
  ) {
    super(`revision ${requested} is no longer retained; the oldest is ${floor}`);
  }
}

/** The revision lies in the future of this store. */
export class RevisionTooNewError extends StoreError {
  override name = "RevisionTooNewError";
  constructor(
    readonly requested: Revision,
    readonly latest: Revision,
  ) {
    super(`revision ${requested} is not known yet; the latest is ${latest}`);
  }
}

/** No room for the write; nothing was written. */
export class StoreFullError extends StoreError {
  override name = "StoreFullError";
}

/** The write timed out before the store began it; nothing was written, and nothing will be. */
export class StoreTimeoutError extends StoreError {
  override name = "StoreTimeoutError";
}

/** The store was closed. */
export class StoreClosedError extends StoreError {
  override name = "StoreClosedError";
}

/** The store cannot be reached or did not answer in time; a write's outcome may be unknown. */
export class StoreUnavailableError extends StoreError {
  override name = "StoreUnavailableError";
}

/** The data folder or its content can't be used: unwritable, damaged, or of another format version. */
export class StoreDamagedError extends StoreError {
  override name = "StoreDamagedError";
}

/** One stored value is damaged; the others can be read. */
export class StoreValueError extends StoreError {
  override name = "StoreValueError";
  constructor(
    readonly key: string,
    reason: string,
  ) {
    super(`the stored value of ${key} is damaged: ${reason}; restore a backup into an empty folder`);
  }
}
