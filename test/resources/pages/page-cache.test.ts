import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../../src/base/time/clock.ts";
import type { ItemForm } from "../../../src/resources/pages/joined-bodies.ts";
import type { PageForm } from "../../../src/resources/pages/page-forms.ts";
import { PageCache, type CollectionPage } from "../../../src/resources/pages/page-cache.ts";
import { PageCacheMemory } from "../../../src/resources/pages/page-cache-memory.ts";
import { createMemoryStore } from "../../../src/storage/memory/memory-store.ts";
import {
  StoreUnavailableError,
  type RangePage,
  type Revision,
  type Store,
} from "../../../src/storage/store.ts";
import { UnsteadyStore } from "../../support/unsteady-store.ts";
import { beginning, draft, form, keyOf, prefix, put, remove } from "./support.ts";

function shown(page: RangePage): object {
  const { revision, more, entries } = page;
  return { revision, more, entries: entries.map(({ key, body }) => [key, Buffer.from(body).toString()]) };
}

/** What was made of other entries, or of these before they changed, isn't handed out for them. */
function expectTrueForm({ entries, forms }: CollectionPage): void {
  const text = JSON.stringify(entries.map(({ key, body }) => [key, Buffer.from(body).toString()]));
  const kept = forms?.get("text") as (PageForm & { readonly text: string }) | undefined;
  if (kept === undefined) forms?.keep("text", { text, bytes: text.length });
  else expect(kept.text).toBe(text);
}

/** A page holds what the store would give, and its joined items are those of its entries, in the form asked for. */
function expectTrue(page: CollectionPage, truth: RangePage, itemForm: ItemForm): void {
  expect(shown(page)).toEqual(shown(truth));
  expectTrueForm(page);
  if (page.joined === undefined) return;
  const bodies = truth.entries.map(({ body }) => Buffer.from(body).toString());
  const items = itemForm === "typed" ? bodies : bodies.map((body) => `{${body.slice(beginning.length)}`);
  expect(page.joined.toString()).toBe(items.map((item) => `,${item}`).join(""));
}

const step = fc.oneof(
  fc.record({
    do: fc.constant("put" as const),
    name: fc.integer({ min: 0, max: 30 }),
    text: fc.string({ maxLength: 5 }),
  }),
  fc.record({ do: fc.constant("remove" as const), name: fc.integer({ min: 0, max: 30 }) }),
  fc.record({
    do: fc.constant("list" as const),
    limit: fc.option(fc.integer({ min: 1, max: 9 }), { nil: undefined }),
    maxBytes: fc.integer({ min: 1, max: 900 }),
    namespace: fc.constantFrom("", "a/", "b/"),
    back: fc.integer({ min: 0, max: 3 }),
  }),
);

