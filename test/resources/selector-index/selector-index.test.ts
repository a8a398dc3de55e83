import { afterEach, describe, expect, it } from "vitest";
import { createMemoryStore } from "../../../src/storage/memory/memory-store.ts";
import type { Revision, Store } from "../../../src/storage/store.ts";
import { ManualClock } from "../../api/support.ts";
import { countTurns } from "../../support/turns.ts";
import { UnsteadyStore } from "../../support/unsteady-store.ts";
import { chunk, listAt, put, remove, smallLimits, twoEngines, type Query } from "./support.ts";

const web: Query = { namespace: "", labels: "app=web", fields: "" };
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** A store with pods, of which one in `each` is labelled app=web. */
async function fill(store: Store, count: number, each: number): Promise<void> {
  for (let number = 0; number < count; number++) {
    const labels = { app: number % each === 0 ? "web" : `other-${number}` };
    await put(store, "a", `pod-${String(number).padStart(4, "0")}`, { labels, nodeName: "" });
  }
}

async function filled({ count = 100, each = 10, limits = {}, store = undefined as Store | undefined } = {}) {
  const clock = new ManualClock();
  const own = store ?? createMemoryStore({ clock });
  await fill(own, count, each);
  const engines = twoEngines(own, clock, { ...smallLimits, ...limits });
  closers.push(engines.close, () => own.close());
  const list = async (query = web) => (await chunk(engines.indexed, query, { mode: "latest" })).items;
  return { ...engines, clock, store: own, list, counters: () => engines.selectors.counters };
}

