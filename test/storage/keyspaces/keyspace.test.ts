import { describe, expect, it } from "vitest";
import { create, readAll, record, textOf, update } from "../../../src/storage/conformance/support.ts";
import { keepHistory } from "../../../src/storage/history/history-store.ts";
import { deleteKeyspace, keyspace } from "../../../src/storage/keyspaces/keyspace-store.ts";
import { openLmdbStore } from "../../../src/storage/lmdb/lmdb-store.ts";
import { createMemoryStore } from "../../../src/storage/memory/memory-store.ts";
import { describeModel } from "../model.ts";
import {
  closedWith,
  describeConformance,
  inFolder,
  ManualClock,
  multipleStoreCases,
  stampCases,
  withoutStamps,
} from "../support.ts";

/** A keyspace beside two others that have the same keys. */
async function inMemory() {
  const clock = new ManualClock();
  const inner = createMemoryStore({ clock });
  for (const id of ["a", "c", "b-1"]) {
    const neighbour = keyspace(inner, id);
    for (const key of ["/a/r/n/x", "/g/r/n/x", "/core/pods/default/p001", "/a/s//é"])
      await create(neighbour, key, "other");
  }
  const store = keyspace(inner, "b");
  return {
    store,
    advance: (ms: number) => clock.advance(ms),
    now: () => clock.now(),
    dispose: async () => {
      await store.close();
      await inner.close();
    },
  };
}

const embedded = withoutStamps(
  inFolder((options) => {
    const inner = openLmdbStore(options);
    return closedWith(keyspace(inner, "b"), inner);
  }),
);

describeConformance("a keyspace in memory", inMemory, multipleStoreCases);
describeConformance("a keyspace of an embedded store", embedded, stampCases);
describeModel("a keyspace in memory", inMemory, { runs: 50 });

describe("keyspaces of one store", () => {
  it("have the same revision line, and don't see each other", async () => {
    const inner = createMemoryStore({ clock: new ManualClock() });
    const [a, b] = [keyspace(inner, "a"), keyspace(inner, "b")];
    const { recorder } = record(b, "/g/r/", await inner.latestRevision());
    const whole = record(b, "/", await inner.latestRevision());
    const first = await create(a, "/g/r/n/x", "1");
    const second = await create(b, "/g/r/n/x", "2");
    expect(second).toBe(first + 1);
    expect([await a.latestRevision(), await b.latestRevision()]).toEqual([second, second]);
    expect([recorder.lines, whole.recorder.lines]).toEqual([["create /g/r/n/x 2"], ["create /g/r/n/x 2"]]);
    await update(a, "/g/r/n/x", first, "3");
    expect((await readAll(b, "/")).pairs).toEqual([["/g/r/n/x", "2"]]);
    expect(await b.count("/")).toBe(1);
  });

  it("a write has conditions on keys of its keyspace", async () => {
    const inner = createMemoryStore({ clock: new ManualClock() });
    const [a, b] = [keyspace(inner, "a"), keyspace(inner, "b")];
    await create(a, "/g/r/n/x", "1");
    const draft = { header: new Uint8Array(), body: Buffer.from("y"), revisionAt: 0 };
    const conditions = [{ key: "/g/r/n/x", revision: 0 as const }];
    expect((await a.commit({ kind: "create", key: "/g/r/n/y", draft, conditions })).ok).toBe(false);
    expect((await b.commit({ kind: "create", key: "/g/r/n/y", draft, conditions })).ok).toBe(true);
  });

  it("rules of history and pins are those of the store, histories are its own", async () => {
    const clock = new ManualClock();
    const inner = await keepHistory(createMemoryStore({ clock }), {
      clock,
      collections: new Map([["/g/r/", { ms: 60 * 60_000 }]]),
      pins: true,
      drops: false,
      failed: () => undefined,
    });
    const [a, b] = [keyspace(inner, "a"), keyspace(inner, "b")];
    expect([a, b, inner].map(({ history }) => history!.keeps("/g/r/"))).toEqual([true, true, true]);
    expect(a.history!.keeps("/g/s/")).toBe(false);
    const first = await create(a, "/g/r/n/x", "1");
    const { revision: at } = await b.pins!.add("then");
    await update(a, "/g/r/n/x", first, "2");
    clock.advance(10_000);
    await inner.compact(clock.now());
    expect(textOf(await a.get("/g/r/n/x", at))).toBe("1");
    const { versions } = await a.history!.versions("/g/r/n/x", { limit: 10 });
    expect(versions.map(({ key }) => key)).toEqual(["/g/r/n/x", "/g/r/n/x"]);
    expect((await b.history!.versions("/g/r/n/x", { limit: 10 })).versions).toEqual([]);
  });

  it("a deleted one leaves the others", async () => {
    const inner = createMemoryStore({ clock: new ManualClock() });
    for (const id of ["a", "a-b", "b"])
      for (let i = 0; i < 120; i++) await create(keyspace(inner, id), `/g/r/n/${i}`, "1");
    expect(await deleteKeyspace(inner, "a")).toBe(120);
    expect(await deleteKeyspace(inner, "a")).toBe(0);
    expect(await inner.count("/")).toBe(240);
    expect(await keyspace(inner, "a-b").count("/g/r/")).toBe(120);
  });

  it("an identifier of another form is a bug", () => {
    const inner = createMemoryStore({ clock: new ManualClock() });
    for (const id of ["", "A", "a/b", "a@b", "-a", "x".repeat(64)])
      expect(() => keyspace(inner, id)).toThrow(TypeError);
  });
});
