import { setImmediate as turn } from "node:timers/promises";
import * as fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { create, draft, readAll, remove, textOf, update } from "../../../src/storage/conformance/support.ts";
import { createMemoryStore, type MemoryStore } from "../../../src/storage/memory/memory-store.ts";
import type { StorePins } from "../../../src/storage/store-history.ts";
import {
  RevisionCompactedError,
  RevisionTooNewError,
  type Revision,
  type Store,
  type Subscription,
  type Write,
} from "../../../src/storage/store.ts";
import { withPins } from "../derived/derived-subjects.ts";
import { ManualClock } from "../support.ts";

interface Subject {
  readonly clock: ManualClock;
  readonly inner: MemoryStore;
  readonly store: Store;
  readonly pins: StorePins;
}

async function open(over?: Subject): Promise<Subject> {
  const clock = over?.clock ?? new ManualClock();
  const inner = over?.inner ?? createMemoryStore({ clock });
  const store = await withPins(inner, clock);
  return { clock, inner, store, pins: store.pins! };
}

/** Drops everything that isn't pinned. */
async function forget({ clock, inner }: Subject): Promise<void> {
  clock.advance(1000);
  await inner.compact(clock.now());
}

const recordsOf = ({ inner }: Subject) => inner.range({ prefix: "/", after: "/~0" }).entries;

