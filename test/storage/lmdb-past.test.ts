import * as fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { draft, Recorder, textOf } from "../../src/storage/conformance/support.ts";
import type { Environment } from "../../src/storage/lmdb/databases.ts";
import {
  acquireEnvironment,
  defaultMapBytes,
  releaseEnvironment,
} from "../../src/storage/lmdb/environment.ts";
import { indexEvery } from "../../src/storage/lmdb/layout.ts";
import { type LmdbStore, openLmdbStore } from "../../src/storage/lmdb/lmdb-store.ts";
import { type Revision, StoreDamagedError, type Write } from "../../src/storage/store.ts";
import { ManualClock, temporaryFolder } from "./support.ts";

const KEYS = ["/p/r/n/a", "/p/r/n/b", "/p/r/n/b!", "/p/r/o/é"];
const folder = temporaryFolder();
afterAll(folder.remove);

/** What a store should have held at each of its revisions, as `text@revision` by key. */
class Line {
  readonly states: { revision: Revision; values: ReadonlyMap<string, string> }[];
  readonly events: string[] = [];

  constructor(start: Revision) {
    this.states = [{ revision: start, values: new Map() }];
  }

  get latest() {
    return this.states.at(-1)!;
  }

  /** Updates what stands and creates what doesn't, or deletes it. */
  async write(store: LmdbStore, key: string, text: string, remove: boolean): Promise<void> {
    const standing = this.latest.values.get(key);
    if (standing === undefined && remove) return;
    const expected = Number(standing?.split("@")[1]) as Revision;
    const write: Write =
      standing === undefined
        ? { kind: "create", key, draft: draft(text) }
        : remove
          ? { kind: "delete", key, expected }
          : { kind: "update", key, expected, draft: draft(text) };
    const result = await store.commit(write);
    if (!result.ok) throw new Error(`a conflict on ${key}`);
    const values = new Map(this.latest.values);
    if (remove) values.delete(key);
    else values.set(key, `${text}@${result.revision}`);
    this.states.push({ revision: result.revision, values });
    this.events.push(`${write.kind} ${key} ${remove ? standing!.split("@")[0] : text}`);
  }
}

/** Every revision that is kept reads as it was, whole, by key and in pages; subscriptions begin after each. */
async function compare(store: LmdbStore, line: Line): Promise<void> {
  const floor = await store.floor();
  const kept = line.states.filter(({ revision }) => revision >= floor);
  for (const { revision, values } of kept) {
    const found: [string, string][] = [];
    for (let after: string | undefined; ;) {
      const page = await store.range({ prefix: "/p/r/", at: revision, after, limit: 2 });
      for (const entry of page.entries) found.push([entry.key, `${textOf(entry)}@${entry.revision}`]);
      if (!page.more) break;
      after = page.entries.at(-1)!.key;
    }
    expect(found, `at ${revision}`).toEqual([...values].toSorted(([a], [b]) => (a < b ? -1 : 1)));
    for (const key of KEYS) {
      const entry = await store.get(key, revision);
      expect(entry && `${textOf(entry)}@${entry.revision}`, `${key} at ${revision}`).toBe(values.get(key));
    }
    expect(await store.count("/p/r/", revision)).toBe(values.size);
  }
  for (const { revision } of kept.filter((_, i) => i % 7 === 0)) {
    const recorder = new Recorder("/p/");
    const subscription = store.subscribe({ prefix: "/p/", after: revision }, recorder);
    await subscription.sync();
    subscription.close();
    const first = line.states.findIndex((state) => state.revision > revision);
    expect(recorder.lines).toEqual(first < 0 ? [] : line.events.slice(first - 1));
  }
  expect(await store.check()).toEqual([]);
}

const step = fc.oneof(
  {
    weight: 30,
    arbitrary: fc.record({
      do: fc.constant("write" as const),
      // Mostly the same key, so that its chain becomes long.
      key: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.nat(KEYS.length - 1)),
      remove: fc.nat(24).map((chance) => chance === 0),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("wait" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("compact" as const), ageMs: fc.nat(3000) }) },
);

describe("the past of an embedded store", () => {
  it("is exact at every revision that compaction left, however often a key changed", async () => {
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 80, maxLength: 250, size: "max" }), async (steps) => {
        const clock = new ManualClock();
        const options = { dir: `${folder.path}/${run++}`, clock, recentEventsBytes: 0 };
        let store = openLmdbStore(options);
        const line = new Line(await store.latestRevision());
        for (const [i, action] of steps.entries()) {
          if (action.do === "write") await line.write(store, KEYS[action.key]!, `${i}`, action.remove);
          else if (action.do === "wait") clock.advance(500);
          else {
            await store.compact(clock.now() - action.ageMs);
            await compare(store, line);
          }
        }
        await store.close();
        store = openLmdbStore(options);
        await compare(store, line);
        clock.advance(1000);
        expect(await store.compact(clock.now())).toBe(line.latest.revision);
        await compare(store, line);
        await store.close();
      }),
      { numRuns: 12, seed: 20261122, endOnFailure: true },
    );
  });
});

