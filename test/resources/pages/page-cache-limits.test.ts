import { describe, expect, it } from "vitest";
import { systemClock } from "../../../src/base/time/clock.ts";
import { PageCache } from "../../../src/resources/pages/page-cache.ts";
import { pageCacheLimits, PageCacheMemory } from "../../../src/resources/pages/page-cache-memory.ts";
import { createMemoryStore } from "../../../src/storage/memory/memory-store.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { form, keyOf, prefix, put } from "./support.ts";

describe("cached pages", () => {
  it("are cached up to a part of the memory of the process", () => {
    const mebibytes = (gibibytes: number) => pageCacheLimits(gibibytes * 1024 ** 3).totalBytes / 1024 ** 2;
    expect([0, 1, 2, 4, 8, 64].map(mebibytes)).toEqual([64, 64, 64, 128, 256, 256]);
    expect(pageCacheLimits(0)).toMatchObject({ bodyBytes: 28 * 1024 ** 2, collectionBytes: 48 * 1024 ** 2 });
  });

  it("are not cached from the first one if the collection is expected to exceed the limits", async () => {
    const store = createMemoryStore({ clock: systemClock });
    const limits = { totalBytes: 6000, collectionBytes: 3600, bodyBytes: 3000, windowBytes: 0 };
    const cache = new PageCache(store, new PageCacheMemory(systemClock, limits));
    const read = async (within: string) =>
      cache.read({ prefix: within, form, after: undefined, at: undefined, limit: undefined, maxBytes: 1 });
    for (let name = 0; name < 6; name++) await put(store, keyOf(name), "a".repeat(800));
    expect((await read(prefix)).joined).toBeUndefined();
    expect((await read(`${prefix}a/`)).joined).toBeDefined();
    cache.close();
    await store.close();
  });

  it("stay cached when the first one is read again and is larger than the others", async () => {
    const store = createMemoryStore({ clock: systemClock });
    const limits = { totalBytes: 6000, collectionBytes: 3600, bodyBytes: 3000, windowBytes: 0 };
    const cache = new PageCache(store, new PageCacheMemory(systemClock, limits));
    const read = async (after?: string, limit?: number) =>
      cache.read({ prefix, form, after, at: undefined, limit, maxBytes: 1 });
    for (const name of [0, 2, 4]) await put(store, keyOf(name), "a");
    for (let after: string | undefined; ;) {
      const page = await read(after);
      after = page.entries.at(-1)!.key;
      if (!page.more) break;
    }
    await put(store, keyOf(0), "a".repeat(1500));
    await read(undefined, 1);
    await read();
    expect((await read(keyOf(0))).joined).toBeDefined();
    cache.close();
    await store.close();
  });

  it("are dropped when a collection isn't read for some minutes", async () => {
    const clock = new ManualClock();
    const store = createMemoryStore({ clock });
    const cache = new PageCache(store, new PageCacheMemory(clock));
    await put(store, keyOf(0), "a");
    const read = async () =>
      cache.read({ prefix, form, after: undefined, at: undefined, limit: undefined, maxBytes: 1000 });
    const { forms } = await read();
    forms!.keep("form", { bytes: 1 });
    await clock.advance(4 * 60_000);
    expect((await read()).forms!.get("form")).toBeDefined();
    await clock.advance(4 * 60_000);
    expect((await read()).forms!.get("form")).toBeDefined();
    await clock.advance(7 * 60_000);
    expect((await read()).forms!.get("form")).toBeUndefined();
    cache.close();
    await store.close();
  });

  it("of several stores share one memory, and closing one cache keeps those of the others", async () => {
    const limits = {
      totalBytes: 4000,
      collectionBytes: 3600,
      bodyBytes: 3000,
      windowBytes: 0,
      collections: 2,
    };
    const memory = new PageCacheMemory(systemClock, limits);
    const stores = [0, 1, 2].map(() => createMemoryStore({ clock: systemClock }));
    const caches = stores.map((store) => new PageCache(store, memory));
    const read = async (index: number) => {
      const page = { prefix, form, after: undefined, at: undefined, limit: undefined, maxBytes: 10_000 };
      const { entries, segment } = await caches[index]!.read(page);
      return {
        text: entries.map(({ body }) => Buffer.from(body).toString()).join(),
        isCached: segment !== undefined,
      };
    };
    for (const [index, store] of stores.entries()) await put(store, keyOf(0), `of store ${index}`);
    for (const index of [0, 1]) expect((await read(index)).isCached).toBe(false);
    for (const index of [0, 1]) {
      const { text, isCached } = await read(index);
      expect([text, isCached]).toEqual([expect.stringContaining(`of store ${index}`), true]);
    }
    // The third collection takes the place of the one that was read the longest ago.
    await read(2);
    expect((await read(1)).isCached).toBe(true);
    expect((await read(0)).isCached).toBe(false);
    caches[0]!.close();
    expect((await read(1)).isCached).toBe(true);
    for (const cache of caches) cache.close();
    for (const store of stores) await store.close();
  });
});
