import { StatusError } from "../base/status-error.ts";
import type { MaybePromise } from "../base/maybe-promise.ts";
import type { Listener, Revision, StoreError, Subscription } from "../storage/store.ts";
import type { ConvertingStore } from "./converting-store.ts";
import { shownEntry, withShown, type WatchChange, type WatchObserver } from "./watch-change.ts";

/** Bytes of objects that wait for their conversion before a watch ends. */
const maxWaitingBytes = 8 * 1024 * 1024;

/**
 * Passes the changes of a watch on in the version of a store, in their order. Those that must be converted keep the others waiting;
 * a conversion that fails, or is too slow, ends the watch.
 */
export class ConvertedWatch implements Subscription {
  private inner: Subscription | undefined;
  private ended = false;
  private waitingBytes = 0;
  /** The work on everything that was received. */
  private work: Promise<void> | undefined;

  /** @param position the revision after which the watch begins. */
  constructor(
    private readonly store: ConvertingStore,
    private readonly observer: WatchObserver,
    public position: Revision,
  ) {}

  /** @param select chooses the changes of a batch of events. */
  start(
    select: (batch: Parameters<Listener["events"]>[0]) => readonly WatchChange[],
    subscribe: (listener: Listener) => Subscription,
  ): this {
    this.inner = subscribe({
      events: (batch, upTo) => this.receive(select(batch), upTo),
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
    const before = this.work;
    const work = this.convert(before, shown, changes, upTo)
      .catch((error: unknown) => this.end(error))
      .finally(() => {
        this.waitingBytes -= bytes;
        if (this.work === work) this.work = undefined;
      });
    this.work = work;
  }

  private async convert(
    before: Promise<void> | undefined,
    begun: Promise<readonly WatchChange[]> | undefined,
    changes: readonly WatchChange[],
    upTo: Revision,
  ): Promise<void> {
    await before;
    // What is begun is waited for, as its failure is to be seen by somebody.
    if (this.ended && begun === undefined) return;
    const shown = await (begun ?? showChanges(this.store, changes));
    if (!this.ended) this.deliver(shown, upTo);
  }

  private deliver(changes: readonly WatchChange[], upTo: Revision): void {
    this.position = upTo;
    this.observer.changes(changes, upTo);
  }

  private end(error: unknown): void {
    if (this.ended) return;
    this.close();
    this.observer.ended(error as StoreError);
  }
}

/** Converted changes by those that they were made of, so that watchers of one selection share them. */
const shared = new WeakMap<
  ConvertingStore,
  WeakMap<readonly WatchChange[], Promise<readonly WatchChange[]>>
>();

function showChanges(
  store: ConvertingStore,
  changes: readonly WatchChange[],
): MaybePromise<readonly WatchChange[]> {
  if (changes.length === 0) return changes;
  let known = shared.get(store);
  if (known === undefined) shared.set(store, (known = new WeakMap()));
  const found = known.get(changes);
  if (found !== undefined) return found;
  const entries = changes.map(shownEntry);
  const shown = store.showAll(entries);
  if (!(shown instanceof Promise)) return changes;
  const converted = shown.then((all) => changes.map((change, index) => withShown(change, all[index]!)));
  known.set(changes, converted);
  return converted;
}
