import type { MaybePromise } from "../base/turns/maybe-promise.ts";
import { discardUnreadable } from "./discard.ts";
import type {
  CommitResult,
  DiscardResult,
  Entry,
  Listener,
  RangeOptions,
  RangePage,
  Revision,
  Store,
  StoreError,
  StoreHistory,
  StoreUsage,
  TransactionLimits,
  TransactionResult,
  SubscribeOptions,
  Subscription,
  Write,
} from "./store.ts";
import type { StorePins } from "./store-history.ts";

/** A store that shows the entries of another one in a different form. All other methods call the other store. */
export abstract class StoreView implements Store {
  constructor(protected readonly inner: Store) {}

  abstract get(key: string, at?: Revision): MaybePromise<Entry | undefined>;
  abstract range(options: RangeOptions): MaybePromise<RangePage>;
  abstract commit(write: Write): Promise<CommitResult>;
  abstract transact(writes: readonly Write[]): Promise<TransactionResult>;

  get transactionLimits(): TransactionLimits {
    return this.inner.transactionLimits;
  }

  get history(): StoreHistory | undefined {
    return this.inner.history;
  }

  get pins(): StorePins | undefined {
    return this.inner.pins;
  }

  latestRevision(): MaybePromise<Revision> {
    return this.inner.latestRevision();
  }

  floor(): MaybePromise<Revision> {
    return this.inner.floor();
  }

  count(prefix: string, at?: Revision): MaybePromise<number> {
    return this.inner.count(prefix, at);
  }

  discard(key: string, dryRun: boolean): Promise<DiscardResult> {
    return discardUnreadable(this.inner, key, dryRun);
  }

  subscribe(options: SubscribeOptions, listener: Listener): Subscription {
    return this.inner.subscribe(options, listener);
  }

  together(work: () => void): void {
    this.inner.together(work);
  }

  compact(before: number): Promise<Revision> {
    return this.inner.compact(before);
  }

  check(): Promise<readonly string[]> {
    return this.inner.check();
  }

  writeObstacle(): MaybePromise<StoreError | undefined> {
    return this.inner.writeObstacle();
  }

  usage(): MaybePromise<StoreUsage | undefined> {
    return this.inner.usage?.();
  }

  close(): Promise<void> {
    return this.inner.close();
  }
}
