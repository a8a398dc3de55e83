import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../../src/base/time/clock.ts";
import { StatusError } from "../../../src/base/status-error.ts";
import { openLmdbStore } from "../../../src/storage/lmdb/lmdb-store.ts";
import { createMemoryStore } from "../../../src/storage/memory/memory-store.ts";
import type { Revision, Store } from "../../../src/storage/store.ts";
import { temporaryFolder } from "../../storage/support.ts";
import { chunk, listAt, put, remove, twoEngines, type Query } from "./support.ts";

const namespaces = ["a", "b"];
const name = fc.integer({ min: 0, max: 15 }).map((number) => `pod-${number}`);
const namespace = fc.constantFrom(...namespaces);
const app = fc.constantFrom("web", "db", "cache", undefined);
const query: fc.Arbitrary<Query> = fc.record({
  namespace: fc.constantFrom("", ...namespaces),
  labels: fc.constantFrom(
    "",
    "app=web",
    "app in (web,db)",
    "app",
    "app=web,tier=front",
    "app=none",
    "!app",
    "app!=web",
    "tier notin (front),app",
    "number>3,app",
  ),
  fields: fc.constantFrom(
    "",
    "",
    "spec.nodeName=n1",
    "spec.nodeName=",
    "spec.nodeName!=n1",
    "metadata.name=pod-3",
  ),
});
const write = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("put" as const),
      namespace,
      name,
      app,
      tier: fc.constantFrom("front", "back", undefined),
      nodeName: fc.constantFrom("n1", "n2", ""),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("remove" as const), namespace, name }) },
);
const list = fc.record({
  do: fc.constant("list" as const),
  query,
  limit: fc.constantFrom(0, 0, 1, 3),
  /** What happens between the chunks. */
  between: fc.array(write, { maxLength: 3 }),
  back: fc.constantFrom(0, 0, 2),
});
const step = fc.oneof(
  { weight: 5, arbitrary: write },
  { weight: 6, arbitrary: list },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("build" as const), query, wait: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("compact" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("restart" as const) }) },
);
type Write = typeof write extends fc.Arbitrary<infer T> ? T : never;
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

async function change(store: Store, one: Write): Promise<void> {
  if (one.do === "remove") return remove(store, one.namespace, one.name);
  const labels: Record<string, string> = { number: one.name.slice(4) };
  if (one.app !== undefined) labels.app = one.app;
  if (one.tier !== undefined) labels.tier = one.tier;
  await put(store, one.namespace, one.name, { labels, nodeName: one.nodeName });
}

/** The stores of a run: one that is read, and one, maybe of another server, that is written. */
interface Stores {
  readonly read: Store;
  readonly written: Store;
  reopen(): Promise<void>;
  close(): Promise<void>;
}

async function expectSameLists(stores: Stores, steps: readonly Step[]): Promise<number> {
  let engines = twoEngines(stores.read, systemClock);
  let fromIndex = 0;
  const collection = "/core/pods/";
  for (const one of steps) {
    if (one.do === "put" || one.do === "remove") await change(stores.written, one);
    else if (one.do === "compact") await stores.written.compact(Date.now() + 1000);
    else if (one.do === "build") {
      await chunk(engines.indexed, one.query, { mode: "latest" });
      const { labels, fields } = one.query;
      const terms = [
        ...(labels === "" ? [] : [{ of: "labels" as const, name: "app", values: [] }]),
        ...(fields === "" ? [] : [{ of: "fields" as const, name: "spec.nodeName", values: [] }]),
      ];
      engines.selectors.scanned({ collection, terms }, 1000);
      if (one.wait) await engines.selectors.settled();
    } else if (one.do === "restart") {
      expect(engines.failures).toEqual([]);
      fromIndex += engines.selectors.counters.fromIndex;
      await engines.close();
      await stores.reopen();
      engines = twoEngines(stores.read, systemClock);
    } else await expectSameList(stores, engines, one);
  }
  expect(engines.failures).toEqual([]);
  fromIndex += engines.selectors.counters.fromIndex;
  await engines.close();
  return fromIndex;
}

