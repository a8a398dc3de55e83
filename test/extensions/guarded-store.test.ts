import { expect, test, describe } from "vitest";
import { GuardedStore } from "../../src/storage/guarded-store.ts";
import { createMemoryStore } from "../../src/storage/memory/memory-store.ts";
import {
  StoreDamagedError,
  StoreUnavailableError,
  type Listener,
  type Revision,
  type Store,
  type StoreError,
} from "../../src/storage/store.ts";
import { createServer } from "../../src/index.ts";
import { TestServer } from "../support/api.ts";
import { describeConformance, ManualClock, multipleStoreCases } from "../storage/support.ts";
import { ManualClock as ServerClock } from "../support/manual-clock.ts";

describeConformance(
  "guarded memory",
  async () => {
    const clock = new ManualClock();
    const inner = createMemoryStore({ clock });
    const guarded = new GuardedStore(inner, { clock, failed: () => undefined });
    const store = Object.assign(Object.create(guarded) as Store, { close: () => inner.close() });
    return {
      store,
      advance: (ms: number) => clock.advance(ms),
      now: () => clock.now(),
      dispose: () => inner.close(),
    };
  },
  multipleStoreCases,
);

describe("a store that breaks its contract", () => {
  const clock = new ServerClock();
  const good = createMemoryStore({ clock });
  const failures: unknown[] = [];
  const guarded = (wrong: Partial<Record<keyof Store, unknown>>) =>
    new GuardedStore(Object.assign(Object.create(good) as Store, wrong), {
      clock,
      failed: (_, error) => void failures.push(error),
    });

  test.each<[keyof Store, unknown, (store: Store) => unknown]>([
    ["get", () => ({ key: 1 }), (store) => store.get("/g/r/n/a")],
    ["get", () => Promise.resolve("x"), (store) => store.get("/g/r/n/a")],
    ["range", () => ({ entries: [{}], revision: 1, more: false }), (store) => store.range({ prefix: "/" })],
    ["range", () => undefined, (store) => store.range({ prefix: "/" })],
    ["count", () => -1, (store) => store.count("/")],
    ["latestRevision", () => "7", (store) => store.latestRevision()],
    ["floor", () => 1.5, (store) => store.floor()],
    ["commit", () => ({ ok: true }), (store) => store.commit(undefined as never)],
    ["writeObstacle", () => "full", (store) => store.writeObstacle()],
  ])("in %s is damaged (%#)", async (method, wrong, ask) => {
    const answer = async () => ask(guarded({ [method]: wrong }));
    await expect(answer()).rejects.toThrow(StoreDamagedError);
    expect(failures.splice(0)).toHaveLength(1);
  });

  test("by not answering within 30 seconds throws StoreUnavailableError", async () => {
    const read = Promise.resolve(guarded({ get: () => new Promise(() => undefined) }).get("/g/r/n/a"));
    read.catch(() => undefined);
    await clock.advance(30_000);
    await expect(read).rejects.toThrow(StoreUnavailableError);
    await expect(read).rejects.toThrow("did not answer get within 30 seconds");
  });

  test("by an invalid event ends the subscription once", () => {
    const heard: unknown[] = [];
    const ended: StoreError[] = [];
    let listener: Listener | undefined;
    const closed: string[] = [];
    const inner = { position: 1 as Revision, sync: () => 1, close: () => closed.push("closed") };
    const store = guarded({
      subscribe: (_: unknown, given: Listener) => {
        listener = given;
        return inner;
      },
    });
    store.subscribe(
      { prefix: "/", after: 1 as Revision },
      { events: (batch) => heard.push(batch), ended: (error) => ended.push(error) },
    );
    listener!.events([], 2 as Revision);
    listener!.events([{ key: "/g/r/n/a" }] as never, 3 as Revision);
    listener!.events([], 4 as Revision);
    listener!.ended("why" as never);
    expect(heard).toEqual([[]]);
    expect(ended).toHaveLength(1);
    expect(ended[0]).toBeInstanceOf(StoreDamagedError);
    expect(closed).toEqual(["closed"]);
  });

  test("in `together` still runs the work exactly once", () => {
    let runs = 0;
    const work = () => void runs++;
    guarded({ together: () => undefined }).together(work);
    guarded({
      together: () => {
        throw new Error("no");
      },
    }).together(work);
    guarded({
      together: (one: () => void) => {
        one();
        one();
      },
    }).together(work);
    expect(runs).toBe(3);
  });

  test("keeps a server from starting, or fails its requests, and never ends the process", async () => {
    const store = createMemoryStore({ clock });
    const broken = Object.create(store) as Store;
    let fails = false;
    broken.range = (options) => {
      if (fails) throw new TypeError("broken");
      return store.range(options);
    };
    broken.commit = (write) => (fails ? Promise.reject(new TypeError("broken")) : store.commit(write));
    const server = await TestServer.start({ storage: broken });
    fails = true;
    const path = "/api/v1/namespaces/default/configmaps";
    expect((await server.admin.get(path)).status).toBe(500);
    expect((await server.admin.post(path, { metadata: { name: "m" } })).status).toBe(500);
    await expect(createServer({ port: false, storage: broken })).rejects.toThrow("broken");
    fails = false;
    expect((await server.admin.get(path)).status).toBe(200);
    await server.close();
  });
});