describe("a pin", () => {
  it("keeps what is visible at its revision, and nothing else", async () => {
    const subject = await open();
    const { store, pins } = subject;
    const first = await create(store, "/g/r/n/x", "1");
    const gone = await create(store, "/h/q//gone", "here");
    await create(store, "/g/r/n/same", "same");
    expect(await pins.list()).toEqual([]);
    const { revision: at } = await pins.add("then");
    const second = await update(store, "/g/r/n/x", first, "2");
    const third = await update(store, "/g/r/n/x", second, "3");
    await remove(store, "/h/q//gone", gone);
    await create(store, "/g/r/n/new", "new");
    await forget(subject);
    expect((await readAll(store, "/", { at })).pairs).toEqual([
      ["/g/r/n/same", "same"],
      ["/g/r/n/x", "1"],
      ["/h/q//gone", "here"],
    ]);
    expect((await readAll(store, "/g/", { at })).pairs).toHaveLength(2);
    expect(textOf(await store.get("/h/q//gone", at))).toBe("here");
    expect(await store.get("/g/r/n/new", at)).toBeUndefined();
    expect([await store.count("/g/r/", at), await store.count("/", at)]).toEqual([2, 3]);
    await expect(store.get("/g/r/n/x", second)).rejects.toThrow(RevisionCompactedError);
    expect(textOf(await store.get("/g/r/n/x"))).toBe("3");
    expect(recordsOf(subject)).toHaveLength(2);
    expect(third).toBeGreaterThan(second);
  });

  it("is added and removed without reading all others, and listed by the start of its name", async () => {
    const subject = await open();
    const other = await open(subject);
    const { pins, inner } = subject;
    for (let index = 0; index < 20; index++) await pins.add(`a-${index}`);
    for (const name of ["a", "b", "b-1", "b-2", "b.1", "ba"]) await pins.add(name);
    await other.pins.add("of-the-other");
    const read = vi.spyOn(inner, "range");
    await pins.add("c");
    await pins.remove("b-1");
    expect(read).not.toHaveBeenCalled();
    const named = async (start?: string) => (await pins.list(start)).map(({ name }) => name);
    expect(await named("b")).toEqual(["b", "b-2", "b.1", "ba"]);
    expect(await named("b-")).toEqual(["b-2"]);
    expect(await named("of")).toEqual(["of-the-other"]);
    expect(await named("d")).toEqual([]);
    expect(await named()).toHaveLength(27);
  });

  it("is added and removed together with others that are changed at once, whatever becomes of one of them", async () => {
    const subject = await open();
    const { pins, inner } = subject;
    const old = await create(subject.store, "/g/r/n/x", "1");
    await pins.add("first");
    await update(subject.store, "/g/r/n/x", old, "2");
    await forget(subject);
    const committed = vi.spyOn(inner, "transact");
    const results = await Promise.allSettled([
      ...Array.from({ length: 20 }, (_, index) => pins.add(`p-${index}`)),
      pins.add("lost", old),
      pins.add("future", 10_000 as Revision),
      pins.remove("first"),
      pins.remove("absent"),
      pins.add("p-0"),
      pins.remove("p-1"),
    ]);
    expect(results.slice(20).map((one) => one.status === "fulfilled" && one.value)).toEqual([
      false,
      false,
      true,
      false,
      expect.objectContaining({ name: "p-0" }),
      true,
    ]);
    expect(results.slice(20, 22)).toMatchObject([
      { reason: expect.any(RevisionCompactedError) as unknown },
      { reason: expect.any(RevisionTooNewError) as unknown },
    ]);
    expect((await pins.list()).map(({ name }) => name)).toEqual(
      Array.from({ length: 20 }, (_, index) => `p-${index}`)
        .filter((name) => name !== "p-1")
        .toSorted(),
    );
    // The first one, those that came meanwhile, and from the repeated name on.
    expect(committed).toHaveBeenCalledTimes(3);
  });

  it("of the past keeps what was superseded before it was stored", async () => {
    const subject = await open();
    const { store, pins } = subject;
    const first = await create(store, "/g/r/n/x", "1");
    const gone = await create(store, "/g/r/n/gone", "1");
    const at = await store.latestRevision();
    await remove(store, "/g/r/n/gone", gone);
    const middle = await store.latestRevision();
    await update(store, "/g/r/n/x", first, "2");
    expect(await pins.add("then", at)).toEqual({ name: "then", revision: at });
    // A second pin between the deletion and the copy of the deleted value.
    expect(await pins.add("between", middle)).toEqual({ name: "between", revision: middle });
    await forget(subject);
    expect((await readAll(store, "/g/r/", { at })).pairs).toEqual([
      ["/g/r/n/gone", "1"],
      ["/g/r/n/x", "1"],
    ]);
    expect((await readAll(store, "/g/r/", { at: middle })).pairs).toEqual([["/g/r/n/x", "1"]]);
    await expect(pins.add("older", first)).rejects.toThrow(RevisionCompactedError);
    expect(await pins.add("again", at)).toEqual({ name: "again", revision: at });
    await expect(pins.add("later", 1_000_000 as Revision)).rejects.toThrow(RevisionTooNewError);
    expect((await pins.list()).map(({ name }) => name)).toEqual(["again", "between", "then"]);
  });

  it("that a process began before it ended is completed at the next start, or removed if its values are gone", async () => {
    const subject = await open();
    const { store, inner, pins } = subject;
    const old = await create(store, "/g/r/n/x", "1");
    const gone = await update(store, "/g/r/n/x", old, "2");
    await forget(subject);
    const at = await update(store, "/g/r/n/x", gone, "3");
    await update(store, "/g/r/n/x", at, "4");
    await pins.add("other");
    for (const [name, revision] of Object.entries({ lost: old, kept: at })) {
      const pending = { header: new Uint8Array(), body: Buffer.from(`?${revision}`), revisionAt: 0 };
      await inner.commit({ kind: "create", key: `/~/pins//${name}`, draft: pending });
    }
    const next = await open(subject);
    expect((await next.pins.list()).map(({ name }) => name)).toEqual(["kept", "other"]);
    await forget(subject);
    expect(textOf(await next.store.get("/g/r/n/x", at))).toBe("3");
  });

  it("of another process holds for the next write", async () => {
    const subject = await open();
    const other = await open(subject);
    const first = await create(subject.store, "/g/r/n/x", "1");
    const { revision: at } = await other.pins.add("theirs");
    await update(subject.store, "/g/r/n/x", first, "2");
    await forget(subject);
    for (const { store } of [subject, other]) expect(textOf(await store.get("/g/r/n/x", at))).toBe("1");
  });

  it("of another process holds for the next write, also when the store has ended the subscription to the pins", async () => {
    const subject = await open();
    await subject.pins.add("first");
    const subscriptions: Subscription[] = [];
    const inner = new Proxy(subject.inner, {
      get(target, name) {
        if (name === "subscribe")
          return (...options: Parameters<Store["subscribe"]>) => {
            const subscription = target.subscribe(...options);
            subscriptions.push(subscription);
            return subscription;
          };
        const value = Reflect.get(target, name) as unknown;
        return typeof value === "function" ? (value.bind(target) as unknown) : value;
      },
    });
    const store = await withPins(inner, subject.clock);
    const old = await create(store, "/g/r/n/x", "1");
    // Without an event that says so, as in the middle of a wait for it.
    for (const one of subscriptions) one.close();
    const { revision: at } = await subject.pins.add("theirs");
    await update(store, "/g/r/n/x", old, "2");
    await forget(subject);
    expect(textOf(await store.get("/g/r/n/x", at))).toBe("1");
    expect(subscriptions).toHaveLength(2);
  });

  it("that is removed leaves nothing", async () => {
    const subject = await open();
    const { store, pins, clock } = subject;
    const first = await create(store, "/g/r/n/x", "1");
    await pins.add("a");
    const { revision: at } = await pins.add("b");
    await update(store, "/g/r/n/x", first, "2");
    const sweep = async () => {
      // Longer than the pause between two rounds.
      for (const ms of [3_600_000, 60_000]) {
        clock.advance(ms);
        for (let i = 0; i < 20; i++) await turn();
      }
    };
    await forget(subject);
    await sweep();
    expect(recordsOf(subject)).toHaveLength(1);
    expect([await pins.remove("a"), await pins.remove("a")]).toEqual([true, false]);
    await sweep();
    expect(textOf(await store.get("/g/r/n/x", at))).toBe("1");
    await pins.remove("b");
    await sweep();
    expect(recordsOf(subject)).toEqual([]);
    await expect(store.get("/g/r/n/x", at)).rejects.toThrow(RevisionCompactedError);
  });

  it("sees that a key was absent, also if only an older value of it has a record", async () => {
    const subject = await open();
    const { store, pins } = subject;
    const first = await create(store, "/g/r/n/x", "1");
    await pins.add("older");
    const second = await update(store, "/g/r/n/x", first, "2");
    await pins.remove("older");
    await remove(store, "/g/r/n/x", second);
    const { revision: at } = await pins.add("then");
    await create(store, "/g/r/n/x", "3");
    await forget(subject);
    expect(await store.get("/g/r/n/x", at)).toBeUndefined();
    expect((await readAll(store, "/g/r/", { at })).pairs).toEqual([]);
  });

  it("can be moved", async () => {
    const subject = await open();
    const { store, pins } = subject;
    const { revision: before } = await pins.add("p");
    const first = await create(store, "/g/r/n/x", "1");
    const { revision: at } = await pins.add("p");
    expect(at).toBeGreaterThan(before);
    await update(store, "/g/r/n/x", first, "2");
    await forget(subject);
    expect(await pins.list()).toEqual([{ name: "p", revision: at }]);
    expect(textOf(await store.get("/g/r/n/x", at))).toBe("1");
    await expect(store.get("/g/r/n/x", before)).rejects.toThrow(RevisionCompactedError);
  });
});

