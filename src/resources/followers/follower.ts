import { setTimeout } from "node:timers/promises";
import type { Clock, Timer } from "../../base/time/clock.ts";
import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import { nextTurn } from "../../base/turns/yielding.ts";
import {
  RevisionCompactedError,
  StoreClosedError,
  StoreUnavailableError,
  type Entry,
  type Revision,
  type Store,
  type StoreEvent,
  type Subscription,
} from "../../storage/store.ts";

/** Receives the changes of the objects under a prefix; each call is synchronous. */
export interface FollowHandler {
  /**
   * The object was created or changed.
   *
   * @param created whether the entry is that of the creation; false also if that is unknown.
   * @param lasting whether the entry was loaded from a store that keeps it in memory; see {@link EntryValues}.
   */
  put(entry: Entry, created: boolean, lasting: boolean): void;
  /** The object was removed. */
  remove(key: string): void;
  /**
   * Filters objects, for handlers that need few. For other objects `put` isn't called; `remove` is called if an event removes them, but
   * not after a gap in the events. {@link reloaded} is called after such a gap.
   */
  matters?(entry: Entry, lasting: boolean): boolean;
  /** All objects were loaded again. */
  reloaded?(): void;
  /** Loading failed; it is retried after {@link retryMs}. */
  failed(error: unknown): void;
}

/** Delay before loading is retried. */
const retryMs = 1000;
/** Maximum number of times that {@link Follower.start} begins to load. */
const maxLoads = 5;
/** Maximum number of entries, and of bytes, of one read while loading. */
const loadPage = 1000;
const loadPageBytes = 1024 * 1024;
/** The same for loading in the background: about a millisecond of work. */
const backgroundPage = { limit: 250, maxBytes: 256 * 1024 };
/** Background loading pauses after each page from this number on, unless a caller waits for it. */
const pagesWithoutRest = 40;
/** Duration of such a pause, as a multiple of the time that the page took, for each follower that loads at the same time. */
const restTimes = 3;
/** Longest pause: a caller may begin to wait for the loading in it. */
const maxRestMs = 250;

/** Number of followers in the process that load in the background: up to a hundred take at most a third of a processor together. */
let backgroundLoads = 0;

/**
 * Lists and watches all objects under a prefix, and calls a handler for each change in order. If events were lost, it lists again and
 * reports the differences, so the handler's state always converges to that of the store.
 */
export class Follower {
  private subscription: Subscription | undefined;
  private readonly keys = new Set<string>();
  private reloading: Promise<void> | undefined;
  private retry: Timer | undefined;
  private closed = false;
  /** Whether a caller waits for the loading. */
  private awaited = false;
  private broken = false;
  private reached: Revision | undefined;

  constructor(
    private readonly store: Store,
    private readonly prefix: string,
    private readonly handler: FollowHandler,
    private readonly clock: Clock,
  ) {}

