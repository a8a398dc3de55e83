import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { StoreUnderTest } from "../../src/storage/conformance.ts";
import { draft, Recorder, textOf } from "../../src/storage/conformance/support.ts";
import type { Revision, Store, Write, WriteCondition } from "../../src/storage/store.ts";

const KEYS = ["/a/r/n/x", "/a/r/n/y", "/a/r/m/x", "/a/s//é", "/a/s//😀", "/b/r/n/x"];
const PREFIXES = ["/", "/a/", "/a/r/", "/a/r/n/", "/a/s//", "/b/r/", "/c/r/"];

/** A write of a transaction; `fitting` is one that succeeds: a create if the key doesn't exist, else an update or a delete. */
interface Part {
  readonly kind: Write["kind"] | "fitting";
  readonly key: number;
  readonly deletes: boolean;
  readonly condition: { readonly key: number; readonly holds: boolean } | null;
}

type Step =
  | { readonly do: "transact"; readonly parts: readonly Part[] }
  | { readonly do: "write"; readonly kind: Write["kind"]; readonly key: number }
  | { readonly do: "read"; readonly prefix: number; readonly back: number; readonly limit: number };

const part: fc.Arbitrary<Part> = fc.record({
  kind: fc.oneof(
    { weight: 9, arbitrary: fc.constant("fitting" as const) },
    { weight: 1, arbitrary: fc.constantFrom<Write["kind"]>("create", "update", "delete") },
  ),
  key: fc.nat(KEYS.length - 1),
  deletes: fc.boolean(),
  condition: fc.option(
    fc.record({
      key: fc.nat(KEYS.length - 1),
      holds: fc.oneof(
        { weight: 4, arbitrary: fc.constant(true) },
        { weight: 1, arbitrary: fc.constant(false) },
      ),
    }),
  ),
});

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("transact" as const),
      parts: fc.uniqueArray(part, { minLength: 1, maxLength: 4, selector: ({ key }) => key }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("write" as const),
      kind: fc.constantFrom<Write["kind"]>("create", "update", "delete"),
      key: fc.nat(KEYS.length - 1),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("read" as const),
      prefix: fc.nat(PREFIXES.length - 1),
      back: fc.nat(30),
      limit: fc.integer({ min: 1, max: 7 }),
    }),
  },
);

interface Refusal {
  readonly failedWrite: number;
  readonly current: Revision | undefined;
  readonly failedCondition: number | undefined;
}

/** What a store should hold: every state it ever had, by revision. */
class Model {
  readonly states: { revision: Revision; values: Map<string, { text: string; revision: Revision }> }[] = [];
  readonly lines: string[] = [];

  constructor(start: Revision) {
    this.states.push({ revision: start, values: new Map() });
  }

  get now() {
    return this.states.at(-1)!;
  }

  /** Applies writes at one revision. */
  apply(writes: readonly Write[], text: string, revision: Revision): void {
    const values = new Map(this.now.values);
    for (const write of writes) {
      const before = values.get(write.key);
      if (write.kind === "delete") values.delete(write.key);
      else values.set(write.key, { text, revision });
      const shown = write.kind === "delete" ? before?.text : text;
      this.lines.push(`${revision} ${write.kind} ${write.key} ${shown}`);
    }
    this.states.push({ revision, values });
  }

  /** Returns how a transaction fails; undefined if it succeeds. */
  refusal(writes: readonly Write[]): Refusal | undefined {
    const revisionOf = (key: string): Revision | undefined => this.now.values.get(key)?.revision;
    for (const [failedWrite, { key, conditions = [], ...change }] of writes.entries()) {
      const current = revisionOf(key);
      const failed = { failedWrite, current, failedCondition: undefined };
      if (current !== (change.kind === "create" ? undefined : change.expected)) return failed;
      const failedCondition = conditions.findIndex(
        (condition) => (revisionOf(condition.key) ?? 0) !== condition.revision,
      );
      if (failedCondition >= 0) return { ...failed, failedCondition };
    }
    return undefined;
  }

  page(state: Model["now"], prefix: string): [string, string, number][] {
    return [...state.values]
      .filter(([key]) => key.startsWith(prefix))
      .map(([key, { text, revision }]): [string, string, number] => [key, text, revision])
      .toSorted((a, b) => Buffer.compare(Buffer.from(a[0]), Buffer.from(b[0])));
  }
}

/** Random histories of writes and reads agree with a model that is nothing but maps. */
export function describeModel(
  engine: string,
  open: () => Promise<StoreUnderTest>,
  { runs }: { runs: number },
): void {
  describe(`${engine} against a model`, () => {
    it("agrees on every read, conflict, count and event of random histories", async () => {
      const subject = await open();
      try {
        let run = 0;
        await fc.assert(
          fc.asyncProperty(fc.array(step, { maxLength: 60 }), (steps) => play(subject, `${run++}`, steps)),
          { numRuns: runs, seed: 20261121, endOnFailure: true },
        );
        expect(await subject.store.check()).toEqual([]);
      } finally {
        await subject.dispose();
      }
    });
  });
}