const keys = ["/g/r/n/a", "/g/r/n/a-b", "/g/r/m/a", "/g/q//x", "/h/r/n/a"];

type Step =
  | { readonly do: "write"; readonly keys: readonly number[]; readonly deletes: boolean; readonly by: number }
  | { readonly do: "pin" | "unpin"; readonly by: number; readonly back: number }
  | { readonly do: "forget" | "sweep" };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant("write" as const),
      keys: fc.uniqueArray(fc.nat(keys.length - 1), { minLength: 1, maxLength: 3 }),
      deletes: fc.boolean(),
      by: fc.nat(1),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom("pin" as const, "unpin" as const),
      by: fc.nat(1),
      back: fc.nat(6),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("forget" as const, "sweep" as const) }) },
);

/** Executes steps by two processes over one store, and compares every pinned state with the one of then. */
async function agreesWithSnapshots(steps: readonly Step[]): Promise<void> {
  const one = await open();
  const processes = [one, await open(one)];
  const states = new Map<Revision, [string, string][]>();
  const pinned = new Map<string, Revision>();
  const remember = async (): Promise<void> => {
    const latest = await one.inner.latestRevision();
    states.set(latest, (await readAll(one.store, "/")).pairs as [string, string][]);
  };
  let pinCount = 0;
  await remember();
  for (const [index, current] of steps.entries()) {
    if (current.do === "write") {
      const { store } = processes[current.by]!;
      const writes: Write[] = [];
      for (const key of current.keys.map((n) => keys[n]!)) {
        const entry = await store.get(key);
        const value = draft(`${index}`);
        if (entry === undefined) writes.push({ kind: "create", key, draft: value });
        else if (current.deletes) writes.push({ kind: "delete", key, expected: entry.revision });
        else writes.push({ kind: "update", key, expected: entry.revision, draft: value });
      }
      if (writes.length === 1) expect((await store.commit(writes[0]!)).ok).toBe(true);
      else expect((await store.transact(writes)).ok).toBe(true);
    } else if (current.do === "pin") {
      const { store, pins } = processes[current.by]!;
      const floor = await store.floor();
      const revisions = [...states.keys()].filter((revision) => revision >= floor);
      const name = `p${pinCount++}`;
      const at = current.back === 0 ? undefined : revisions.at(-current.back);
      const { revision } = await pins.add(name, at);
      if (at !== undefined) expect(revision).toBe(at);
      pinned.set(name, revision);
    } else if (current.do === "unpin") {
      const name = [...pinned.keys()].at(-current.back);
      if (name === undefined) continue;
      await processes[current.by]!.pins.remove(name);
      pinned.delete(name);
    } else if (current.do === "forget") await forget(one);
    else {
      for (const ms of [3_600_000, 60_000]) {
        one.clock.advance(ms);
        for (let i = 0; i < 15; i++) await turn();
      }
      await forget(one);
    }
    await remember();
    for (const revision of new Set(pinned.values()))
      for (const { store } of processes)
        for (const prefix of ["/", "/g/", "/g/r/", "/g/r/n/"]) {
          const expected = states.get(revision)!.filter(([key]) => key.startsWith(prefix));
          const { pairs } = await readAll(store, prefix, { at: revision, limit: 2 });
          expect(pairs, `${prefix} at ${revision}`).toEqual(expected);
        }
  }
  for (const { store } of processes) await store.close();
}

describe("random histories of two processes", () => {
  it("what was visible at a pin stays so, whatever is written, forgotten and unpinned", async () => {
    await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), agreesWithSnapshots), {
      numRuns: 60,
      seed: 20261130,
    });
  });
});