  /**
   * Loads the current state; when the promise resolves, the handler has received all of it. If history is compacted between two pages, it
   * begins again.
   */
  async start(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.load({ limit: loadPage, maxBytes: loadPageBytes }, () => undefined);
      } catch (error) {
        if (!(error instanceof RevisionCompactedError) || attempt === maxLoads) throw error;
      }
    }
  }

  /**
   * @param pause called between pages.
   */
  private async load(
    size: { readonly limit: number; readonly maxBytes: number },
    pause: () => Promise<void> | undefined,
  ): Promise<void> {
    const seen = new Set<string>();
    const lasting = this.store.keepsEntries === true;
    this.reached = undefined;
    let at: Revision | undefined;
    let after: string | undefined;
    for (;;) {
      const page = await this.store.range({ prefix: this.prefix, at, after, ...size });
      at = page.revision;
      after = page.entries.at(-1)?.key;
      for (const entry of page.entries) {
        if (this.handler.matters?.(entry, lasting) === false) continue;
        seen.add(entry.key);
        this.put(entry, false, lasting);
      }
      if (!page.more) break;
      await pause();
      if (this.closed) return;
    }
    for (const key of this.keys) if (!seen.has(key)) this.remove(key);
    if (!this.closed) this.subscribe(at);
  }

  /** Creates the function that pauses between the pages of background loading. */
  private pauses(): () => Promise<void> {
    let pages = 0;
    let startedMs = performance.now();
    return async () => {
      const tookMs = performance.now() - startedMs;
      if (++pages > pagesWithoutRest && !this.awaited)
        await setTimeout(restMs(tookMs), undefined, { ref: false });
      else await nextTurn();
      startedMs = performance.now();
    };
  }

  private async loadInBackground(): Promise<void> {
    backgroundLoads++;
    try {
      await this.load(backgroundPage, this.pauses());
    } finally {
      backgroundLoads--;
    }
  }

  /** As {@link start}, without waiting and with pauses for other work. Failures are reported to the handler and retried. */
  startInBackground(): void {
    this.reload();
  }

  /**
   * Waits until the handler has received every write, by any process, that was acknowledged before this call. Synchronous if the store is.
   *
   * @throws {StoreUnavailableError} there is no subscription at present, so the handler may be out of date.
   */
  sync(): MaybePromise<void> {
    if (this.reloading !== undefined) {
      this.awaited = true;
      return this.reloading.then(() => this.sync());
    }
    const { subscription } = this;
    if (subscription === undefined) {
      throw new StoreUnavailableError(`changes under ${this.prefix} can't be followed at present`);
    }
    return andThen(subscription.sync(), (revision) => {
      // A subscription that ended meanwhile may have missed events.
      if (this.subscription !== subscription) return this.sync();
      this.reach(revision);
    });
  }

  /**
   * The revision whose state the handler has. At least that of every write acknowledged before a {@link sync} that has resolved; undefined
   * while there is no subscription.
   */
  get revision(): Revision | undefined {
    return this.subscription === undefined ? undefined : this.reached;
  }

  private reach(revision: Revision): void {
    if (this.reached === undefined || revision > this.reached) this.reached = revision;
  }

  /** Whether the last attempt to load failed. */
  get failing(): boolean {
    return this.broken;
  }

  close(): void {
    this.closed = true;
    this.retry?.cancel();
    this.subscription?.close();
    this.subscription = undefined;
  }

  private subscribe(after: Revision): void {
    // It may end during the call.
    let ended = false;
    const subscription = this.store.subscribe(
      { prefix: this.prefix, after },
      {
        events: (batch) => batch.forEach((event) => this.apply(event)),
        ended: (error) => {
          ended = true;
          this.subscription = undefined;
          if (!this.closed && !(error instanceof StoreClosedError)) this.reload();
        },
      },
    );
    if (ended) return;
    this.subscription = subscription;
    this.reach(after);
  }

  private reload(): void {
    this.reloading ??= this.loadInBackground()
      .then(() => {
        this.broken = false;
        this.handler.reloaded?.();
      })
      .catch((error: unknown) => {
        this.broken = true;
        if (!this.closed) this.handler.failed(error);
      })
      .then(() => {
        this.reloading = undefined;
        this.awaited = false;
        if (this.subscription !== undefined || this.closed) return;
        this.retry = this.clock.setTimer(() => this.reload(), retryMs);
      });
  }

  private apply(event: StoreEvent): void {
    this.reach(event.revision);
    if (event.entry === undefined) this.remove(event.key);
    else if (this.handler.matters?.(event.entry, false) !== false)
      this.put(event.entry, event.previous === undefined);
    else if (this.keys.has(event.key)) this.remove(event.key);
  }

  private put(entry: Entry, created: boolean, lasting = false): void {
    this.keys.add(entry.key);
    try {
      this.handler.put(entry, created, lasting);
    } catch (error) {
      // One object that can't be decoded must not block the events of all others.
      this.handler.remove(entry.key);
      this.handler.failed(error);
    }
  }

  private remove(key: string): void {
    this.keys.delete(key);
    this.handler.remove(key);
  }
}

function restMs(tookMs: number): number {
  return Math.min(maxRestMs, Math.ceil(tookMs * restTimes * backgroundLoads));
}

/**
 * Values that followers derive from entries. They are cached with the entries that a follower loads from a store in memory, because forks
 * of a server load the same ones. They must not be changed.
 */
export class EntryValues<T> {
  private readonly values = new WeakMap<Entry, T>();

  /**
   * Returns the value of an entry.
   *
   * @param lasting whether to cache it; see `FollowHandler.put`.
   * @param derive depends on the entry only.
   */
  of(entry: Entry, lasting: boolean, derive: (entry: Entry) => T): T {
    const cached = this.values.get(entry);
    if (cached !== undefined) return cached;
    const value = derive(entry);
    if (lasting) this.values.set(entry, value);
    return value;
  }
}
