import { afterAll, expect, it } from "vitest";
import { systemClock } from "../../src/base/time/clock.ts";
import { create, draft, textOf } from "../../src/storage/conformance/support.ts";
import { openLmdbStore } from "../../src/storage/lmdb/lmdb-store.ts";
import type { Revision, Store, StoreEvent } from "../../src/storage/store.ts";
import { makeFormatOne, rewriteStore } from "./raw-store.ts";
import { temporaryFolder } from "./support.ts";

const folder = temporaryFolder();
afterAll(folder.remove);

const open = () => openLmdbStore({ dir: folder.path, clock: systemClock });

async function update(store: Store, key: string, expected: number, text: string): Promise<number> {
  const result = await store.commit({
    kind: "update",
    key,
    expected: expected as Revision,
    draft: draft(text),
  });
  if (!result.ok) throw new Error("conflict");
  return result.revision;
}

async function eventsAfter(store: Store, after: number): Promise<StoreEvent[]> {
  const events: StoreEvent[] = [];
  const subscription = store.subscribe(
    { prefix: "/g/r/", after: after as Revision },
    {
      events: (batch) => void events.push(...batch),
      ended: (error) => {
        throw error;
      },
    },
  );
  await subscription.sync();
  subscription.close();
  return events;
}

/** The format of the state, and the forms of the records. */
async function formsOf(dir: string): Promise<{ format: number | undefined; checked: number; plain: number }> {
  const forms = { format: undefined as number | undefined, checked: 0, plain: 0 };
  await rewriteStore(dir, {
    meta(value, key) {
      if (key.toString() === "state") forms.format = value[0];
      return undefined;
    },
    data(value) {
      if (value[16]! >> 4 === 0) forms.plain++;
      else forms.checked++;
      return undefined;
    },
  });
  return forms;
}

it("a store of format 1 is read, listed, watched from a retained revision and updated, and is sound then", async () => {
  const first = open();
  await create(first, "/g/r/n/a", "a1");
  await create(first, "/g/r/n/b", "b1");
  // More than one index entry of the past.
  let revision = 2;
  for (let n = 2; n <= 40; n++) revision = await update(first, "/g/r/n/a", revision, `a${n}`);
  await create(first, "/g/r/n/c", "c1");
  await first.commit({ kind: "delete", key: "/g/r/n/c", expected: await first.latestRevision() });
  const latest = await first.latestRevision();
  await first.close();
  await makeFormatOne(folder.path);
  expect(await formsOf(folder.path)).toEqual({ format: 1, checked: 0, plain: 2 });

  const store = open();
  expect(await store.latestRevision()).toBe(latest);
  expect(textOf(await store.get("/g/r/n/a"))).toBe("a40");
  expect(textOf(await store.get("/g/r/n/a", 10 as Revision))).toBe("a8");
  expect((await store.range({ prefix: "/g/r/" })).entries.map(textOf)).toEqual(["a40", "b1"]);
  expect((await store.range({ prefix: "/g/r/", at: (latest - 1) as Revision })).entries.map(textOf)).toEqual([
    "a40",
    "b1",
    "c1",
  ]);
  const events = await eventsAfter(store, 3);
  expect(events.map((event) => event.revision)).toEqual(
    Array.from({ length: latest - 3 }, (_, index) => index + 4),
  );
  expect(events.slice(0, 2).map((event) => [textOf(event.previous), textOf(event.entry)])).toEqual([
    ["a1", "a2"],
    ["a2", "a3"],
  ]);
  expect(await store.check()).toEqual([]);

  const updated = await update(store, "/g/r/n/a", revision, "a41");
  await create(store, "/g/r/n/d", "d1");
  expect((await eventsAfter(store, latest)).map((event) => textOf(event.previous))).toEqual([
    "a40",
    undefined,
  ]);
  expect(textOf(await store.get("/g/r/n/a", latest))).toBe("a40");
  expect(textOf(await store.get("/g/r/n/a", updated as Revision))).toBe("a41");
  expect(await store.check()).toEqual([]);
  await store.close();
  expect(await formsOf(folder.path)).toEqual({ format: 2, checked: 2, plain: 1 });

  const again = open();
  expect((await again.range({ prefix: "/g/r/" })).entries.map(textOf)).toEqual(["a41", "b1", "d1"]);
  expect(await again.check()).toEqual([]);
  await again.close();
});
