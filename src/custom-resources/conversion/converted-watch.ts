import { StatusError } from "../../base/status-error.ts";
import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import type { Revision, StoreError, Subscription } from "../../storage/store.ts";
import type { VersionedStore, WatchSource } from "../../resources/registry/versioned-storage.ts";
import {
  shownEntry,
  withShown,
  type WatchChange,
  type WatchObserver,
} from "../../resources/registry/watch-change.ts";

/** Maximum size of the objects that wait for their conversion, in bytes; above it the watch ends. */
const maxWaitingBytes = 8 * 1024 * 1024;

type EntryView = Pick<VersionedStore, "showAll">;

/**
 * A watch that shows objects in the version of a store, in the order of the changes. Later changes wait until earlier ones are converted;
 * a failed conversion ends the watch, and so do more than {@link maxWaitingBytes} bytes of waiting objects.
 */
export class ConvertedWatch implements Subscription {
  private inner: Subscription | undefined;
  private ended = false;
  private waitingBytes = 0;
  /** Delivery of all received changes; undefined if none waits. */
  private work: Promise<void> | undefined;

  /** @param delivered every change up to here has been delivered; at first the revision after which the watch begins. */
  constructor(
    private readonly store: EntryView,
    private readonly observer: WatchObserver,
    private delivered: Revision,
  ) {}

  get position(): Revision {
    const { delivered, inner } = this;
    if (this.ended || this.work !== undefined || inner === undefined || inner.position <= delivered)
      return delivered;
    return inner.position;
  }

  start(source: WatchSource): this {
    this.inner = source({
      changes: (changes, upTo) => this.receive(changes, upTo),
      ended: (error) => this.end(error),
      drained: async () => {
        await this.work;
        await this.observer.drained?.();
      },
    });
    if (this.ended) this.inner.close();
    return this;
  }

  async sync(): Promise<Revision> {
    await this.inner?.sync();
    await this.work;
    return this.position;
  }

  close(): void {
    // Changes that wait for their conversion aren't delivered any more.
    this.delivered = this.position;
    this.ended = true;
    this.inner?.close();
  }

  private receive(changes: readonly WatchChange[], upTo: Revision): void {
    if (this.ended) return;
    const shown = this.work === undefined ? showChanges(this.store, changes) : undefined;
    if (shown !== undefined && !(shown instanceof Promise)) return this.deliver(shown, upTo);
    const bytes = changes.reduce((sum, change) => sum + shownEntry(change).body.length, 0);
    this.waitingBytes += bytes;
    if (this.waitingBytes > maxWaitingBytes) {
      return this.end(
        new StatusError("Timeout", "the changes come faster than the conversion webhook converts them"),
      );
    }
    const work = this.convert(this.work, shown, changes, upTo)
      .catch((error: unknown) => this.end(error))
      .finally(() => {
        this.waitingBytes -= bytes;
        if (this.work === work) this.work = undefined;
      });
    this.work = work;
  }

  private async convert(
    previous: Promise<void> | undefined,
    started: Promise<readonly WatchChange[]> | undefined,
    changes: readonly WatchChange[],
    upTo: Revision,
  ): Promise<void> {
    await previous;
    // A started conversion is always awaited; otherwise its failure would be an unhandled rejection.
    if (this.ended && started === undefined) return;
    const shown = await (started ?? showChanges(this.store, changes));
    if (!this.ended) this.deliver(shown, upTo);
  }

  private deliver(changes: readonly WatchChange[], upTo: Revision): void {
    this.delivered = upTo;
    this.observer.changes(changes, upTo);
  }

  private end(error: unknown): void {
    if (this.ended) return;
    this.close();
    this.observer.ended(error as StoreError);
  }
}

/** Converted changes by the stored ones; watches of the same selection share them. */
const shared = new WeakMap<EntryView, WeakMap<readonly WatchChange[], Promise<readonly WatchChange[]>>>();

function showChanges(
  store: EntryView,
  changes: readonly WatchChange[],
): MaybePromise<readonly WatchChange[]> {
  if (changes.length === 0) return changes;
  let cache = shared.get(store);
  if (cache === undefined) shared.set(store, (cache = new WeakMap()));
  const cached = cache.get(changes);
  if (cached !== undefined) return cached;
  const entries = changes.map(shownEntry);
  const shown = store.showAll(entries);
  if (!(shown instanceof Promise)) return changes;
  const converted = shown.then((all) => changes.map((change, index) => withShown(change, all[index]!)));
  cache.set(changes, converted);
  return converted;
}
