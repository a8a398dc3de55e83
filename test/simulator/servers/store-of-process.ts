import type { MaybePromise } from "../../../src/base/turns/maybe-promise.ts";
import type { MemoryStore } from "../../../src/storage/memory/memory-store.ts";
import type {
  CommitResult,
  Entry,
  Listener,
  RangeOptions,
  RangePage,
  Revision,
  Store,
  StoreError,
  SubscribeOptions,
  Subscription,
  TransactionLimits,
  TransactionResult,
  Write,
} from "../../../src/storage/store.ts";

/** A store in memory as one process uses it. When the process has ended, its calls have no effect, and it receives no events. */
export class StoreOfProcess implements Store {
  readonly keepsEntries = true;
  private readonly subscriptions = new Set<Subscription>();
  private isOver = false;

  constructor(private readonly store: MemoryStore) {}

  /** The process has ended. */
  end(): void {
    this.isOver = true;
    for (const subscription of this.subscriptions) subscription.close();
  }

  latestRevision(): MaybePromise<Revision> {
    return this.unlessOver(() => this.store.latestRevision());
  }

  floor(): MaybePromise<Revision> {
    return this.unlessOver(() => this.store.floor());
  }

  get(key: string, at?: Revision): MaybePromise<Entry | undefined> {
    return this.unlessOver(() => this.store.get(key, at));
  }

  range(options: RangeOptions): MaybePromise<RangePage> {
    return this.unlessOver(() => this.store.range(options));
  }

  async count(prefix: string, at?: Revision): Promise<number> {
    return this.unlessOver(() => this.store.count(prefix, at));
  }

  async commit(write: Write): Promise<CommitResult> {
    return this.unlessOver(() => this.store.commit(write));
  }

  async transact(writes: readonly Write[]): Promise<TransactionResult> {
    return this.unlessOver(() => this.store.transact(writes));
  }

  get transactionLimits(): TransactionLimits {
    return this.store.transactionLimits;
  }

  subscribe(options: SubscribeOptions, listener: Listener): Subscription {
    const subscription = this.store.subscribe(options, listener);
    if (this.isOver) subscription.close();
    else this.subscriptions.add(subscription);
    return subscription;
  }

  together(work: () => void): void {
    this.store.together(work);
  }

  async compact(before: number): Promise<Revision> {
    return this.unlessOver(() => this.store.compact(before));
  }

  async check(): Promise<readonly string[]> {
    return this.unlessOver(() => this.store.check());
  }

  writeObstacle(): MaybePromise<StoreError | undefined> {
    return this.unlessOver(() => this.store.writeObstacle());
  }

  close(): Promise<void> {
    this.end();
    return Promise.resolve();
  }

  /** Calls the store; a call of a process that has ended never returns a result. */
  private unlessOver<T>(call: () => MaybePromise<T>): MaybePromise<T> {
    return this.isOver ? new Promise(() => undefined) : call();
  }
}