describe("the index of a label", () => {
  it("is built after lists have scanned enough objects without a match, and then answers lists", async () => {
    const { list, selectors, counters } = await filled();
    const scanned = await list();
    expect(scanned).toHaveLength(10);
    await selectors.settled();
    expect(await list()).toEqual(scanned);
    expect(counters()).toMatchObject({ scanned: 1, fromIndex: 1, indexes: 1, tooLarge: 0 });
  });

  it("is not built for a small collection, nor for conditions without an exact value", async () => {
    const { list, selectors, counters } = await filled({ limits: { leastObjects: 101 } });
    await list();
    await list({ ...web, labels: "app!=web" });
    await selectors.settled();
    await list();
    expect(counters()).toMatchObject({ indexes: 0, fromIndex: 0 });
  });

  it("does not answer lists at a revision before it was built", async () => {
    const { list, selectors, store, indexed, scanning } = await filled();
    const before = (await store.latestRevision()) as Revision;
    await remove(store, "a", "pod-0000");
    await put(store, "a", "pod-0010", { labels: {}, nodeName: "" });
    await list();
    await selectors.settled();
    expect(await list()).toHaveLength(8);
    expect(await listAt(indexed, web, before)).toEqual(await listAt(scanning, web, before));
    expect(await listAt(indexed, web, before)).toHaveLength(10);
  });

  it("yields to other work while it is built, and includes concurrent writes", async () => {
    const { list, selectors, store } = await filled({ count: 300 });
    await list();
    const turns = countTurns();
    const writing = (async () => {
      for (let number = 0; number < 20; number++) {
        await put(store, "a", `late-${number}`, { labels: { app: "web" }, nodeName: "" });
        await new Promise((resolve) => setImmediate(resolve));
      }
    })();
    await selectors.settled();
    expect(turns()).toBeGreaterThan(50);
    await writing;
    expect(await list()).toHaveLength(30 + 20);
  });

  it("adds concurrent writes in steps and yields to other work in between", async () => {
    const { list, selectors, store } = await filled({ count: 300, limits: { pageObjects: 150 } });
    await list();
    // Between the two pages.
    const changes = Array.from({ length: 100 }, (_, number) =>
      put(store, "a", `late-${number}`, { labels: { app: "web" }, nodeName: "" }),
    );
    const turns = countTurns();
    await selectors.settled();
    expect(turns()).toBeGreaterThan(40);
    await Promise.all(changes);
    expect(await list()).toHaveLength(30 + 100);
  });

  it("is removed when it was not used for the idle time", async () => {
    const { list, selectors, clock, counters } = await filled();
    await list();
    await selectors.settled();
    expect(counters()).toMatchObject({ indexes: 1 });
    await clock.advance(3 * smallLimits.idleMs);
    expect(counters()).toMatchObject({ indexes: 0, bytes: 0 });
    expect(await list()).toHaveLength(10);
  });

  it("is not built when it would exceed the memory limit, and tooLarge is counted", async () => {
    const { list, selectors, counters } = await filled({ limits: { totalBytes: 5000 } });
    await list();
    await selectors.settled();
    expect(await list()).toHaveLength(10);
    expect(counters()).toMatchObject({ indexes: 0, fromIndex: 0, tooLarge: 1 });
  });

  it("is removed when it grows beyond the memory limit", async () => {
    const { list, selectors, store, counters } = await filled({ limits: { totalBytes: 25_000 } });
    await list();
    await selectors.settled();
    expect(counters()).toMatchObject({ indexes: 1 });
    expect(counters().bytes).toBeGreaterThan(100 * 60);
    for (let number = 0; number < 100; number++) {
      await put(store, "b", `pod-${number}`, { labels: { app: `more-${number}` }, nodeName: "" });
    }
    expect(counters()).toMatchObject({ indexes: 0, tooLarge: 1 });
    expect(await list()).toHaveLength(10);
  });

  it("is replaced by another one when the limit of indexes is reached", async () => {
    const { list, selectors, counters } = await filled({ limits: { termsOfCollection: 1 } });
    const byName = { namespace: "", labels: "", fields: "metadata.name=pod-0003" };
    for (const query of [web, byName]) {
      await list(query);
      await selectors.settled();
    }
    expect(await list(byName)).toHaveLength(1);
    expect(counters()).toMatchObject({ indexes: 1, fromIndex: 1 });
  });

  it("omits a value that many objects have, and includes it again when few have it", async () => {
    const { list, selectors, store, counters } = await filled({ each: 2 });
    await list();
    await selectors.settled();
    expect(await list()).toHaveLength(50);
    expect(counters()).toMatchObject({ indexes: 1, fromIndex: 0 });
    for (let number = 0; number < 90; number += 2) {
      await remove(store, "a", `pod-${String(number).padStart(4, "0")}`);
    }
    await list();
    await selectors.settled();
    expect(await list()).toHaveLength(5);
    // The list that requested the new index waited for it.
    expect(counters()).toMatchObject({ fromIndex: 2, scanned: 2 });
  });

  it("answers lists that begin while it is built, once it is built", async () => {
    const { list, counters } = await filled({ count: 300 });
    await list();
    const lists = await Promise.all([list(), list(), list({ ...web, namespace: "a" })]);
    expect(lists.map(({ length }) => length)).toEqual([30, 30, 30]);
    expect(counters()).toMatchObject({ scanned: 1, fromIndex: 3 });
  });

  it("that can't be completed lets lists that waited for it scan", async () => {
    const { list, counters } = await filled({ count: 300, limits: { totalBytes: 100 } });
    const scanned = await list();
    expect(await list()).toEqual(scanned);
    expect(counters()).toMatchObject({ scanned: 2, fromIndex: 0, tooLarge: 1 });
  });

  it("is waited for at most two seconds", async () => {
    const { list, clock, counters, store } = await filled({ count: 300 });
    await list();
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const { range } = store;
    // Only the building of the index waits; the list reads pages of other sizes.
    store.range = (options) =>
      options.limit === smallLimits.pageObjects
        ? held.then(() => range.call(store, options))
        : range.call(store, options);
    const waiting = list();
    await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(2000);
    expect(await waiting).toHaveLength(30);
    expect(counters()).toMatchObject({ scanned: 2, fromIndex: 0 });
    release();
  });

  it("is expected until it is built, is found useless, or can't be built", async () => {
    const search = (name: string) =>
      ({ collection: "/core/pods/", terms: [{ of: "labels", name, values: ["web"] }] }) as const;
    const { list, selectors } = await filled({ count: 300 });
    expect(await selectors.expectsIndex(search("app"))).toBe(false);
    await list();
    await selectors.settled();
    expect(await selectors.expectsIndex(search("app"))).toBe(false);
    const small = await filled({ limits: { leastObjects: 101 } });
    await small.list();
    expect(await small.selectors.expectsIndex(search("app"))).toBe(false);
    const fresh = await filled({ count: 300, limits: { leastObjects: 301 } });
    await fresh.list();
    await put(fresh.store, "a", "one-more", { labels: {}, nodeName: "" });
    expect(await fresh.selectors.expectsIndex(search("app"))).toBe(true);
    const large = await filled({ count: 300, limits: { totalBytes: 100 } });
    await large.list();
    await large.selectors.settled();
    expect(await large.selectors.expectsIndex(search("app"))).toBe(false);
  });

  it("isn't waited for by lists of a namespace with less than half of the objects", async () => {
    const { list, counters, store } = await filled({ count: 300 });
    await put(store, "b", "another", { labels: { app: "web" }, nodeName: "" });
    await list();
    expect(await list({ ...web, namespace: "b" })).toHaveLength(1);
    expect(counters()).toMatchObject({ scanned: 2, fromIndex: 0 });
    expect(await list({ ...web, namespace: "a" })).toHaveLength(30);
    expect(counters()).toMatchObject({ scanned: 2, fromIndex: 1 });
  });

  it("isn't waited for by lists of other labels or at a revision", async () => {
    const { list, counters, indexed, store } = await filled({ count: 300 });
    const at = (await store.latestRevision()) as Revision;
    await list();
    await Promise.all([list({ ...web, labels: "tier=x" }), listAt(indexed, web, at)]);
    expect(counters()).toMatchObject({ scanned: 3 });
  });
});

describe("a store that fails", () => {
  it("while an index is built reports the failure, and lists scan", async () => {
    const unsteady = new UnsteadyStore();
    const { list, selectors, failures, counters } = await filled({ store: unsteady.shown });
    await list();
    unsteady.away = true;
    await selectors.settled();
    unsteady.away = false;
    expect(failures).toHaveLength(1);
    expect(await list()).toHaveLength(10);
    expect(counters()).toMatchObject({ indexes: 0 });
  });

  it("by ending its subscription invalidates the index until it is rebuilt", async () => {
    const unsteady = new UnsteadyStore();
    const { list, selectors, counters } = await filled({ store: unsteady.shown });
    await list();
    await selectors.settled();
    unsteady.endSubscription();
    await put(unsteady.store, "a", "late", { labels: { app: "web" }, nodeName: "" });
    expect(await list()).toHaveLength(11);
    await selectors.settled();
    expect(await list()).toHaveLength(11);
    expect(counters().fromIndex).toBe(1);
  });
});