describe("pages of collections", () => {
  it.each(["typed", "bare"] as const)(
    "equal those of the store after any reads and writes: %s items",
    async (itemForm) => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 80, size: "max" }), async (steps) => {
          const store = createMemoryStore({ clock: systemClock });
          const cache = new PageCache(
            store,
            new PageCacheMemory(systemClock, {
              totalBytes: 6000,
              collectionBytes: 3600,
              bodyBytes: 2400,
              windowBytes: 1000,
              limitedEntries: 3,
            }),
          );
          for (const one of steps) {
            if (one.do === "put") await put(store, keyOf(one.name), one.text.replaceAll(/[^a-z]/g, ""));
            else if (one.do === "remove") await remove(store, keyOf(one.name));
            else await compare(store, cache, itemForm, one);
          }
          cache.close();
          await store.close();
        }),
        { numRuns: 400 },
      );
    },
  );

  async function compare(
    store: Store,
    cache: PageCache,
    itemForm: ItemForm,
    {
      limit,
      maxBytes,
      namespace,
      back,
    }: { limit: number | undefined; maxBytes: number; namespace: string; back: number },
  ): Promise<void> {
    const latest = await store.latestRevision();
    const exact = back === 0 ? undefined : (Math.max(1, latest - back) as Revision);
    let at = exact;
    let after: string | undefined;
    for (;;) {
      const request = { prefix: prefix + namespace, form: itemForm, at, after, limit, maxBytes };
      const page = await cache.read(request);
      // A cached page may be longer or shorter than the byte limit asks for; in all they are the same entries.
      const truth = await store.range({
        ...request,
        maxBytes: undefined,
        limit: page.entries.length || undefined,
      });
      expectTrue(page, page.entries.length === 0 ? { ...truth, entries: [], more: false } : truth, itemForm);
      if (limit !== undefined) expect(page.entries.length).toBeLessThanOrEqual(limit);
      if (!page.more) return;
      at = page.revision;
      after = page.entries.at(-1)!.key;
    }
  }

  it("at a compacted revision are rejected as by the store, even when they are cached", async () => {
    const store = createMemoryStore({ clock: systemClock });
    const cache = new PageCache(store, new PageCacheMemory(systemClock));
    await put(store, keyOf(0), "a");
    const first = await cache.read({
      prefix,
      form,
      at: undefined,
      after: undefined,
      limit: undefined,
      maxBytes: 1000,
    });
    await store.commit({ kind: "create", key: "/core/secrets/a/x", draft: draft("x") });
    await store.compact(systemClock.now() + 10_000);
    expect(await store.floor()).toBeGreaterThan(first.revision);
    const again = async () =>
      cache.read({ prefix, form, at: first.revision, after: undefined, limit: undefined, maxBytes: 1000 });
    await expect(again()).rejects.toThrow(/no longer retained/);
    await store.close();
  });

  it("are served without another read while nothing changes", async () => {
    const store = createMemoryStore({ clock: systemClock });
    let reads = 0;
    const counting = new Proxy(store, {
      get(target, name, receiver) {
        if (name === "range") reads++;
        return Reflect.get(target, name, receiver) as unknown;
      },
    });
    const cache = new PageCache(counting, new PageCacheMemory(systemClock));
    for (let name = 0; name < 20; name++) await put(store, keyOf(name), "x");
    const list = async () => {
      let after: string | undefined;
      for (;;) {
        const page = await cache.read({
          prefix,
          form,
          at: undefined,
          after,
          limit: undefined,
          maxBytes: 100,
        });
        if (!page.more) return;
        after = page.entries.at(-1)!.key;
      }
    };
    await list();
    const first = reads;
    await list();
    expect(reads).toBe(first);
    await put(store, keyOf(3), "changed");
    await list();
    expect(reads).toBeGreaterThan(first);
    expect(reads).toBeLessThan(first + 3);
    await store.close();
  });

  it("are read from the cache, but not cached, by a request that asks for that", async () => {
    const store = createMemoryStore({ clock: systemClock });
    const cache = new PageCache(store, new PageCacheMemory(systemClock));
    const read = async (isCached?: () => boolean) => cache.read({ prefix, form, maxBytes: 5000, isCached });
    await put(store, keyOf(1), "a");
    expect((await read(() => false)).joined).toBeUndefined();
    expect((await read(() => false)).joined).toBeUndefined();
    expect((await read(() => true)).joined).toBeDefined();
    expect((await read(() => false)).joined).toBeDefined();
    cache.close();
    await store.close();
  });

  it("other forms of a page are cached with it within the limits and dropped with it", async () => {
    const store = createMemoryStore({ clock: systemClock });
    const cache = new PageCache(
      store,
      new PageCacheMemory(systemClock, {
        totalBytes: 5000,
        collectionBytes: 3000,
        bodyBytes: 2500,
        windowBytes: 1000,
      }),
    );
    for (let name = 0; name < 4; name += 2) await put(store, keyOf(name), "a");
    const read = async (within = prefix): Promise<CollectionPage> =>
      cache.read({ prefix: within, form, after: undefined, at: undefined, limit: undefined, maxBytes: 1000 });
    const keep = async (key: string, bytes: number, within?: string): Promise<boolean> => {
      (await read(within)).forms!.keep(key, { bytes });
      return (await read(within)).forms!.get(key) !== undefined;
    };
    expect(await keep("large", 3000)).toBe(false);
    expect(await keep("first", 1000)).toBe(true);
    expect(await keep("second", 1000)).toBe(true);
    expect(await keep("third", 1000)).toBe(false);
    // The same bytes may be kept again in place of what was there.
    expect(await keep("first", 900)).toBe(true);
    // Past the bound of all collections, the one that was used least lately goes.
    expect(await keep("other", 2500, `${prefix}a/`)).toBe(true);
    expect(await keep("other", 2500, `${prefix}b/`)).toBe(true);
    expect((await read()).forms!.get("first")).toBeUndefined();

    const before = await read();
    before.forms!.keep("first", { bytes: 10 });
    await put(store, keyOf(0), "b");
    expect((await read()).forms!.get("first")).toBeUndefined();
    // Who still has the old page can't keep anything of it.
    before.forms!.keep("late", { bytes: 10 });
    expect(before.forms!.get("late")).toBeUndefined();
    for (const key of ["a", "b", "c", "d", "e"]) await keep(key, 10);
    expect((await read()).forms!.get("a")).toBeUndefined();
    expect((await read()).forms!.get("e")).toBeDefined();
    cache.close();
    await store.close();
  });

  it("are cached in preference to other forms of pages when the memory limit is reached", async () => {
    const store = createMemoryStore({ clock: systemClock });
    const cache = new PageCache(
      store,
      new PageCacheMemory(systemClock, {
        totalBytes: 5000,
        collectionBytes: 3000,
        bodyBytes: 2500,
        windowBytes: 1000,
      }),
    );
    // By the first object, the collection is expected to be within the limits.
    for (let name = 0; name < 6; name += 2)
      await put(store, keyOf(name), "a".repeat(name === 0 ? 500 : 1000));
    const read = async (after?: string): Promise<CollectionPage> =>
      cache.read({ prefix, form, after, at: undefined, limit: undefined, maxBytes: 1 });
    (await read()).forms!.keep("form", { bytes: 2000 });
    const first = await read();
    expect(first.forms!.get("form")).toBeDefined();
    const second = await read(first.entries.at(-1)!.key);
    expect(second.joined).toBeDefined();
    expect((await read()).forms!.get("form")).toBeUndefined();
    // With more bodies than may be kept, nothing is.
    const third = await read(second.entries.at(-1)!.key);
    expect([third.entries.length, third.joined, third.forms]).toEqual([1, undefined, undefined]);
    expect((await read()).joined).toBeUndefined();
    cache.close();
    await store.close();
  });

  it("at a future revision are rejected by the store", async () => {
    const store = createMemoryStore({ clock: systemClock });
    const cache = new PageCache(store, new PageCacheMemory(systemClock));
    await put(store, keyOf(0), "a");
    const request = { prefix, form, after: undefined, limit: undefined, maxBytes: 1000 };
    const { revision } = await cache.read({ ...request, at: undefined });
    const ahead = async () => cache.read({ ...request, at: (revision + 1) as Revision });
    await expect(ahead()).rejects.toThrow(/not known yet/);
    cache.close();
    await store.close();
  });

  it("are subscribed for at most 64 collections, including those without cached pages", async () => {
    const store = createMemoryStore({ clock: systemClock });
    let open = 0;
    const counting = new Proxy(store, {
      get(target, name) {
        if (name !== "subscribe") return Reflect.get(target, name) as unknown;
        return (...[options, listener]: Parameters<Store["subscribe"]>) => {
          open++;
          const subscription = target.subscribe(options, listener);
          return {
            get position() {
              return subscription.position;
            },
            sync: () => subscription.sync(),
            close: () => {
              open--;
              subscription.close();
            },
          };
        };
      },
    });
    const cache = new PageCache(counting, new PageCacheMemory(systemClock));
    for (let index = 0; index < 200; index++) {
      // A page that its limit cut short is not kept.
      const namespace = `${prefix}n${index}/`;
      await put(store, `${namespace}a`, "x");
      await put(store, `${namespace}b`, "x");
      await cache.read({
        prefix: namespace,
        form,
        at: undefined,
        after: undefined,
        limit: 1,
        maxBytes: 1000,
      });
    }
    expect(open).toBe(64);
    cache.close();
    expect(open).toBe(0);
    await store.close();
  });
});

describe("a store with an asynchronous latestRevision", () => {
  it("rejects the read while unavailable without an unhandled rejection, and is read when available again", async () => {
    const { store, shown } = new UnsteadyStore();
    let away = true;
    const later = new Proxy(shown, {
      get: (target, name) =>
        name === "latestRevision"
          ? async () => {
              if (away) throw new StoreUnavailableError("away");
              return store.latestRevision();
            }
          : (Reflect.get(target, name) as unknown),
    });
    const pages = new PageCache(later, new PageCacheMemory(systemClock));
    // The test runner fails on a rejected promise that nobody handles.
    await expect(async () => pages.read({ prefix, form, maxBytes: 1000 })).rejects.toThrow(
      StoreUnavailableError,
    );
    away = false;
    expect((await pages.read({ prefix, form, maxBytes: 1000 })).entries).toEqual([]);
    pages.close();
  });
});
