import { expect, test } from "vitest";
import { systemClock } from "../../../src/base/time/clock.ts";
import { PageCache, type CollectionPage } from "../../../src/resources/pages/page-cache.ts";
import { PageCacheMemory } from "../../../src/resources/pages/page-cache-memory.ts";
import { createMemoryStore } from "../../../src/storage/memory/memory-store.ts";
import type { Draft } from "../../../src/storage/store.ts";

const prefix = "/core/configmaps/";

function draft(): Draft {
  const start = '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":"';
  const body = Buffer.from(`${start}"},"t":"${"a".repeat(200)}"}`);
  return { header: Buffer.from("{}"), body, revisionAt: start.length };
}

/** A store that counts its reads. */
function countingStore() {
  const store = createMemoryStore({ clock: systemClock });
  const reads = { count: 0 };
  const counting = new Proxy(store, {
    get(target, name) {
      if (name === "range") reads.count++;
      const value = Reflect.get(target, name) as unknown;
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
  return { store, counting, reads };
}

test("pages of a collection above the limits are cached while several lists read it at once", async () => {
  const { store, counting, reads } = countingStore();
  const limits = { totalBytes: 100_000, collectionBytes: 50_000, bodyBytes: 5000, windowBytes: 3000 };
  const cache = new PageCache(counting, new PageCacheMemory(systemClock, limits));
  for (let index = 100; index < 200; index++) {
    await store.commit({ kind: "create", key: `${prefix}a/object-${index}`, draft: draft() });
  }
  const list = async function* (): AsyncGenerator<CollectionPage> {
    for (let after: string | undefined, more = true; more;) {
      const page = await cache.read({
        prefix,
        form: "bare",
        after,
        at: undefined,
        limit: undefined,
        maxBytes: 500,
      });
      yield page;
      after = page.entries.at(-1)!.key;
      more = page.more;
    }
  };
  const readTogether = async (lists: number): Promise<number> => {
    reads.count = 0;
    const walks = Array.from({ length: lists }, list);
    for (let isDone = false; !isDone;) {
      const steps = await Promise.all(walks.map((walk) => walk.next()));
      isDone = steps.every(({ done }) => done === true);
      const pages = steps.flatMap(({ value }) =>
        value === undefined ? [] : [bodiesOf(value as CollectionPage)],
      );
      for (const page of pages) expect(page).toEqual(pages[0]);
    }
    return reads.count;
  };
  const alone = await readTogether(1);
  // A list that follows another one reads every page from the store.
  expect(await readTogether(1)).toBe(alone);
  const together = await readTogether(8);
  expect(together).toBeGreaterThanOrEqual(alone);
  expect(together).toBeLessThan(alone * 2);
  cache.close();
  await store.close();
});

test("large pages that end at the limit of a list are cached when they are read again", async () => {
  const { store, counting, reads } = countingStore();
  const cache = new PageCache(counting, new PageCacheMemory(systemClock));
  for (let index = 1000; index < 1250; index++) {
    await store.commit({ kind: "create", key: `${prefix}a/object-${index}`, draft: draft() });
  }
  const readsOf = async (limit: number): Promise<number> => {
    reads.count = 0;
    let after: string | undefined;
    for (let more = true; more;) {
      const request = { prefix, form: "bare" as const, after, at: undefined, limit, maxBytes: 1_000_000 };
      const page = await cache.read(request);
      const truth = await store.range({ prefix, after, limit });
      expect(bodiesOf(page)).toEqual(bodiesOf({ ...truth, joined: undefined }));
      after = page.entries.at(-1)!.key;
      more = page.more;
    }
    return reads.count;
  };
  // Each small page costs a read, and so does the end.
  expect(await readsOf(60)).toBe(5);
  expect(await readsOf(60)).toBeGreaterThanOrEqual(4);
  expect(await readsOf(100)).toBeGreaterThan(1);
  await readsOf(100);
  expect(await readsOf(100)).toBe(0);
  const key = `${prefix}a/object-1110`;
  await store.commit({ kind: "delete", key, expected: (await store.get(key))!.revision });
  // That the first page isn't the last one, the page with the key, and the rest, which begins later.
  expect(await readsOf(100)).toBe(3);
  cache.close();
  await store.close();
});

function bodiesOf({ entries, revision, more }: CollectionPage): object {
  return { revision, more, bodies: entries.map(({ body }) => Buffer.from(body).toString()) };
}