/** Plays one history in a corner of the store of its own: `space` is put before each group. */
async function play({ store }: StoreUnderTest, space: string, steps: readonly Step[]): Promise<void> {
  const within = (path: string): string => `/${space}-${path.slice(1)}`;
  const keys = KEYS.map(within);
  const model = new Model(await store.latestRevision());
  const recorder = new Recorder("/");
  const subscription = store.subscribe({ prefix: "/", after: model.now.revision }, recorder);
  for (const [i, action] of steps.entries()) {
    if (action.do === "write") {
      const key = keys[action.key]!;
      const standing = model.now.values.get(key);
      const expected = standing?.revision ?? model.now.revision;
      const text = `${space}.${i}`;
      const write = writeOf(action.kind, key, expected, text);
      const result = await store.commit(write);
      expect(result.ok).toBe((standing === undefined) === (write.kind === "create"));
      if (result.ok) model.apply([write], text, result.revision);
      else
        expect([result.current?.revision, textOf(result.current)]).toEqual([
          standing?.revision,
          standing?.text,
        ]);
    } else if (action.do === "transact") await transact(store, model, keys, action.parts, `${space}.${i}`);
    else await compareRead(store, model, PREFIXES[action.prefix]!, within, action);
  }
  await subscription.sync();
  subscription.close();
  // The recorder checks the order of the revisions; the events of one may have any order.
  const events = recorder.lines.map((line, index) => `${recorder.revisions[index]} ${line}`);
  expect(events.toSorted()).toEqual(model.lines.toSorted());
}

function writeOf(kind: Write["kind"], key: string, expected: Revision, text: string): Write {
  if (kind === "delete") return { kind, key, expected };
  return kind === "create" ? { kind, key, draft: draft(text) } : { kind, key, expected, draft: draft(text) };
}

/** Executes a transaction, and compares its result. */
async function transact(
  store: Store,
  model: Model,
  keys: readonly string[],
  parts: readonly Part[],
  text: string,
): Promise<void> {
  const { values, revision: newest } = model.now;
  const writes = parts.map(({ kind, key: index, deletes, condition }): Write => {
    const key = keys[index]!;
    const existing = values.get(key);
    const fitting = existing === undefined ? "create" : deletes ? "delete" : "update";
    const write = writeOf(kind === "fitting" ? fitting : kind, key, existing?.revision ?? newest, text);
    return condition === null ? write : { ...write, conditions: [conditionOf(condition)] };
  });
  function conditionOf({ key: index, holds }: NonNullable<Part["condition"]>): WriteCondition {
    const key = keys[index]!;
    const revision = values.get(key)?.revision ?? 0;
    return { key, revision: holds ? revision : ((revision + 1) as Revision) };
  }
  const expected = model.refusal(writes);
  const result = await store.transact(writes);
  if (result.ok) {
    expect(expected).toBe(undefined);
    const entryOf = ({ key, kind }: Write) => {
      const deleted = values.get(key);
      return kind === "delete" ? [key, deleted?.text, deleted?.revision] : [key, text, result.revision];
    };
    expect(result.entries.map((entry) => [entry.key, textOf(entry), entry.revision])).toEqual(
      writes.map(entryOf),
    );
    model.apply(writes, text, result.revision);
  } else {
    const { failedWrite, current, failedCondition } = result;
    expect({ failedWrite, current: current?.revision, failedCondition }).toEqual(expected);
  }
}

async function compareRead(
  store: StoreUnderTest["store"],
  model: Model,
  path: string,
  within: (path: string) => string,
  { back, limit }: { back: number; limit: number },
): Promise<void> {
  if (path === "/") return;
  const prefix = within(path);
  const state = model.states[Math.max(0, model.states.length - 1 - back)]!;
  const expected = model.page(state, prefix);
  const found: [string, string | undefined, number][] = [];
  for (let after: string | undefined; ;) {
    const page = await store.range({ prefix, at: state.revision, after, limit });
    for (const entry of page.entries) found.push([entry.key, textOf(entry), entry.revision]);
    if (!page.more) break;
    after = page.entries.at(-1)!.key;
  }
  expect(found).toEqual(expected);
  expect(await store.count(prefix, state.revision)).toBe(expected.length);
  expect(await store.count(prefix)).toBe(model.page(model.now, prefix).length);
  const [key] = expected[0] ?? [within(KEYS[0]!)];
  expect((await store.get(key, state.revision))?.revision).toBe(expected[0]?.[2]);
}
