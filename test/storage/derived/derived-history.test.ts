import { setImmediate as turn } from "node:timers/promises";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { create, draft, readAll, record, textOf } from "../../../src/storage/conformance/support.ts";
import { derivedStore } from "../../../src/storage/derived/derived-store.ts";
import { keepHistory } from "../../../src/storage/history/history-store.ts";
import { deleteKeyspace, keyspace } from "../../../src/storage/keyspaces/keyspace-store.ts";
import { createMemoryStore } from "../../../src/storage/memory/memory-store.ts";
import type { Version, VersionPage } from "../../../src/storage/store-history.ts";
import type { Revision, Store, Write } from "../../../src/storage/store.ts";
import { ForgetfulStore } from "../history/forgetful-store.ts";
import { keeping, ofOneStore } from "../history/kept-subjects.ts";
import { describeModel } from "../model.ts";
import { describeConformance, ManualClock } from "../support.ts";

const collection = "/g/r/";
const keys = ["a", "a-b", "b", "c"].map((name) => `${collection}n/${name}`);

/** A store with kept history and pins in memory, that has no other past. */
async function keptRoot() {
  const clock = new ManualClock();
  const inner = createMemoryStore({ clock });
  const store = await keepHistory(new ForgetfulStore(inner), { clock, ...keeping, pins: true });
  return { clock, inner, store };
}

let branches = 0;

async function branchOf(store: Store, base: Store): Promise<Store> {
  const id = `branch-${branches++}`;
  const { revision: at } = await store.pins!.add(id);
  return derivedStore({ own: keyspace(store, id), base, at });
}

const subject = async () => {
  const { clock, store } = await keptRoot();
  return {
    store: await branchOf(store, keyspace(store, "base")),
    advance: (ms: number) => clock.advance(ms),
    now: () => clock.now(),
    dispose: () => store.close(),
  };
};

describeConformance("a derived store with kept history", subject, ofOneStore);
describeModel("a derived store with kept history", subject, { runs: 30 });

type Step =
  | { readonly do: "write"; readonly key: number; readonly deletes: boolean; readonly both: boolean }
  | { readonly do: "base" }
  | { readonly do: "forget" };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("write" as const),
      key: fc.nat(keys.length - 1),
      deletes: fc.boolean(),
      both: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.oneof(
      fc.record({ do: fc.constant("base" as const) }),
      fc.record({ do: fc.constant("forget" as const) }),
    ),
  },
);

const scenario = fc.record({
  initial: fc.uniqueArray(fc.nat(keys.length - 1)),
  /** Written in a branch between the base and the branch, so by neither of the compared histories. */
  between: fc.array(fc.record({ key: fc.nat(keys.length - 1), deletes: fc.boolean() }), { maxLength: 4 }),
  steps: fc.array(step, { maxLength: 15 }),
});

/** Writes or deletes a key; the same in all stores with the same state. */
async function write(store: Store, key: string, deletes: boolean, id: string): Promise<void> {
  const entry = await store.get(key);
  const origin = { user: "mara", manager: "kubectl", verb: "apply", requestId: id, time: 1 };
  let change: Write;
  if (entry === undefined) change = { kind: "create", key, draft: draft(id), origin };
  else if (deletes) change = { kind: "delete", key, expected: entry.revision, origin };
  else change = { kind: "update", key, expected: entry.revision, draft: draft(id), origin };
  expect((await store.commit(change)).ok).toBe(true);
}

async function pagesOf(read: (after: string | undefined) => Promise<VersionPage>): Promise<Version[]> {
  const versions: Version[] = [];
  for (let after: string | undefined, pages = 0; pages < 100; pages++) {
    const page = await read(after);
    versions.push(...page.versions);
    if (page.next === undefined) return versions;
    after = page.next;
  }
  throw new Error("the pages have no end");
}

/** Describes a version without revisions, which differ between stores. */
async function described(store: Store, floor: Revision, version: Version): Promise<unknown> {
  const at = (revision: number) => Math.max(revision, floor) as Revision;
  const { key, revision, deleted, previous, origin } = version;
  return {
    key,
    value: textOf(await store.get(key, at(revision))),
    deleted,
    before: previous === 0 ? undefined : textOf(await store.get(key, at(previous))),
    id: origin?.requestId,
  };
}

