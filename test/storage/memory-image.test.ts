import { expect, test } from "vitest";
import { createMemoryStore, type MemoryStore } from "../../src/storage/memory/memory-store.ts";
import type { Draft, Entry, Revision, StoreEvent } from "../../src/storage/store.ts";
import { ManualClock } from "./support.ts";

const clock = new ManualClock();
const retentionMs = 60_000;

function draft(text: string): Draft {
  const body = Buffer.from(`{"v":"","text":"${text}"}`);
  return { header: Buffer.from(text), body, revisionAt: 6 };
}

function keyOf(name: string): string {
  return `/g/things/n/${name}`;
}

function open(): MemoryStore {
  return createMemoryStore({ clock, retentionMs });
}

function write(store: MemoryStore, ...names: readonly string[]): void {
  store.commitAll(names.map((name) => ({ key: keyOf(name), draft: draft(name) })));
}

/** Returns the values under `/g/things/` as `name@revision`. */
async function valuesOf(store: MemoryStore, at?: Revision): Promise<string[]> {
  const { entries } = store.range({ prefix: "/g/things/", at });
  expect(await store.count("/g/things/", at)).toBe(entries.length);
  return entries.map(textOf);
}

function textOf({ key, revision }: Entry): string {
  return `${key.slice(keyOf("").length)}@${revision}`;
}

test("an image keeps its values when the store changes", async () => {
  const store = open();
  write(store, "a", "b");
  const image = store.image();
  store.commitAll([{ key: keyOf("a"), draft: undefined }]);
  write(store, "b", "c");
  expect(await valuesOf(store)).toEqual(["b@5", "c@6"]);
  expect([...image.entries.values()].map(textOf)).toEqual(["a@2", "b@3"]);
  expect(image.revision).toBe(3);
});

test("stores of one image have its values and revision, and change independently", async () => {
  const origin = open();
  write(origin, "a", "b");
  const image = origin.image();
  const [one, other] = [image, image].map((each) => createMemoryStore({ clock, retentionMs }, each));
  expect(one!.latestRevision()).toBe(3);
  expect(one!.get(keyOf("a"))).toBe(origin.get(keyOf("a")));
  write(one!, "c");
  other!.commitAll([{ key: keyOf("a"), draft: undefined }]);
  await origin.close();
  expect(await valuesOf(one!)).toEqual(["a@2", "b@3", "c@4"]);
  expect(await valuesOf(other!)).toEqual(["b@3"]);
  expect(await valuesOf(other!, image.revision)).toEqual(["a@2", "b@3"]);
  for (const store of [one!, other!]) expect(await store.check()).toEqual([]);
});

test("a store of an image has no history before the image", async () => {
  const origin = open();
  write(origin, "a", "b");
  const store = createMemoryStore({ clock, retentionMs }, origin.image());
  expect(store.floor()).toBe(3);
  expect(() => store.get(keyOf("a"), 2 as Revision)).toThrow("revision 2 is no longer retained");
});

test("the differences to an image are the changed, missing and additional keys in key order", () => {
  const store = open();
  write(store, "b", "d", "f");
  const image = store.image();
  expect(store.differences(image)).toEqual([]);
  store.commitAll([{ key: keyOf("b"), draft: undefined }]);
  store.commitAll([{ key: keyOf("f"), draft: undefined }]);
  write(store, "a", "d", "g");
  const found = store
    .differences(image)
    .map(({ current, desired }) => [current && textOf(current), desired && textOf(desired)]);
  expect(found).toEqual([
    ["a@7", undefined],
    [undefined, "b@2"],
    ["d@8", "d@3"],
    [undefined, "f@4"],
    ["g@9", undefined],
  ]);
});

test("values with the same revision and other bytes differ from an image", () => {
  const origin = open();
  write(origin, "a");
  const [one, other] = [1, 2].map(() => createMemoryStore({ clock, retentionMs }, origin.image()));
  one!.commitAll([{ key: keyOf("b"), draft: draft("one") }]);
  other!.commitAll([{ key: keyOf("b"), draft: draft("two") }]);
  expect(one!.differences(other!.image()).map(({ key }) => key)).toEqual([keyOf("b")]);
});

test("commitAll delivers its writes in one batch with one revision each", () => {
  const store = open();
  const batches: (readonly StoreEvent[])[] = [];
  const after = store.latestRevision() as Revision;
  const listener = {
    events: (batch: readonly StoreEvent[]) => void batches.push(batch),
    ended: () => undefined,
  };
  store.subscribe({ prefix: "/g/things/", after }, listener);
  store.commitAll([
    { key: keyOf("a"), draft: draft("first") },
    { key: keyOf("a"), draft: undefined },
    { key: keyOf("a"), draft: draft("second") },
    { key: "/g/others/n/x", draft: draft("x") },
  ]);
  expect(batches).toHaveLength(1);
  const events = batches[0]!.map(({ revision, entry, previous }) => [
    revision,
    entry?.header.toString(),
    previous?.revision,
  ]);
  expect(events).toEqual([
    [2, "first", undefined],
    [3, undefined, 2],
    [4, "second", undefined],
  ]);
});

test("commitAll with an invalid key writes nothing", async () => {
  const store = open();
  const changes = [keyOf("a"), "no key"].map((key) => ({ key, draft: draft("a") }));
  expect(() => store.commitAll(changes)).toThrow(TypeError);
  expect(await valuesOf(store)).toEqual([]);
});

test("a read of the past finds deleted keys in order, page by page, until they are compacted", async () => {
  const store = open();
  write(store, "a", "b", "c", "d");
  const before = store.latestRevision() as Revision;
  store.commitAll(["a", "c", "d"].map((name) => ({ key: keyOf(name), draft: undefined })));
  expect(await valuesOf(store, before)).toEqual(["a@2", "b@3", "c@4", "d@5"]);
  const page = { prefix: "/g/things/", at: before, limit: 2 };
  expect(store.range({ ...page, after: keyOf("a") }).entries.map(textOf)).toEqual(["b@3", "c@4"]);
  expect(store.range({ ...page, after: keyOf("c") }).entries.map(textOf)).toEqual(["d@5"]);
  clock.advance(1);
  write(store, "e");
  await store.compact(clock.now());
  expect(await valuesOf(store)).toEqual(["b@3", "e@9"]);
  expect(await store.check()).toEqual([]);
});