async function expectSameList(
  { read, written }: Stores,
  { indexed, scanning }: ReturnType<typeof twoEngines>,
  { query, limit, between, back }: Extract<Step, { do: "list" }>,
): Promise<void> {
  const newest = await written.latestRevision();
  if (back > 0) {
    const revision = Math.max(1, newest - back) as Revision;
    const said = await outcome(() => listAt(indexed, query, revision));
    expect(said).toEqual(await outcome(() => listAt(scanning, query, revision)));
    return;
  }
  const first = await chunk(indexed, query, { mode: "latest" }, limit);
  const items = [...first.items];
  let { end } = first;
  const { revision } = end;
  expect(revision).toBeGreaterThanOrEqual(newest);
  const changes = [...between];
  while (end.continueToken !== "") {
    if (limit > 0) expect(items.length % limit).toBe(0);
    const next = changes.shift();
    if (next !== undefined) await change(written, next);
    const more = await chunk(indexed, query, { mode: "continue", token: end.continueToken }, limit);
    expect(more.end.revision).toBe(revision);
    items.push(...more.items);
    end = more.end;
  }
  expect(items).toEqual(await listAt(scanning, query, revision));
  expect(await read.latestRevision()).toBeGreaterThanOrEqual(revision);
}

async function outcome(list: () => Promise<string[]>): Promise<unknown> {
  try {
    return await list();
  } catch (error) {
    if (error instanceof StatusError) return error.reason;
    throw error;
  }
}

async function check(open: () => Promise<Stores>, runs: number): Promise<void> {
  let fromIndex = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60 }), async (steps) => {
      const stores = await open();
      try {
        fromIndex += await expectSameLists(stores, steps);
      } finally {
        await stores.close();
      }
    }),
    { numRuns: runs },
  );
  expect(fromIndex).toBeGreaterThan(runs);
}

const kept = () => Promise.resolve();

describe("filtered lists from an index equal those of a scan during concurrent writes", () => {
  it("in memory", async () => {
    await check(() => {
      const store = createMemoryStore({ clock: systemClock });
      return Promise.resolve({ read: store, written: store, reopen: kept, close: () => store.close() });
    }, 300);
  });

  it("in a folder, over restarts", async () => {
    await check(() => {
      const folder = temporaryFolder();
      const open = () => openLmdbStore({ dir: folder.path, clock: systemClock });
      let store = open();
      return Promise.resolve({
        get read() {
          return store;
        },
        get written() {
          return store;
        },
        async reopen() {
          await store.close();
          store = open();
        },
        async close() {
          await store.close();
          folder.remove();
        },
      });
    }, 25);
  });

  it("in a folder to which another server writes", async () => {
    await check(() => {
      const folder = temporaryFolder();
      const open = () => openLmdbStore({ dir: folder.path, clock: systemClock });
      const [read, written] = [open(), open()];
      return Promise.resolve({
        read,
        written,
        reopen: kept,
        async close() {
          await read.close();
          await written.close();
          folder.remove();
        },
      });
    }, 25);
  });

  it("with a store of high latency", async () => {
    await check(() => {
      const store = createMemoryStore({ clock: systemClock });
      return Promise.resolve({ read: slow(store), written: store, reopen: kept, close: () => store.close() });
    }, 60);
  });
});

/** The same store, each answer of which is a promise. */
function slow(store: Store): Store {
  return new Proxy(store, {
    get(target, member) {
      const value: unknown = Reflect.get(target, member);
      if (typeof value !== "function") return value;
      const call = (...parameters: unknown[]): unknown => Reflect.apply(value, target, parameters);
      if (member === "subscribe") {
        return (...parameters: unknown[]) => {
          const subscription = call(...parameters) as ReturnType<Store["subscribe"]>;
          return new Proxy(subscription, {
            get: (own, name) =>
              name === "sync"
                ? async () => own.sync()
                : name === "close"
                  ? () => own.close()
                  : (Reflect.get(own, name) as unknown),
          });
        };
      }
      if (member === "together") return call;
      return async (...parameters: unknown[]) => call(...parameters);
    },
  });
}
