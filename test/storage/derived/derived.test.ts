import { setImmediate as turn } from "node:timers/promises";
import * as fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import {
  create,
  draft,
  readAll,
  record,
  remove,
  textOf,
  update,
} from "../../../src/storage/conformance/support.ts";
import { derivedStore } from "../../../src/storage/derived/derived-store.ts";
import { deleteKeyspace, keyspace } from "../../../src/storage/keyspaces/keyspace-store.ts";
import { openLmdbStore } from "../../../src/storage/lmdb/lmdb-store.ts";
import { createMemoryStore } from "../../../src/storage/memory/memory-store.ts";
import { RevisionCompactedError, type Revision, type Store, type Write } from "../../../src/storage/store.ts";
import { describeModel } from "../model.ts";
import {
  describeConformance,
  inFolder,
  ManualClock,
  multipleStoreCases,
  stampCases,
  withoutStamps,
} from "../support.ts";
import { derivedOver, withPins } from "./derived-subjects.ts";

/** A root store with pins, in memory. */
async function root() {
  const clock = new ManualClock();
  const inner = createMemoryStore({ clock });
  return { clock, inner, store: await withPins(inner, clock) };
}

let branches = 0;

/** Makes a store over a base as it is now. */
async function branchOf(store: Store, base: Store): Promise<Store> {
  const id = `branch-${branches++}`;
  const { revision: at } = await store.pins!.add(id);
  return derivedStore({ own: keyspace(store, id), base, at });
}

/** A derived store of an empty base, which other keys surround. */
async function inMemory() {
  const { clock, store } = await root();
  const base = keyspace(store, "base");
  const derived = await branchOf(store, await branchOf(store, base));
  for (const key of ["/a/r/n/x", "/g/r/n/x", "/core/pods/default/p001"]) await create(base, key, "later");
  return {
    store: derived,
    advance: (ms: number) => clock.advance(ms),
    now: () => clock.now(),
    dispose: () => store.close(),
  };
}

const embedded = withoutStamps(() => {
  const derived = derivedOver();
  return inFolder(({ clock, ...options }) => derived(openLmdbStore({ clock, ...options }), clock))();
});

describeConformance("a derived store in memory", inMemory, multipleStoreCases);
describeConformance("a derived store over an embedded one", embedded, stampCases);
describeModel("a derived store in memory", inMemory, { runs: 50 });