describe("check tells when the log and its index come apart", () => {
  const key = KEYS[0]!;

  /** What is found in a store of one key, changed often and then deleted, after its databases were tampered with. */
  async function problems(
    name: string,
    tamper: (environment: Environment, indexed: Revision[]) => void,
  ): Promise<string> {
    const dir = `${folder.path}/${name}`;
    const store = openLmdbStore({ dir, clock: new ManualClock() });
    const line = new Line(await store.latestRevision());
    for (let i = 0; i < indexEvery * 3 - 5; i++) await line.write(store, key, `${i}`, false);
    await line.write(store, key, "", true);
    const environment = acquireEnvironment(dir, defaultMapBytes);
    const indexed = Array.from(
      environment.history.getKeys({ start: ["/", 0 as Revision] }),
      ([, revision]) => revision,
    );
    environment.root.transactionSync(() => tamper(environment, indexed));
    const found = await store.check();
    await releaseEnvironment(environment);
    await store.close();
    return found.join("\n");
  }

  it("is content with what nobody touched; the index has few entries", async () => {
    const found = await problems("untouched", (_, indexed) => expect(indexed).toHaveLength(3));
    expect(found).toBe("");
  });

  it("a log entry is gone that the index points to", async () => {
    const found = await problems("log", ({ log }, [first]) => log.removeSync(first!));
    expect(found).toMatch(/the index entry of \S+ at \d+ isn't in the log/);
    expect(found).toMatch(/the log goes from/);
  });

  it("what is gone is said to be damaged when it is read", async () => {
    const dir = `${folder.path}/read`;
    const store = openLmdbStore({ dir, clock: new ManualClock(), recentEventsBytes: 0 });
    const line = new Line(await store.latestRevision());
    for (let i = 0; i < 5; i++) await line.write(store, key, `${i}`, false);
    const environment = acquireEnvironment(dir, defaultMapBytes);
    environment.root.transactionSync(() => environment.log.removeSync(line.latest.revision));
    await releaseEnvironment(environment);
    const { revision: at } = line.states.at(-2)!;
    expect(() => store.get(key, at)).toThrow(StoreDamagedError);
    expect(() => store.range({ prefix: "/p/r/", at })).toThrow(/read can't be used: the log has no entry/);
    const recorder = new Recorder("/p/");
    await store.subscribe({ prefix: "/p/", after: at }, recorder).sync();
    expect(recorder.lines).toEqual([]);
    await store.close();
  });

  it("an index entry is gone, or should not exist", async () => {
    const missing = await problems("missing", ({ history }, indexed) =>
      history.removeSync([key, indexed.at(-1)!]),
    );
    expect(missing).toMatch(/the change of \S+ at \d+ isn't in the index/);
    expect(missing).toMatch(/the log has 44 changes, but exact reads reach 32 of them/);
    const extra = await problems("extra", ({ history }, [first]) =>
      history.putSync([key, (first! - 1) as Revision], Buffer.alloc(0)),
    );
    expect(extra).toMatch(/should not exist/);
  });

  it("the log entries of two changes were exchanged", async () => {
    const found = await problems("exchanged", ({ log }, [first]) => {
      const bytes = log.get(first!)!;
      log.putSync(first!, log.get(first! + 1)!);
      log.putSync(first! + 1, bytes);
    });
    expect(found).toMatch(/the index entry of \S+ at \d+ should not exist/);
    expect(found).toMatch(/the change of \S+ at \d+ isn't in the index/);
  });
});

it("a page of the past reads the log of its keys only, whatever was written before", async () => {
  const own = temporaryFolder();
  const store = openLmdbStore({ dir: own.path, clock: new ManualClock() });
  const environment = acquireEnvironment(own.path, defaultMapBytes);
  try {
    const names = Array.from({ length: 2000 }, (_, n) => `/g/r/n/${String(n).padStart(4, "0")}`);
    for (let first = 0; first < names.length; first += 500)
      await store.transact(
        names.slice(first, first + 500).map((key): Write => ({ kind: "create", key, draft: draft(key) })),
      );
    const at = await store.latestRevision();
    await store.commit({ kind: "create", key: "/g/s/n/other", draft: draft("other") });
    const { history } = environment;
    const getKeys = history.getKeys.bind(history);
    let read = 0;
    history.getKeys = (options) => getKeys(options).map((key) => (read++, key));
    const page = await store.range({ prefix: "/g/r/", at, after: names[700], limit: 10 });
    expect(page.entries.map(({ key }) => key)).toEqual(names.slice(701, 711));
    expect(read).toBeGreaterThan(0);
    expect(read).toBeLessThan(30);
  } finally {
    await releaseEnvironment(environment);
    await store.close();
    own.remove();
  }
});
