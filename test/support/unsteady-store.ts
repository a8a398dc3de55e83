import { createMemoryStore } from "../../src/storage/memory/memory-store.ts";
import {
  RevisionCompactedError,
  StoreUnavailableError,
  type Listener,
  type RangeOptions,
  type Revision,
  type Store,
  type SubscribeOptions,
  type Write,
} from "../../src/storage/store.ts";
import { ManualClock } from "./manual-clock.ts";

/** A store whose reads can be held back or fail, whose writes can fail, and whose subscriptions can be ended. */
export class UnsteadyStore {
  readonly clock = new ManualClock();
  readonly store = createMemoryStore({ clock: this.clock });
  readonly shown: Store;
  away = false;
  held: Promise<void> | undefined;
  reads = 0;
  /** Which reads fail because history is compacted up to their revision. */
  isCompacted: (options: RangeOptions) => boolean = () => false;
  /** Which writes fail without taking place. */
  failsToWrite: (write: Write) => boolean = () => false;
  private end: (() => void) | undefined;

  constructor() {
    const { store } = this;
    const range = async (options: RangeOptions) => {
      this.reads++;
      await this.held;
      if (this.away) throw new StoreUnavailableError("away");
      if (this.isCompacted(options)) throw new RevisionCompactedError(options.at!, options.at!);
      return store.range(options);
    };
    const commit = async (write: Write) => {
      if (this.failsToWrite(write)) throw new StoreUnavailableError("away");
      return await store.commit(write);
    };
    const subscribe = (options: SubscribeOptions, listener: Listener) => {
      const subscription = store.subscribe(options, listener);
      this.end = () => {
        subscription.close();
        listener.ended(new RevisionCompactedError(1 as Revision, 2 as Revision));
      };
      return subscription;
    };
    this.shown = new Proxy(store, {
      get(target, name) {
        if (name === "range") return range;
        if (name === "commit") return commit;
        if (name === "subscribe") return subscribe;
        return Reflect.get(target, name) as unknown;
      },
    });
  }

  endSubscription(): void {
    this.end!();
  }

  async create(key: string): Promise<void> {
    const draft = { header: Buffer.from("{}"), body: Buffer.from('{"v":""}'), revisionAt: 6 };
    await this.store.commit({ kind: "create", key, draft });
  }
}