/** Everything that the history of a store shows. */
async function shownBy(store: Store, start: Revision): Promise<unknown> {
  const history = store.history!;
  const floor = await history.floor(collection);
  const all = (versions: readonly Version[]) =>
    Promise.all(versions.map((version) => described(store, floor, version)));
  const versions: unknown[] = [];
  for (const key of keys)
    versions.push(await all(await pagesOf((after) => history.versions(key, { after, limit: 1 }))));
  const deletions = await all(await pagesOf((after) => history.deletions(collection, { after, limit: 1 })));
  const changes = await all(await pagesOf((after) => history.changes(collection, { after, limit: 2 })));
  const { recorder, subscription } = record(store, collection, start);
  await subscription.sync();
  subscription.close();
  expect(recorder.endings).toEqual([]);
  const states = [];
  for (const { revision } of recorder.heard)
    states.push((await readAll(store, collection, { at: revision, limit: 2 })).pairs);
  const heard = recorder.heard.map((event) => [event.key, textOf(event.entry), textOf(event.previous)]);
  return { versions, deletions, changes, heard, states };
}

async function agreesWithOrdinaryHistory({
  initial,
  between,
  steps,
}: typeof scenario extends fc.Arbitrary<infer T> ? T : never): Promise<void> {
  const { clock, inner, store } = await keptRoot();
  const base = keyspace(store, "base");
  for (const key of initial) await write(base, keys[key]!, false, "of the base");
  const middle = await branchOf(store, base);
  for (const { key, deletes } of between) await write(middle, keys[key]!, deletes, "between");
  const branch = await branchOf(store, middle);
  const start = await branch.latestRevision();
  // The ordinary store begins with the same values, and keeps its history from then on.
  const ordinaryClock = new ManualClock();
  const before = createMemoryStore({ clock: ordinaryClock });
  for (const [key, value] of (await readAll(branch, collection)).pairs) await create(before, key!, value!);
  const ordinary = await keepHistory(before, { clock: ordinaryClock, ...keeping });
  const ordinaryStart = await ordinary.latestRevision();
  for (const [index, current] of steps.entries())
    if (current.do === "base") {
      for (const one of [base, middle])
        await write(one, keys[index % keys.length]!, index % 2 === 0, "later");
    } else if (current.do === "forget") {
      clock.advance(60_000);
      await inner.compact(clock.now());
    } else
      for (const one of [branch, ordinary]) {
        await write(one, keys[current.key]!, current.deletes, `${index}`);
        if (current.both) await write(one, keys[(current.key + 1) % keys.length]!, false, `${index}`);
      }
  expect(await shownBy(branch, start)).toEqual(await shownBy(ordinary, ordinaryStart));
  await store.close();
  await ordinary.close();
}

describe("the history of a derived store", () => {
  it("is that of an ordinary store that began with the same values", async () => {
    await fc.assert(fc.asyncProperty(scenario, agreesWithOrdinaryHistory), { numRuns: 150, seed: 20261130 });
  });

  it("ends with its keyspace, and the states that others have pinned stay readable", async () => {
    const { store, inner } = await keptRoot();
    const own = keyspace(store, "own");
    const gone = keyspace(store, "gone");
    for (const id of ["1", "2", "3"]) await write(own, keys[0]!, false, id);
    const branch = await branchOf(store, own);
    for (const id of ["1", "2", "3"]) await write(gone, keys[0]!, false, id);
    await write(own, keys[0]!, false, "4");
    const records = (id: string) =>
      inner.range({ prefix: "/" }).entries.filter(({ key }) => key.startsWith(`/~${id}@`)).length;
    expect(records("gone")).toBe(3);
    // As the sweep stores it for a collection that was too large.
    const floor = "/~/floors//gone@g~r";
    expect((await inner.commit({ kind: "create", key: floor, draft: draft(":1") })).ok).toBe(true);
    await deleteKeyspace(store, "gone");
    expect([records("gone"), records("own")]).toEqual([0, 4]);
    expect(inner.get(floor)).toBeUndefined();
    await deleteKeyspace(store, "own");
    // Only the value that the branch began with is left, in the record of the write that superseded it.
    expect(records("own")).toBe(1);
    await turn();
    expect(textOf(await branch.get(keys[0]!))).toBe("3");
    await store.close();
  });
});
