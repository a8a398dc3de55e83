import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { builtInControllers, ownControllers } from "../../src/controllers/all.ts";
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
import { TestServer } from "../support/api.ts";
import { ManualClock } from "../support/manual-clock.ts";

const nameOf = (controller: string) => `poststarthook/controllers/${controller}`;

/** The lines of `/readyz?verbose` about controllers. */
async function controllerLines(server: TestServer): Promise<string[]> {
  const { text } = await server.admin.get("/readyz?verbose");
  return text.split("\n").filter((line) => line.includes(nameOf("")));
}

describe("the controllers in /readyz", () => {
  test("each that runs has a line, and a path of its own; those that are turned off have none", async () => {
    const server = await TestServer.start({ enabledControllers: ["*", "-garbagecollector"] });
    try {
      const names = [...ownControllers, ...builtInControllers]
        .filter(({ name, onlyByName = false }) => !onlyByName && name !== "garbagecollector")
        .map(({ name }) => name);
      const lines = await controllerLines(server);
      expect(lines).toEqual(names.map((name) => `[+]${nameOf(name)} ok`));
      expect((await server.admin.get(`/readyz/${nameOf("namespace")}`)).text).toBe("ok");
      expect((await server.admin.get(`/readyz/${nameOf("garbagecollector")}`)).status).toBe(404);
    } finally {
      await server.close();
    }
  });

  test("a server beside the leader is ready", async () => {
    const storage = createMemoryStore({ clock: new ManualClock() });
    const servers = [await TestServer.start({ storage }), await TestServer.start({ storage })];
    try {
      for (const server of servers) {
        const lines = await controllerLines(server);
        expect(lines.length).toBeGreaterThan(10);
        for (const line of lines) expect(line).toMatch(/^\[\+\]\S+ ok$/);
      }
    } finally {
      for (const server of servers) await server.close();
      await storage.close();
    }
  });
});

describe("a controller that can't follow what it works with", () => {
  let clock: ManualClock;
  let server: TestServer;
  let store: Store;
  /** Objects under this prefix can't be loaded. */
  let away: string | undefined;
  const ends = new Map<string, () => void>();

  beforeEach(async () => {
    clock = new ManualClock();
    away = undefined;
    ends.clear();
    store = createMemoryStore({ clock });
    const range = async (options: RangeOptions) => {
      if (options.prefix === away) throw new StoreUnavailableError("away");
      return store.range(options);
    };
    const subscribe = (options: SubscribeOptions, listener: Listener) => {
      const subscription = store.subscribe(options, listener);
      const others = ends.get(options.prefix);
      ends.set(options.prefix, () => {
        others?.();
        subscription.close();
        listener.ended(new RevisionCompactedError(1 as Revision, 2 as Revision));
      });
      return subscription;
    };
    const storage = new Proxy(store, {
      get(target, name) {
        if (name === "range") return range;
        if (name === "subscribe") return subscribe;
        return Reflect.get(target, name) as unknown;
      },
    });
    server = await TestServer.start({ clock, storage, leaderElection: false });
  });
  afterEach(async () => {
    away = undefined;
    await server.close();
    await store.close();
  });

  test.each([
    ["ttl-after-finished", /\/jobs/],
    ["csrsigning", /\/certificatesigningrequests/],
    ["garbagecollector", /^\/$/],
    ["customresourcedefinition", /\/customresourcedefinitions/],
  ])("keeps the server from being ready, by its name, until it can again: %s", async (controller, what) => {
    const prefix = [...ends.keys()].find((one) => what.test(one))!;
    const failed = `[-]${nameOf(controller)} failed: an informer of the controller fails`;
    expect(await controllerLines(server)).not.toContain(failed);
    away = prefix;
    ends.get(prefix)!();
    await expect.poll(() => controllerLines(server)).toContain(failed);
    expect((await server.admin.get("/readyz")).status).toBe(500);
    expect((await server.admin.get("/livez")).status).toBe(200);
    away = undefined;
    await clock.advance(1000);
    await expect.poll(() => controllerLines(server)).toContain(`[+]${nameOf(controller)} ok`);
  });
});