describe("a store derived from one with values", () => {
  it("has the values of the base as of its revision until it writes its own, and the base has none of these", async () => {
    const { clock, inner, store } = await root();
    const base = keyspace(store, "base");
    const x = await create(base, "/g/r/n/x", "1");
    const y = await create(base, "/g/r/n/y", "2");
    await create(base, "/g/r/n/z", "3");
    const derived = await branchOf(store, base);
    const start = await derived.latestRevision();
    const { recorder } = record(derived, "/g/r/", start);
    await update(base, "/g/r/n/x", x, "base changed");
    clock.advance(10_000);
    await inner.compact(clock.now());
    expect((await readAll(derived, "/")).pairs).toEqual([
      ["/g/r/n/x", "1"],
      ["/g/r/n/y", "2"],
      ["/g/r/n/z", "3"],
    ]);
    expect((await derived.get("/g/r/n/x"))!.revision).toBe(x);
    const changed = await update(derived, "/g/r/n/x", x, "own");
    await remove(derived, "/g/r/n/y", y);
    await create(derived, "/g/r/n/y", "again");
    await remove(derived, "/g/r/n/x", changed);
    expect((await readAll(derived, "/g/r/", { limit: 1 })).pairs).toEqual([
      ["/g/r/n/y", "again"],
      ["/g/r/n/z", "3"],
    ]);
    expect(await derived.count("/g/r/")).toBe(2);
    expect(recorder.lines).toEqual([
      "update /g/r/n/x own",
      "delete /g/r/n/y 2",
      "create /g/r/n/y again",
      "delete /g/r/n/x own",
    ]);
    expect(recorder.heard.map(({ previous }) => textOf(previous))).toEqual(["1", "2", undefined, "own"]);
    expect((await readAll(base, "/")).pairs).toEqual([
      ["/g/r/n/x", "base changed"],
      ["/g/r/n/y", "2"],
      ["/g/r/n/z", "3"],
    ]);
  });

  it("counts many own keys over few of the base without reading them", async () => {
    const { store } = await root();
    const base = keyspace(store, "base");
    const hidden = [];
    for (const name of ["a", "b", "c"]) hidden.push(await create(base, `/g/r/n/${name}`, "1"));
    const id = "counted";
    const { revision: at } = await store.pins!.add(id);
    const own = keyspace(store, id);
    const derived = derivedStore({ own, base, at });
    await update(derived, "/g/r/n/a", hidden[0]!, "own");
    await remove(derived, "/g/r/n/b", hidden[1]!);
    for (let index = 0; index < 40; index++) await create(derived, `/g/r/n/own-${index}`, "own");
    const before = (await derived.latestRevision()) as Revision;
    await create(derived, "/g/r/n/last", "own");
    const read = vi.spyOn(own, "range");
    expect(await derived.count("/g/r/")).toBe(43);
    expect(await derived.count("/g/r/", before)).toBe(42);
    expect(await derived.count("/g/other/")).toBe(0);
    expect(read).not.toHaveBeenCalled();
  });

  it("writes have conditions on values of the base", async () => {
    const { store } = await root();
    const base = keyspace(store, "base");
    const x = await create(base, "/g/r/n/x", "1");
    const derived = await branchOf(store, base);
    const conditions = [{ key: "/g/r/n/x", revision: x }];
    const writing = (name: string) =>
      derived.commit({ kind: "create", key: `/g/r/n/${name}`, draft: draft("1"), conditions });
    expect((await writing("a")).ok).toBe(true);
    await update(derived, "/g/r/n/x", x, "2");
    expect(await writing("b")).toEqual({ ok: false, current: undefined, failedCondition: 0 });
  });

  it("before its first revision there is nothing to read or to subscribe to", async () => {
    const { store } = await root();
    const base = keyspace(store, "base");
    const x = await create(base, "/g/r/n/x", "1");
    const derived = await branchOf(store, base);
    expect(() => derived.get("/g/r/n/x", x)).toThrow(RevisionCompactedError);
    const { recorder } = record(derived, "/g/r/", x);
    await turn();
    expect(recorder.endings[0]).toBeInstanceOf(RevisionCompactedError);
  });
});

describe("a store derived from a derived one", () => {
  it("pages have each object once when the values of its base are read from the history", async () => {
    const { clock, inner, store } = await root();
    const base = keyspace(store, "base");
    const names = ["a", "a-b", "b", "c"].map((name) => `/g/r/n/${name}`);
    for (const key of names) await create(base, key, "of the base");
    const between = await branchOf(store, base);
    const revisions = [];
    for (const key of names.slice(0, 3)) {
      const { revision } = (await between.get(key))!;
      revisions.push([key, await update(between, key, revision, "of the branch")] as const);
    }
    const branch = await branchOf(store, between);
    for (const [key, revision] of revisions)
      await remove(between, key, await update(between, key, revision, "later"));
    clock.advance(60_000);
    await inner.compact(clock.now());
    const expected = names.map((key, index) => [key, index < 3 ? "of the branch" : "of the base"]);
    expect((await readAll(branch, "/g/r/", { limit: 2 })).pairs).toEqual(expected);
    // The keys of the base with their marks are deleted as those of a removed workspace are.
    await deleteKeyspace(store, `branch-${branches - 2}`);
    await inner.compact(clock.now());
    expect((await readAll(branch, "/g/r/", { limit: 2 })).pairs).toEqual(expected);
    await store.close();
  });
});

const keys = ["/g/r/n/a", "/g/r/n/a-b", "/g/r/m/a", "/g/q//x", "/h/r/n/a"];
const prefixes = ["/", "/g/", "/g/r/", "/g/r/n/", "/g/q//"];

type Step =
  | {
      readonly do: "write";
      readonly keys: readonly number[];
      readonly deletes: boolean;
      readonly wrong: boolean;
      readonly condition: number | null;
    }
  | { readonly do: "branch" }
  | { readonly do: "base" }
  | { readonly do: "forget" };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("write" as const),
      keys: fc.uniqueArray(fc.nat(keys.length - 1), { minLength: 1, maxLength: 3 }),
      deletes: fc.boolean(),
      wrong: fc.oneof(
        { weight: 5, arbitrary: fc.constant(false) },
        { weight: 1, arbitrary: fc.constant(true) },
      ),
      condition: fc.option(fc.nat(keys.length - 1), { freq: 3 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.oneof(
      fc.record({ do: fc.constant("branch" as const) }),
      fc.record({ do: fc.constant("base" as const) }),
      fc.record({ do: fc.constant("forget" as const) }),
    ),
  },
);

