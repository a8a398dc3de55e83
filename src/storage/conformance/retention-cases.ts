import assert from "node:assert/strict";
import { type Revision, RevisionCompactedError, type Store } from "../store.ts";
import {
  create,
  readAll,
  record,
  rejectsWith,
  remove,
  type Scenario,
  scenario,
  textOf,
  until,
  update,
} from "./support.ts";

async function history(store: Store): Promise<Revision[]> {
  const first = await create(store, "/g/r/n/x", "1");
  const second = await update(store, "/g/r/n/x", first, "2");
  const kept = await create(store, "/g/r/n/kept", "kept");
  const gone = await remove(store, "/g/r/n/x", second);
  return [first, second, kept, gone];
}

/** Why cases about the end of history don't apply to a store that keeps it longer. */
const keptLonger = "the store keeps the history longer";

/** History, its floor, and reads below the floor. */
export const retentionCases: readonly Scenario[] = [
  scenario("a fresh store's floor is not above its latest revision", async ({ store }) => {
    assert.ok((await store.floor()) <= (await store.latestRevision()));
  }),

  scenario("compaction raises the floor to what was newest then, and keeps what stands", async (subject) => {
    const { store } = subject;
    if (store.history !== undefined) return keptLonger;
    const [, second, , gone] = await history(store);
    subject.advance(10_000);
    const then = subject.now();
    subject.advance(10_000);
    const last = await update(store, "/g/r/n/kept", (await store.get("/g/r/n/kept"))!.revision, "newer");
    assert.equal(await store.compact(then), gone);
    assert.equal(await store.floor(), gone);
    const error = await rejectsWith(() => store.get("/g/r/n/x", second), RevisionCompactedError);
    assert.deepEqual([error.requested, error.floor], [second, gone]);
    await rejectsWith(() => store.range({ prefix: "/", at: second }), RevisionCompactedError);
    await rejectsWith(() => store.count("/", second), RevisionCompactedError);
    assert.deepEqual((await readAll(store, "/g/", { at: gone! })).pairs, [["/g/r/n/kept", "kept"]]);
    assert.deepEqual((await readAll(store, "/g/", { at: last })).pairs, [["/g/r/n/kept", "newer"]]);
    assert.equal(await store.count("/g/r/", gone), 1);
    assert.deepEqual(await store.check(), []);
  }),

  scenario("compaction of a time that holds nothing changes nothing", async (subject) => {
    const before = subject.now();
    subject.advance(10_000);
    const [first] = await history(subject.store);
    const floor = await subject.store.floor();
    assert.equal(await subject.store.compact(before), floor);
    assert.equal(textOf(await subject.store.get("/g/r/n/x", first)), "1");
  }),

  scenario("the floor never falls", async (subject) => {
    const { store } = subject;
    await history(store);
    subject.advance(10_000);
    const floor = await store.compact(subject.now());
    await create(store, "/g/r/n/y", "1");
    assert.equal(await store.compact(0), floor);
    assert.equal(await store.floor(), floor);
  }),

  scenario("a subscription from the floor hears all after it; from below it ends", async (subject) => {
    const { store } = subject;
    if (store.history !== undefined) return keptLonger;
    const [first, , , gone] = await history(store);
    subject.advance(10_000);
    const floor = await store.compact(subject.now());
    assert.equal(floor, gone);
    const next = await create(store, "/g/r/n/next", "next");
    const fine = record(store, "/g/r/", floor);
    await fine.subscription.sync();
    assert.deepEqual(fine.recorder.revisions, [next]);
    const late = record(store, "/g/r/", first!);
    await until(() => late.recorder.endings.length > 0, "the subscription ends");
    const error = late.recorder.endings[0];
    assert.ok(error instanceof RevisionCompactedError, String(error));
    assert.deepEqual([error.requested, error.floor], [first, floor]);
    await create(store, "/g/r/n/more", "more");
    assert.equal(late.recorder.heard.length, 0);
    assert.equal(late.recorder.endings.length, 1);
  }),

  scenario("a live subscription survives compaction", async (subject) => {
    const { store } = subject;
    const { recorder } = record(store, "/g/r/", await store.latestRevision());
    await history(store);
    subject.advance(10_000);
    await store.compact(subject.now());
    await create(store, "/g/r/n/next", "next");
    assert.equal(recorder.heard.length, 5);
    assert.equal(recorder.endings.length, 0);
  }),

  scenario("a subscription that compaction overtakes hears every event whole, or ends", async (subject) => {
    if (subject.another === undefined) return "the engine's data isn't shared";
    const { store } = subject;
    const behind = await subject.another();
    const keys = Array.from({ length: 20 }, (_, i) => `/g/r/n/${i}`);
    const created = await Promise.all(keys.map((key) => create(store, key, "1")));
    const { recorder, subscription } = record(behind, "/g/r/", await store.latestRevision());
    const changed = await Promise.all(keys.map((key, i) => update(store, key, created[i]!, "2")));
    await Promise.all(keys.map((key, i) => remove(store, key, changed[i]!)));
    subject.advance(10_000);
    await store.compact(subject.now());
    await subscription.sync();
    if (recorder.endings.length > 0) {
      assert.ok(recorder.endings[0] instanceof RevisionCompactedError, String(recorder.endings[0]));
    } else {
      assert.equal(recorder.lines.filter((line) => line.startsWith("update")).length, keys.length);
      assert.equal(recorder.lines.filter((line) => line.startsWith("delete")).length, keys.length);
    }
  }),

  scenario("C-8-01 history is kept for 5 minutes by default, then goes by itself", async (subject) => {
    const { store } = subject;
    if (store.history !== undefined) return keptLonger;
    const [first, , , gone] = await history(store);
    subject.advance(4 * 60_000);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(textOf(await store.get("/g/r/n/x", first)), "1");
    subject.advance(61_000 + 30_000);
    for (const start = performance.now(); (await store.floor()) < gone!;) {
      assert.ok(performance.now() - start < 10_000, "the floor didn't rise");
      subject.advance(1000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await rejectsWith(() => store.get("/g/r/n/x", first), RevisionCompactedError);
    assert.deepEqual(await store.check(), []);
  }),

  scenario("another store's compaction is respected at once", async (subject) => {
    if (subject.another === undefined) return "the engine's data isn't shared";
    if (subject.store.history !== undefined) return keptLonger;
    const second = await subject.another();
    const [first] = await history(subject.store);
    subject.advance(10_000);
    const floor = await subject.store.compact(subject.now());
    assert.equal(await second.floor(), floor);
    await rejectsWith(() => second.get("/g/r/n/x", first), RevisionCompactedError);
  }),
];
