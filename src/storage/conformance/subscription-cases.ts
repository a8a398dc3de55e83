import assert from "node:assert/strict";
import { type Entry, type Revision, StoreClosedError } from "../store.ts";
import {
  create,
  record,
  Recorder,
  remove,
  type Scenario,
  scenario,
  textOf,
  until,
  update,
} from "./support.ts";

/** Subscriptions: past, present and future, order, `sync`, ends. */
export const subscriptionCases: readonly Scenario[] = [
  scenario("a subscription hears every kind of event with the value before", async ({ store }) => {
    const { recorder } = record(store, "/g/r/", await store.latestRevision());
    const first = await create(store, "/g/r/n/x", "1");
    const second = await update(store, "/g/r/n/x", first, "2");
    const third = await remove(store, "/g/r/n/x", second);
    assert.deepEqual(recorder.revisions, [first, second, third]);
    assert.deepEqual(recorder.lines, ["create /g/r/n/x 1", "update /g/r/n/x 2", "delete /g/r/n/x 2"]);
    assert.deepEqual(
      recorder.heard.map((event) => event.previous?.revision),
      [undefined, first, second],
    );
    assert.deepEqual(
      recorder.heard.map((event) => textOf(event.previous)),
      [undefined, "1", "2"],
    );
    assert.deepEqual(
      recorder.heard.map((event) => event.entry?.revision),
      [first, second, undefined],
    );
  }),

  scenario("the event is delivered before the commit is acknowledged", async ({ store }) => {
    const { recorder } = record(store, "/g/r/", await store.latestRevision());
    const write = async (i: number): Promise<void> => {
      const revision = await create(store, `/g/r/n/${i}`, "1");
      assert.ok(recorder.revisions.includes(revision), `${revision} was acknowledged first`);
    };
    await Promise.all(Array.from({ length: 50 }, (_, i) => write(i)));
    assert.equal(recorder.heard.length, 50);
  }),

  scenario("a subscription from the past hears all that came after, then what comes", async ({ store }) => {
    const start = await store.latestRevision();
    const revisions: Revision[] = [];
    for (let i = 0; i < 20; i++) revisions.push(await create(store, `/g/r/n/${i}`, `${i}`));
    for (const after of [start, revisions[0]!, revisions[9]!, revisions[19]!]) {
      const { recorder, subscription } = record(store, "/g/r/", after);
      await subscription.sync();
      assert.deepEqual(
        recorder.revisions,
        revisions.filter((revision) => revision > after),
      );
      subscription.close();
    }
    const { recorder } = record(store, "/g/r/", revisions[17]!);
    const next = await create(store, "/g/r/n/next", "next");
    await until(() => recorder.heard.length === 3, "the past and the new event are heard");
    assert.deepEqual(recorder.revisions, [revisions[18], revisions[19], next]);
  }),

  scenario("the past is heard with values that are no longer current", async ({ store }) => {
    const start = await store.latestRevision();
    const first = await create(store, "/g/r/n/x", "1");
    const second = await update(store, "/g/r/n/x", first, "2");
    await remove(store, "/g/r/n/x", second);
    await create(store, "/g/r/n/x", "3");
    const { recorder, subscription } = record(store, "/g/", start);
    await subscription.sync();
    assert.deepEqual(recorder.lines, [
      "create /g/r/n/x 1",
      "update /g/r/n/x 2",
      "delete /g/r/n/x 2",
      "create /g/r/n/x 3",
    ]);
    assert.deepEqual(
      recorder.heard.map((event) => textOf(event.previous)),
      [undefined, "1", "2", undefined],
    );
  }),

  scenario("a subscription from the future leaves out what comes before it", async ({ store }) => {
    const latest = await create(store, "/g/r/n/a", "1");
    const after = (latest + 3) as Revision;
    const { recorder, subscription } = record(store, "/g/r/", after);
    assert.ok(subscription.position >= after);
    const revisions: Revision[] = [];
    for (let i = 0; i < 8; i++) revisions.push(await create(store, `/g/r/n/${i}`, "x"));
    assert.deepEqual(
      recorder.revisions,
      revisions.filter((revision) => revision > after),
    );
  }),

  scenario("only events under the prefix are heard, whatever its depth", async ({ store }) => {
    const start = await store.latestRevision();
    const prefixes = ["/", "/g/", "/g/r/", "/g/r/n/", "/g/r/m/", "/g/rr/"];
    const recorders = prefixes.map((prefix) => record(store, prefix, start).recorder);
    for (const key of ["/g/r/n/x", "/g/r/m/x", "/g/rr/n/x", "/gg/r/n/x"]) await create(store, key, "1");
    assert.deepEqual(
      recorders.map((recorder) => recorder.heard.length),
      [4, 3, 2, 1, 1, 1],
    );
  }),

  scenario("subscriptions share one event object", async ({ store }) => {
    const start = await store.latestRevision();
    const [a, b] = [record(store, "/g/r/", start).recorder, record(store, "/", start).recorder];
    await create(store, "/g/r/n/x", "1");
    assert.ok(a.heard[0] !== undefined && a.heard[0] === b.heard[0]);
  }),

  scenario(
    "deferrable subscriptions hear every event in order, and all at once by a sync",
    async ({ store }) => {
      const after = await store.latestRevision();
      const deferral = { key: "", selects: () => true };
      const recorders = Array.from({ length: 500 }, () => new Recorder("/g/r/"));
      const subscriptions = recorders.map((recorder) =>
        store.subscribe({ prefix: "/g/r/", after, deferral }, recorder),
      );
      const revisions: Revision[] = [];
      for (let i = 0; i < 10; i++) revisions.push(await create(store, `/g/r/n/${i}`, `${i}`));
      await subscriptions.at(-1)!.sync();
      assert.deepEqual(recorders.at(-1)!.revisions, revisions);
      await until(
        () => recorders.every(({ heard }) => heard.length === revisions.length),
        "all events are heard",
      );
      for (const recorder of recorders) assert.deepEqual(recorder.revisions, revisions);
      for (const subscription of subscriptions) subscription.close();
    },
  ),

  scenario("no gap and no duplicate while writers go on", async ({ store }) => {
    const start = await store.latestRevision();
    const writer = async (name: string): Promise<void> => {
      let revision = await create(store, `/g/r/n/${name}`, "0");
      for (let i = 1; i < 40; i++) revision = await update(store, `/g/r/n/${name}`, revision, `${i}`);
    };
    const writing = Promise.all(["a", "b", "c", "d"].map(writer));
    const recordings = [record(store, "/g/r/", start)];
    for (let i = 0; i < 15; i++) {
      await create(store, `/g/other/n/${i}`, "tick");
      recordings.push(record(store, "/g/r/", i % 2 === 0 ? start : await store.latestRevision()));
    }
    await writing;
    for (const { subscription } of recordings) await subscription.sync();
    const all = recordings[0]!.recorder.revisions;
    assert.equal(all.length, 160);
    for (const [i, { recorder }] of recordings.entries()) {
      const heard = recorder.revisions;
      assert.deepEqual(heard, heard.length === 0 ? [] : all.slice(-heard.length), `recording ${i} has a gap`);
      if (i % 2 === 1) assert.equal(heard.length, 160, `recording ${i} misses the past`);
    }
  }),

  scenario("position follows the store's revision, also without own events", async ({ store }) => {
    const { recorder, subscription } = record(store, "/g/r/", await store.latestRevision());
    const revision = await create(store, "/other/r/n/x", "1");
    assert.equal(await subscription.sync(), revision);
    assert.equal(subscription.position, revision);
    assert.equal(recorder.heard.length, 0);
  }),

  scenario(
    "writes that arrive together reach the subscriptions of their prefixes, in order",
    async ({ store }) => {
      const prefixes = ["/", "/g/", "/g/r/", "/g/r/a/", "/g/r/b/", "/g/q/", "/g/q//"];
      const start = await store.latestRevision();
      const recordings = prefixes.map((prefix) => record(store, prefix, start).recorder);
      const keys = [0, 1, 2, 3, 4, 5].flatMap((i) => [
        `/g/r/a/${i}`,
        `/g/r/b/${i}`,
        `/g/r/b/x${i}`,
        `/g/q//${i}`,
        `/h/r/a/${i}`,
        `/g/r/a/${i}/below`,
      ]);
      await Promise.all(keys.map((key) => create(store, key, "1")));
      for (const [index, prefix] of prefixes.entries()) {
        const { heard, revisions } = recordings[index]!;
        const expected = keys.filter((key) => key.startsWith(prefix));
        assert.deepEqual(heard.map(({ key }) => key).toSorted(), expected.toSorted(), prefix);
        assert.deepEqual(
          revisions,
          revisions.toSorted((one, other) => one - other),
        );
      }
    },
  ),

  scenario(
    "reads together see what others committed before, and those after it what came since",
    async (subject) => {
      const { store, another } = subject;
      if (another === undefined) return "the engine's data isn't shared";
      const second = await another();
      const key = "/g/r/n/x";
      let revision = await create(second, key, "0");
      for (let i = 1; i < 4; i++) {
        const read: unknown[] = [];
        store.together(() => read.push(store.latestRevision(), store.get(key), store.get(key)));
        const [latest, first, again] = (await Promise.all(read)) as [Revision, Entry, Entry];
        assert.deepEqual([latest, first.revision, again.revision], [revision, revision, revision]);
        revision = await update(second, key, revision, String(i));
        assert.equal((await store.get(key))?.revision, revision);
        assert.equal(await store.latestRevision(), revision);
      }
    },
  ),

  scenario("syncs that begin together deliver what others committed before", async ({ store, another }) => {
    if (another === undefined) return "the engine's data isn't shared";
    const second = await another();
    const start = await store.latestRevision();
    const subscriptions = ["/g/r/", "/g/q/"].map((prefix) => record(store, prefix, start).subscription);
    for (let i = 0; i < 3; i++) {
      const theirs = await create(second, `/g/r/n/theirs${i}`, "1");
      const synced: (Revision | Promise<Revision>)[] = [];
      store.together(() => {
        for (const subscription of subscriptions) synced.push(subscription.sync());
      });
      for (const reached of synced) assert.ok((await reached) >= theirs);
      const later = await create(second, `/g/q/n/theirs${i}`, "1");
      assert.ok((await subscriptions[1]!.sync()) >= later);
    }
  }),

  scenario("sync delivers what another store committed", async ({ store, another }) => {
    if (another === undefined) return "the engine's data isn't shared";
    const second = await another();
    const { recorder, subscription } = record(store, "/g/r/", await store.latestRevision());
    for (let i = 0; i < 5; i++) {
      const theirs = await create(second, `/g/r/n/theirs${i}`, "1");
      assert.ok((await subscription.sync()) >= theirs);
      assert.equal(recorder.revisions.at(-1), theirs);
      const ours = await create(store, `/g/r/n/ours${i}`, "1");
      assert.equal(recorder.revisions.at(-1), ours);
    }
    assert.equal(recorder.heard.length, 10);
  }),

  scenario(
    "another store's commits arrive by themselves, in order with one's own",
    async ({ store, another }) => {
      if (another === undefined) return "the engine's data isn't shared";
      const second = await another();
      const { recorder } = record(store, "/g/r/", await store.latestRevision());
      const write = async (from: typeof store, name: string): Promise<Revision[]> => {
        const revisions: Revision[] = [];
        for (let i = 0; i < 20; i++) revisions.push(await create(from, `/g/r/n/${name}${i}`, name));
        return revisions;
      };
      const written = (await Promise.all([write(store, "ours"), write(second, "theirs")])).flat();
      await until(() => recorder.heard.length >= 40, "all forty events arrive");
      assert.deepEqual(
        recorder.revisions,
        written.toSorted((a, b) => a - b),
      );
    },
  ),

  scenario("a closed subscription hears nothing more and doesn't end twice", async ({ store }) => {
    const { recorder, subscription } = record(store, "/g/r/", await store.latestRevision());
    await create(store, "/g/r/n/a", "1");
    subscription.close();
    subscription.close();
    await create(store, "/g/r/n/b", "1");
    assert.equal(recorder.heard.length, 1);
    await store.close();
    assert.equal(recorder.endings.length, 0);
  }),

  scenario("closing the store ends its subscriptions once", async ({ store }) => {
    const { recorder } = record(store, "/g/r/", await store.latestRevision());
    await create(store, "/g/r/n/a", "1");
    await store.close();
    await store.close();
    assert.equal(recorder.endings.length, 1);
    assert.ok(recorder.endings[0] instanceof StoreClosedError);
  }),

  scenario("a listener may subscribe, close and write", async ({ store }) => {
    const start = await store.latestRevision();
    const inner: { revisions: () => number[] }[] = [];
    let written: Promise<Revision> | undefined;
    const outer = store.subscribe(
      { prefix: "/g/r/", after: start },
      {
        events() {
          outer.close();
          inner.push({ revisions: () => nested.recorder.revisions });
          const nested = record(store, "/g/r/", start);
          written = create(store, "/g/r/n/second", "2");
        },
        ended() {},
      },
    );
    const witness = record(store, "/g/r/", start).recorder;
    const first = await create(store, "/g/r/n/first", "1");
    const second = await written!;
    await until(() => inner[0]!.revisions().length === 2, "the inner subscription hears both");
    assert.deepEqual(inner[0]!.revisions(), [first, second]);
    assert.deepEqual(witness.revisions, [first, second]);
    assert.equal(inner.length, 1);
  }),
];