/**
 * Writes the same into a branch of a branch of … and into an ordinary store, and compares results, reads, counts, past states and events.
 * The bases are changed and forgotten meanwhile.
 */
async function agreesWithOrdinaryStore(steps: readonly Step[]): Promise<void> {
  const { clock, inner, store } = await root();
  const ordinary = createMemoryStore({ clock: new ManualClock() });
  let branch = keyspace(store, "base");
  const bases: Store[] = [];
  let heard = [branch, ordinary].map((one) => record(one, "/", one.latestRevision() as Revision).recorder);
  let states = new Map<Revision, unknown>();
  for (const [index, current] of steps.entries()) {
    if (current.do === "branch") {
      expect(heard[0]!.lines.toSorted()).toEqual(heard[1]!.lines.toSorted());
      bases.push(branch);
      branch = await branchOf(store, branch);
      states = new Map();
      heard = [branch, ordinary].map((one) => record(one, "/", one.latestRevision() as Revision).recorder);
    } else if (current.do === "base") {
      for (const base of bases) {
        const entry = await base.get(keys[index % keys.length]!);
        if (entry === undefined) await create(base, keys[index % keys.length]!, "of the base");
        else await remove(base, entry.key, entry.revision);
      }
    } else if (current.do === "forget") {
      clock.advance(60_000);
      await inner.compact(clock.now());
      for (let i = 0; i < 5; i++) await turn();
    } else {
      const results: unknown[] = [];
      for (const one of [branch, ordinary]) {
        const writes: Write[] = [];
        for (const key of current.keys.map((n) => keys[n]!)) {
          const entry = await one.get(key);
          const condition = current.condition === null ? undefined : await one.get(keys[current.condition]!);
          const conditions =
            current.condition === null
              ? []
              : [{ key: keys[current.condition]!, revision: current.wrong ? 1 : (condition?.revision ?? 0) }];
          const value = draft(`${index}`);
          const isThere = (entry !== undefined) !== (current.wrong && current.condition === null);
          const expected = entry?.revision ?? (1 as Revision);
          if (!isThere) writes.push({ kind: "create", key, draft: value, conditions: conditions as [] });
          else if (current.deletes)
            writes.push({ kind: "delete", key, expected, conditions: conditions as [] });
          else writes.push({ kind: "update", key, expected, draft: value, conditions: conditions as [] });
        }
        const result = writes.length === 1 ? await one.commit(writes[0]!) : await one.transact(writes);
        if (!result.ok) results.push({ ...result, current: textOf(result.current) });
        else {
          const entries = "entries" in result ? result.entries : [result.entry];
          results.push(entries.map((entry) => [entry.key, textOf(entry)]));
        }
      }
      expect(results[0]).toEqual(results[1]);
    }
    for (const prefix of prefixes) {
      const [ours, theirs] = await Promise.all(
        [branch, ordinary].map((one) => readAll(one, prefix, { limit: 2 })),
      );
      expect(ours!.pairs).toEqual(theirs!.pairs);
      expect(await branch.count(prefix)).toBe(theirs!.pairs.length);
      if (prefix === "/") states.set(ours!.revision, ours!.pairs);
    }
    for (const key of keys) expect(textOf(await branch.get(key))).toBe(textOf(ordinary.get(key)));
    for (const [at, pairs] of states) {
      if (at < ((await branch.floor()) as number)) continue;
      expect((await readAll(branch, "/", { at, limit: 3 })).pairs).toEqual(pairs);
    }
  }
  expect(heard[0]!.lines.toSorted()).toEqual(heard[1]!.lines.toSorted());
  expect(heard.flatMap(({ endings }) => endings)).toEqual([]);
  await store.close();
  await ordinary.close();
}

describe("random writes in branches of branches", () => {
  it("a branch is like an ordinary store with the same values, whatever happens to its bases", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), agreesWithOrdinaryStore),
      { numRuns: 60, seed: 20261130 },
    );
  });
});
