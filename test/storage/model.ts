import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { StoreUnderTest } from "../../src/storage/conformance.ts";
import { draft, Recorder, textOf } from "../../src/storage/conformance/support.ts";
import type { Revision, Write } from "../../src/storage/store.ts";

const KEYS = ["/a/r/n/x", "/a/r/n/y", "/a/r/m/x", "/a/s//é", "/a/s//😀", "/b/r/n/x"];
const PREFIXES = ["/", "/a/", "/a/r/", "/a/r/n/", "/a/s//", "/b/r/", "/c/r/"];

type Step =
  | { readonly do: "write"; readonly kind: Write["kind"]; readonly key: number }
  | { readonly do: "read"; readonly prefix: number; readonly back: number; readonly limit: number };

const step: fc.Arbitrary<Step> = fc.oneof(
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

  apply(write: Write, text: string, revision: Revision): void {
    const values = new Map(this.now.values);
    const before = values.get(write.key);
    if (write.kind === "delete") values.delete(write.key);
    else values.set(write.key, { text, revision });
    this.lines.push(`${write.kind} ${write.key} ${write.kind === "delete" ? before?.text : text}`);
    this.states.push({ revision, values });
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
      const write: Write =
        action.kind === "create"
          ? { kind: "create", key, draft: draft(text) }
          : action.kind === "update"
            ? { kind: "update", key, expected, draft: draft(text) }
            : { kind: "delete", key, expected };
      const result = await store.commit(write);
      expect(result.ok).toBe((standing === undefined) === (write.kind === "create"));
      if (result.ok) model.apply(write, text, result.revision);
      else
        expect([result.current?.revision, textOf(result.current)]).toEqual([
          standing?.revision,
          standing?.text,
        ]);
    } else await compareRead(store, model, PREFIXES[action.prefix]!, within, action);
  }
  await subscription.sync();
  subscription.close();
  expect(recorder.lines).toEqual(model.lines);
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
