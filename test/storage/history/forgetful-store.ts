import { andThen, type MaybePromise } from "../../../src/base/turns/maybe-promise.ts";
import { collectionOf } from "../../../src/storage/history/archive-keys.ts";
import { StoreView } from "../../../src/storage/store-view.ts";
import {
  RevisionCompactedError,
  type CommitResult,
  type Entry,
  type Listener,
  type RangeOptions,
  type RangePage,
  type Revision,
  type SubscribeOptions,
  type Subscription,
  type TransactionResult,
  type Write,
} from "../../../src/storage/store.ts";

/**
 * A store that has no past of single collections: a read of it, or a subscription that begins there, fails as after a compaction. So what
 * is read of the past comes from the kept history.
 */
export class ForgetfulStore extends StoreView {
  get(key: string, at?: Revision): MaybePromise<Entry | undefined> {
    return this.unlessPast(key, at, () => this.inner.get(key, at));
  }

  range(options: RangeOptions): MaybePromise<RangePage> {
    return this.unlessPast(options.prefix, options.at, () => this.inner.range(options));
  }

  override count(prefix: string, at?: Revision): MaybePromise<number> {
    return this.unlessPast(prefix, at, () => this.inner.count(prefix, at));
  }

  commit(write: Write): Promise<CommitResult> {
    return this.inner.commit(write);
  }

  transact(writes: readonly Write[]): Promise<TransactionResult> {
    return this.inner.transact(writes);
  }

  override subscribe(options: SubscribeOptions, listener: Listener): Subscription {
    const { prefix, after } = options;
    const latest = this.inner.latestRevision() as Revision;
    if (collectionOf(prefix) === undefined || after >= latest) return this.inner.subscribe(options, listener);
    queueMicrotask(() => listener.ended(new RevisionCompactedError(after, latest)));
    const sync = () => Promise.reject(new RevisionCompactedError(after, latest));
    return { position: after, sync, close: () => undefined };
  }

  private unlessPast<T>(
    prefix: string,
    at: Revision | undefined,
    read: () => MaybePromise<T>,
  ): MaybePromise<T> {
    if (at === undefined || collectionOf(prefix) === undefined) return read();
    return andThen(this.inner.latestRevision(), (latest) => {
      if (at < latest) throw new RevisionCompactedError(at, latest);
      return read();
    });
  }
}
