import {
  StoreError,
  type Listener,
  type Revision,
  type StoreEvent,
  type SubscribeOptions,
  type Subscription,
} from "../store.ts";
import type { EntryDecryption } from "./entry-decryption.ts";

/**
 * A subscription that decrypts its events. Small batches whose keys are in memory are delivered at once; others wait in order, for turns of
 * the event loop or for the service that holds the key.
 */
export class DecryptedSubscription implements Subscription {
  private inner: Subscription | undefined;
  /** Resolves when the waiting batches are delivered; undefined if none waits. It never rejects. */
  private waiting: Promise<void> | undefined;
  private closed = false;
  /** Every event up to here has been delivered. */
  private reached: Revision;

  constructor(
    private readonly decryption: EntryDecryption,
    private readonly listener: Listener,
    private readonly options: SubscribeOptions,
    private readonly finished: () => void,
  ) {
    this.reached = options.after;
  }

  /** @param subscribe subscribes to the encrypted events. */
  start(subscribe: (listener: Listener) => Subscription): void {
    const { listener } = this;
    const inner = subscribe({
      events: (batch, upTo) => this.receive(() => this.deliver(batch, upTo)),
      ended: (error) => this.receive(() => this.end(error)),
      drained: async () => {
        await this.waiting;
        await listener.drained?.();
      },
    });
    this.inner = inner;
    if (this.closed) inner.close();
  }

  get position(): Revision {
    // Batches that wait aren't delivered yet.
    return this.waiting === undefined ? this.inner!.position : this.reached;
  }

  sync(): Revision | Promise<Revision> {
    const synced = this.inner!.sync();
    if (!(synced instanceof Promise) && this.waiting === undefined) return synced;
    return this.syncLater(synced);
  }

  private async syncLater(synced: Revision | Promise<Revision>): Promise<Revision> {
    const revision = await synced;
    await this.waiting;
    return revision;
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.finished();
    this.inner?.close();
  }

  /** Resolves when the events of a key that the store has passed on are delivered. */
  delivered(key: string): Promise<void> | undefined {
    return key.startsWith(this.options.prefix) ? this.waiting : undefined;
  }

  /** Runs a step after those that wait. */
  private receive(step: () => void | Promise<void>): void {
    const done = this.waiting === undefined ? step() : this.waiting.then(step);
    if (!(done instanceof Promise)) return;
    const waiting = done
      .catch((error: unknown) => this.fail(error))
      .then(() => {
        if (this.waiting === waiting) this.waiting = undefined;
      });
    this.waiting = waiting;
  }

  private deliver(batch: readonly StoreEvent[], upTo: Revision): void | Promise<void> {
    if (this.closed) return;
    try {
      const opened = this.decryption.openBatch(batch);
      if (opened instanceof Promise) return opened.then((events) => this.pass(events, upTo));
      this.pass(opened, upTo);
    } catch (error) {
      this.fail(error);
    }
  }

  private pass(events: readonly StoreEvent[], upTo: Revision): void {
    if (this.closed) return;
    this.listener.events(events, upTo);
    this.reached = upTo;
  }

  private end(error: StoreError): void {
    if (this.closed) return;
    this.closed = true;
    this.finished();
    this.listener.ended(error);
  }

  /** Ends the subscription because an event can't be decrypted. */
  private fail(error: unknown): void {
    if (this.closed) return;
    this.close();
    const ended =
      error instanceof StoreError ? error : new StoreError("a subscription failed", { cause: error });
    this.listener.ended(ended);
  }
}
