import { expect, test } from "vitest";
import { Follower } from "../../src/resources/follower.ts";
import { createMemoryStore } from "../../src/storage/memory/memory-store.ts";
import {
  RevisionCompactedError,
  StoreUnavailableError,
  type Listener,
  type RangeOptions,
  type Revision,
  type Store,
  type SubscribeOptions,
} from "../../src/storage/store.ts";
import { ManualClock, settle } from "../api/support.ts";

const prefix = "/core/configmaps/";
const draft = { header: Buffer.from("{}"), body: Buffer.from('{"v":""}'), revisionAt: 6 };

/** A store whose reads can be held back or fail, and whose subscriptions can be ended. */
class Unsteady {
  readonly clock = new ManualClock();
  readonly store = createMemoryStore({ clock: this.clock });
  readonly shown: Store;
  away = false;
  held: Promise<void> | undefined;
  reads = 0;
  private end: (() => void) | undefined;

  constructor() {
    const { store } = this;
    const range = async (options: RangeOptions) => {
      this.reads++;
      await this.held;
      if (this.away) throw new StoreUnavailableError("away");
      return store.range(options);
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
        if (name === "subscribe") return subscribe;
        return Reflect.get(target, name) as unknown;
      },
    });
  }

  endSubscription(): void {
    this.end!();
  }

  async create(name: string): Promise<void> {
    await this.store.commit({ kind: "create", key: `${prefix}a/${name}`, draft });
  }
}

async function follow() {
  const unsteady = new Unsteady();
  const keys = new Set<string>();
  const failures: unknown[] = [];
  const handler = {
    put: ({ key }: { key: string }) => void keys.add(key),
    remove: (key: string) => void keys.delete(key),
    failed: (error: unknown) => void failures.push(error),
  };
  const follower = new Follower(unsteady.shown, prefix, handler, unsteady.clock);
  await follower.start();
  return { unsteady, keys, failures, follower };
}

test("nothing is taken for known before the first load", () => {
  const { shown, clock } = new Unsteady();
  const handler = { put: () => undefined, remove: () => undefined, failed: () => undefined };
  const follower = new Follower(shown, prefix, handler, clock);
  expect(() => follower.sync()).toThrow(StoreUnavailableError);
});

test("a sync while everything is loaded anew waits until that is done", async () => {
  const { unsteady, keys, follower } = await follow();
  let release = (): void => undefined;
  unsteady.held = new Promise((resolve) => (release = resolve));
  unsteady.endSubscription();
  await unsteady.create("late");
  let synced = false;
  const sync = Promise.resolve(follower.sync()).then(() => (synced = true));
  await settle();
  expect(synced).toBe(false);
  release();
  await sync;
  expect([...keys]).toEqual([`${prefix}a/late`]);
  follower.close();
});

test("while loading anew fails a sync is refused; it is tried again each second", async () => {
  const { unsteady, keys, failures, follower } = await follow();
  unsteady.away = true;
  unsteady.endSubscription();
  await expect(async () => follower.sync()).rejects.toThrow(StoreUnavailableError);
  await unsteady.create("late");
  await unsteady.clock.advance(2500);
  expect(failures).toHaveLength(3);
  await expect(async () => follower.sync()).rejects.toThrow(StoreUnavailableError);
  unsteady.away = false;
  await unsteady.clock.advance(500);
  await follower.sync();
  expect([...keys]).toEqual([`${prefix}a/late`]);
  follower.close();
});

test("a follower that is closed doesn't load again", async () => {
  const { unsteady, follower } = await follow();
  unsteady.away = true;
  unsteady.endSubscription();
  await settle();
  follower.close();
  const { reads } = unsteady;
  await unsteady.clock.advance(10_000);
  expect(unsteady.reads).toBe(reads);
});
