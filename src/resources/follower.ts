import type { Clock, Timer } from "../base/clock.ts";
import { andThen, type MaybePromise } from "../base/maybe-promise.ts";
import {
  StoreClosedError,
  StoreUnavailableError,
  type Entry,
  type Revision,
  type Store,
  type StoreEvent,
  type Subscription,
} from "../storage/store.ts";

/** What a follower tells about the objects under a prefix; each call is synchronous. */
export interface FollowHandler {
  /** The object was created or changed. */
  put(entry: Entry): void;
  /** The object is gone. */
  remove(key: string): void;
  /**
   * Where most objects don't matter: whether this one does. Others aren't put, but their removal is told as it happens;
   * what was removed while nothing was followed is told of those that matter only, and {@link reloaded} is called.
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

/**
 * Follows everything under a prefix: loads what is there, then hands on each change in order. When the history that it
 * needs is gone it loads again and tells the difference, so a handler always converges on the truth.
 */
export class Follower {
  private subscription: Subscription | undefined;
  private readonly keys = new Set<string>();
  private reloading: Promise<void> | undefined;
  private retry: Timer | undefined;
  private closed = false;

  constructor(
    private readonly store: Store,
    private readonly prefix: string,
    private readonly handler: FollowHandler,
    private readonly clock: Clock,
  ) {}

  /** Loads the present state; the handler knows everything when the promise resolves. */
  async start(): Promise<void> {
    const seen = new Set<string>();
    let at: Revision | undefined;
    let after: string | undefined;
    for (;;) {
      const page = await this.store.range({ prefix: this.prefix, at, after, limit: loadPage });
      at = page.revision;
      after = page.entries.at(-1)?.key;
      for (const entry of page.entries) {
        if (this.handler.matters?.(entry) === false) continue;
        seen.add(entry.key);
        this.put(entry);
      }
      if (!page.more) break;
    }
    for (const key of this.keys) if (!seen.has(key)) this.remove(key);
    if (!this.closed) this.subscribe(at);
  }

  /** As {@link start}, without waiting; what fails is told to the handler and tried again. */
  startInBackground(): void {
    this.reload();
  }

  /**
   * Makes sure that the handler has been told every write, by any process, that was acknowledged before this call. At
   * once where the store answers at once.
   *
   * @throws {StoreUnavailableError} nothing is followed at present, so what the handler knows may be out of date.
   */
  sync(): MaybePromise<void> {
    if (this.reloading !== undefined) return this.reloading.then(() => this.sync());
    const { subscription } = this;
    if (subscription === undefined) {
      throw new StoreUnavailableError(`what is stored under ${this.prefix} can't be followed at present`);
    }
    // One that ended meanwhile has perhaps not told everything.
    return andThen(subscription.sync(), () => (this.subscription === subscription ? undefined : this.sync()));
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
    this.reloading ??= this.start()
      .then(() => this.handler.reloaded?.())
      .catch((error: unknown) => {
        if (!this.closed) this.handler.failed(error);
      })
      .then(() => {
        this.reloading = undefined;
        if (this.subscription !== undefined || this.closed) return;
        this.retry = this.clock.setTimer(() => this.reload(), retryMs);
      });
  }

  private apply(event: StoreEvent): void {
    if (event.entry === undefined) this.remove(event.key);
    else if (this.handler.matters?.(event.entry) !== false) this.put(event.entry);
    else if (this.keys.has(event.key)) this.remove(event.key);
  }

  private put(entry: Entry): void {
    this.keys.add(entry.key);
    try {
      this.handler.put(entry);
    } catch (error) {
      // One object that can't be read must not keep all others from being followed.
      this.handler.remove(entry.key);
      this.handler.failed(error);
    }
  }

  private remove(key: string): void {
    this.keys.delete(key);
    this.handler.remove(key);
  }
}
