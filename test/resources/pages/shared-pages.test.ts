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

test("pages of a collection above the limits are cached while several lists read it at once", async () => {
  const store = createMemoryStore({ clock: systemClock });
  let reads = 0;
  const counting = new Proxy(store, {
    get(target, name) {
      if (name === "range") reads++;
      const value = Reflect.get(target, name) as unknown;
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
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
    reads = 0;
    const walks = Array.from({ length: lists }, list);
    for (let isDone = false; !isDone;) {
      const steps = await Promise.all(walks.map((walk) => walk.next()));
      isDone = steps.every(({ done }) => done === true);
      const pages = steps.flatMap(({ value }) =>
        value === undefined ? [] : [bodiesOf(value as CollectionPage)],
      );
      for (const page of pages) expect(page).toEqual(pages[0]);
    }
    return reads;
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

function bodiesOf({ entries, revision, more }: CollectionPage): object {
  return { revision, more, bodies: entries.map(({ body }) => Buffer.from(body).toString()) };
}
