import { setImmediate, setTimeout } from "node:timers/promises";
import type { Clock, Timer } from "../../base/clock.ts";
import { andThen, type MaybePromise } from "../../base/maybe-promise.ts";
import {
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
   * @param created the entry is as the object was created; else that isn't known.
   */
  put(entry: Entry, created: boolean): void;
  /** The object is gone. */
  remove(key: string): void;
  /**
   * Filters objects, where a handler needs only few. For other objects `put` isn't called, but `remove` is, when an event
   * removes them. After a gap in the events `remove` is called for filtered objects only, and then {@link reloaded}.
   */
  matters?(entry: Entry): boolean;
  /** Everything was loaded again. */
  reloaded?(): void;
  /** Loading failed and is tried again in a second. */
  failed(error: unknown): void;
}

/** After a failure to load, it is tried again after this time. */
const retryMs = 1000;
/** How many entries are taken from the store at a time while loading. */
const loadPage = 1000;
/** And how many bytes. */
const loadPageBytes = 1024 * 1024;
/** The same while loading in the background: about a millisecond's worth. */
const backgroundPage = { limit: 250, maxBytes: 256 * 1024 };
/** After so many of these pages the loading rests between them, if nobody waits for it: so many times as long as a page took. */
const pagesWithoutRest = 40;
const restTimes = 3;

/**
 * Lists and watches all objects under a prefix, and calls a handler for each change in order. When the history that it needs
 * is no longer retained it lists again and reports the differences, so the handler's state always converges on the store.
 */
export class Follower {
  private subscription: Subscription | undefined;
  private readonly keys = new Set<string>();
  private reloading: Promise<void> | undefined;
  private retry: Timer | undefined;
  private closed = false;
  /** Somebody waits for what is being loaded. */
  private awaited = false;
  private broken = false;

  constructor(
    private readonly store: Store,
    private readonly prefix: string,
    private readonly handler: FollowHandler,
    private readonly clock: Clock,
  ) {}

  /** Loads the present state; the handler knows everything when the promise resolves. */
  start(): Promise<void> {
    return this.load({ limit: loadPage, maxBytes: loadPageBytes }, () => undefined);
  }

  /**
   * @param pause called between pages.
   */
  private async load(
    size: { readonly limit: number; readonly maxBytes: number },
    pause: () => Promise<void> | undefined,
  ): Promise<void> {
    const seen = new Set<string>();
    let at: Revision | undefined;
    let after: string | undefined;
    for (;;) {
      const page = await this.store.range({ prefix: this.prefix, at, after, ...size });
      at = page.revision;
      after = page.entries.at(-1)?.key;
      for (const entry of page.entries) {
        if (this.handler.matters?.(entry) === false) continue;
        seen.add(entry.key);
        this.put(entry);
      }
      if (!page.more) break;
      await pause();
      if (this.closed) return;
    }
    for (const key of this.keys) if (!seen.has(key)) this.remove(key);
    if (!this.closed) this.subscribe(at);
  }

  /** Lets others have their turn between the pages of what is loaded in the background, and soon most of the time. */
  private breaks(): () => Promise<void> {
    let pages = 0;
    let begun = performance.now();
    return async () => {
      const tookMs = performance.now() - begun;
      if (++pages > pagesWithoutRest && !this.awaited)
        await setTimeout(Math.ceil(tookMs * restTimes), undefined, { ref: false });
      else await setImmediate();
      begun = performance.now();
    };
  }

  /** As {@link start}, without waiting, and such that others hardly notice. Failures are reported to the handler and retried. */
  startInBackground(): void {
    this.reload();
  }

  /**
   * Waits until the handler has received every write, by any process, that was acknowledged before this call; synchronous
   * where the store answers synchronously.
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
      throw new StoreUnavailableError(`what is stored under ${this.prefix} can't be followed at present`);
    }
    // A subscription that ended meanwhile may have missed events.
    return andThen(subscription.sync(), () => (this.subscription === subscription ? undefined : this.sync()));
  }

  /** Whether the last attempt to load failed, so that nothing is followed at present. */
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
    // It may end inside the call.
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
    if (!ended) this.subscription = subscription;
  }

  private reload(): void {
    this.reloading ??= this.load(backgroundPage, this.breaks())
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
    if (event.entry === undefined) this.remove(event.key);
    else if (this.handler.matters?.(event.entry) !== false)
      this.put(event.entry, event.previous === undefined);
    else if (this.keys.has(event.key)) this.remove(event.key);
  }

  private put(entry: Entry, created = false): void {
    this.keys.add(entry.key);
    try {
      this.handler.put(entry, created);
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
