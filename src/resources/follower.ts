import { andThen, type MaybePromise } from "../base/maybe-promise.ts";
import {
  StoreClosedError,
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
  private closed = false;

  constructor(
    private readonly store: Store,
    private readonly prefix: string,
    private readonly handler: FollowHandler,
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
        seen.add(entry.key);
        this.put(entry);
      }
      if (!page.more) break;
    }
    for (const key of this.keys) if (!seen.has(key)) this.remove(key);
    if (!this.closed) this.subscribe(at);
  }

  /**
   * Makes sure that the handler has been told every write, by any process, that was acknowledged before this call. At
   * once where the store answers at once.
   */
  sync(): MaybePromise<void> {
    if (this.reloading !== undefined) return this.reloading;
    return this.subscription === undefined ? undefined : andThen(this.subscription.sync(), () => undefined);
  }

  close(): void {
    this.closed = true;
    this.subscription?.close();
  }

  private subscribe(after: Revision): void {
    this.subscription = this.store.subscribe(
      { prefix: this.prefix, after },
      {
        events: (batch) => batch.forEach((event) => this.apply(event)),
        ended: (error) => {
          if (!this.closed && !(error instanceof StoreClosedError)) this.reload();
        },
      },
    );
  }

  private reload(): void {
    this.subscription = undefined;
    this.reloading ??= this.start()
      .catch((error: unknown) => this.handler.failed(error))
      .then(() => {
        this.reloading = undefined;
        if (this.subscription === undefined && !this.closed) setTimeout(() => this.reload(), retryMs).unref();
      });
  }

  private apply(event: StoreEvent): void {
    if (event.entry === undefined) this.remove(event.key);
    else this.put(event.entry);
  }

  private put(entry: Entry): void {
    this.keys.add(entry.key);
    this.handler.put(entry);
  }

  private remove(key: string): void {
    this.keys.delete(key);
    this.handler.remove(key);
  }
}
