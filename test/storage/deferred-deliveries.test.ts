import { describe, expect, test } from "vitest";
import { systemClock } from "../../src/base/time/clock.ts";
import { createMemoryStore } from "../../src/storage/memory/memory-store.ts";
import type { Deferral, Draft, Revision, Store, StoreEvent, Subscription } from "../../src/storage/store.ts";

const prefix = "/core/configmaps/";
const everything: Deferral = { key: "", selects: (batch) => batch.length > 0 };

function draft(bytes = 10): Draft {
  const start = '{"metadata":{"resourceVersion":"';
  const body = Buffer.from(`${start}"},"t":"${"x".repeat(bytes)}"}`);
  return { header: Buffer.from("{}"), body, revisionAt: start.length };
}

async function create(store: Store, name: string, bytes?: number): Promise<Revision> {
  const result = await store.commit({ kind: "create", key: `${prefix}a/${name}`, draft: draft(bytes) });
  if (!result.ok) throw new Error("the object exists");
  return result.revision;
}

class Watcher {
  readonly batches: (readonly StoreEvent[])[] = [];
  readonly subscription: Subscription;

  constructor(store: Store, after: Revision, deferral = everything) {
    this.subscription = store.subscribe(
      { prefix, after, deferral },
      { events: (batch) => this.batches.push(batch), ended: (error) => expect(error).toBeUndefined() },
    );
  }

  get names(): string[] {
    return this.batches.flat().map(({ key }) => key.slice(`${prefix}a/`.length));
  }
}

async function open(count: number, deferral?: (index: number) => Deferral) {
  const store = createMemoryStore({ clock: systemClock });
  const after = await store.latestRevision();
  const watchers = Array.from({ length: count }, (_, index) => new Watcher(store, after, deferral?.(index)));
  return { store, watchers };
}

async function turns(isDone: () => boolean): Promise<number> {
  let count = 0;
  for (; !isDone(); count++) {
    if (count > 10_000) throw new Error("the events are not delivered");
    await new Promise((resolve) => setImmediate(resolve));
  }
  return count;
}

describe("deferrable subscriptions", () => {
  test("receive an event before the write is acknowledged when they are few", async () => {
    const { store, watchers } = await open(20);
    await create(store, "one");
    for (const watcher of watchers) expect(watcher.names).toEqual(["one"]);
  });

  test("receive events in many turns of the event loop when they are many", async () => {
    const { store, watchers } = await open(2000);
    const written = create(store, "one");
    const served = watchers.filter(({ batches }) => batches.length > 0).length;
    expect(served).toBeGreaterThan(0);
    expect(served).toBeLessThan(200);
    await written;
    const count = await turns(() => watchers.every(({ batches }) => batches.length === 1));
    expect(count).toBeGreaterThan(5);
  });

  test("receive events without other work in between when too many bytes wait for them", async () => {
    const { store, watchers } = await open(100);
    const mebibyte = 1024 * 1024;
    for (let index = 0; index < 100; index++) await create(store, `object-${index}`, mebibyte);
    const behind = Math.min(...watchers.map(({ names }) => names.length));
    // One event more than the limit, because the last round ends below it.
    expect(100 - behind).toBeLessThanOrEqual(33);
    expect(behind).toBeLessThan(100);
    await turns(() => watchers.every(({ names }) => names.length === 100));
  });

  test("receive the events of several writes as one batch, in order, when they are behind", async () => {
    const { store, watchers } = await open(1000);
    const names = Array.from({ length: 50 }, (_, index) => `object-${index}`);
    await Promise.all(names.map((name) => create(store, name)));
    await turns(() => watchers.every((watcher) => watcher.names.length === names.length));
    for (const watcher of watchers) expect(watcher.names).toEqual(names);
    const last = watchers.at(-1)!;
    expect(last.batches.length).toBeLessThan(10);
    // Equal batches are one array, so that their encoding is shared.
    expect(last.batches.at(-1)).toBe(watchers.at(-2)!.batches.at(-1));
  });

  test("receive large events in several batches", async () => {
    const { store, watchers } = await open(300);
    const names = Array.from({ length: 20 }, (_, index) => `object-${index}`);
    await Promise.all(names.map((name) => create(store, name, 30_000)));
    await turns(() => watchers.every((watcher) => watcher.names.length === names.length));
    for (const { batches } of watchers) {
      for (const batch of batches) expect(batch.length).toBeLessThanOrEqual(3);
    }
  });

  test("have no position after an event that they have not received", async () => {
    const { store, watchers } = await open(2000);
    const before = await store.latestRevision();
    const written = create(store, "one");
    const last = watchers.at(-1)!;
    expect(last.batches).toEqual([]);
    expect(last.subscription.position).toBe(before);
    const revision = await written;
    await turns(() => last.batches.length === 1);
    expect(last.subscription.position).toBe(revision);
  });

  test("receive their events at once when they are synced", async () => {
    const { store, watchers } = await open(2000);
    const written = create(store, "one");
    const last = watchers.at(-1)!;
    expect(last.batches).toEqual([]);
    await last.subscription.sync();
    expect(last.names).toEqual(["one"]);
    await written;
    await turns(() => watchers.every(({ batches }) => batches.length === 1));
    expect(last.batches.length).toBe(1);
  });

  test("receive nothing after they are closed, and don't stop the others", async () => {
    const { store, watchers } = await open(1000);
    const written = create(store, "one");
    const closed = watchers.filter(({ batches }, index) => batches.length === 0 && index % 2 === 0);
    for (const { subscription } of closed) subscription.close();
    await written;
    const rest = watchers.filter((watcher) => !closed.includes(watcher));
    await turns(() => rest.every(({ batches }) => batches.length === 1));
    for (const { batches } of closed) expect(batches).toEqual([]);
  });

  test("are not visited for events that their selection doesn't match", async () => {
    const compared = [0, 0];
    const deferrals = [0, 1].map((group): Deferral => {
      const selects = (batch: readonly StoreEvent[]) => {
        compared[group]!++;
        return batch.some(({ key }) => key.endsWith(`-${group}`));
      };
      return { key: `group ${group}`, selects };
    });
    const { store, watchers } = await open(600, (index) => deferrals[index % 2]!);
    const revision = await create(store, "object-1");
    await turns(() => watchers.every(({ subscription }) => subscription.position === revision));
    for (const [index, watcher] of watchers.entries()) {
      expect(watcher.names).toEqual(index % 2 === 1 ? ["object-1"] : []);
    }
    expect(compared).toEqual([1, 1]);
  });

  test("receive the events that the comparison with their selection fails for", async () => {
    const selects = () => {
      throw new Error("not comparable");
    };
    const { store, watchers } = await open(3, () => ({ key: "", selects }));
    await create(store, "one");
    for (const watcher of watchers) expect(watcher.names).toEqual(["one"]);
  });
});

describe("subscriptions without deferral", () => {
  test("have no position after an event that they have not received", async () => {
    const store = createMemoryStore({ clock: systemClock });
    const after = await store.latestRevision();
    const positions: Revision[] = [];
    const first = store.subscribe({ prefix, after }, { events: () => closeSecond(), ended: () => undefined });
    const second = store.subscribe({ prefix, after }, { events: () => undefined, ended: () => undefined });
    const closeSecond = () => {
      second.close();
      positions.push(second.position);
    };
    const revision = await create(store, "one");
    expect(positions).toEqual([after]);
    expect(first.position).toBe(revision);
  });
});
