import type { MaybePromise } from "../base/turns/maybe-promise.ts";
import type { SpanOptions, Tracer } from "../base/tracing/tracer.ts";
import type {
  CommitResult,
  Entry,
  Listener,
  RangeOptions,
  RangePage,
  Revision,
  Store,
  SubscribeOptions,
  Subscription,
  TransactionResult,
  Write,
} from "./store.ts";
import { StoreView } from "./store-view.ts";

/** Records a span for each read and write of another store that belongs to a traced request. */
export class TracedStore extends StoreView {
  constructor(
    inner: Store,
    private readonly tracer: Tracer,
  ) {
    super(inner);
  }

  get keepsEntries(): boolean {
    return this.inner.keepsEntries === true;
  }

  get(key: string, at?: Revision): MaybePromise<Entry | undefined> {
    return this.tracer.span("storage get", optionsFor(key), () => this.inner.get(key, at));
  }

  range(options: RangeOptions): MaybePromise<RangePage> {
    return this.tracer.span("storage range", optionsFor(options.prefix), () => this.inner.range(options));
  }

  override count(prefix: string, at?: Revision): MaybePromise<number> {
    return this.tracer.span("storage count", optionsFor(prefix), () => this.inner.count(prefix, at));
  }

  async commit(write: Write): Promise<CommitResult> {
    return this.tracer.span(`storage ${write.kind}`, optionsFor(write.key), () => this.inner.commit(write));
  }

  async transact(writes: readonly Write[]): Promise<TransactionResult> {
    const options = { attributes: { "storage.writes": writes.length } };
    return this.tracer.span("storage transaction", options, () => this.inner.transact(writes));
  }

  /** Events are delivered in the context of the request that commits; what watches and controllers do with them isn't its work. */
  override subscribe(options: SubscribeOptions, listener: Listener): Subscription {
    const { tracer } = this;
    return this.inner.subscribe(options, {
      events: (batch, upTo) => tracer.outside(() => listener.events(batch, upTo)),
      ended: (error) => tracer.outside(() => listener.ended(error)),
      ...(listener.drained === undefined ? {} : { drained: () => tracer.outside(() => listener.drained!()) }),
    });
  }
}

/** The attribute has the prefix of the key only, because names of objects can be secret. */
function optionsFor(key: string): SpanOptions {
  return { attributes: { "storage.prefix": key.slice(0, key.lastIndexOf("/") + 1) } };
}
