import assert from "node:assert/strict";
import { StoreClosedError } from "../store.ts";
import {
  create,
  draft,
  readAll,
  rejectsWith,
  remove,
  type Scenario,
  scenario,
  succeeded,
  textOf,
  update,
} from "./support.ts";

const webKey = "/apps/deployments/default/web";

/** Compare-and-swap, the revision line, durability of acknowledged writes, closing. */
export const writeCases: readonly Scenario[] = [
  scenario("a store that takes writes knows nothing against them", async ({ store }) => {
    await create(store, "/g/r/n/x", "1");
    assert.equal(await store.writeObstacle(), undefined);
  }),

  scenario("a create takes the next revision and reads back with it in place", async ({ store }) => {
    const before = await store.latestRevision();
    const result = succeeded(await store.commit({ kind: "create", key: webKey, draft: draft("one") }));
    assert.ok(result.revision > before);
    assert.equal(await store.latestRevision(), result.revision);
    assert.equal(result.entry.key, webKey);
    assert.equal(result.entry.revision, result.revision);
    assert.equal(textOf(result.entry), "one");
    const read = await store.get(webKey);
    assert.equal(read?.revision, result.revision);
    assert.equal(textOf(read), "one");
  }),

  scenario("the revision is spliced in at the ends of a body as well", async ({ store }) => {
    for (const [name, revisionAt] of [
      ["front", 0],
      ["back", 3],
    ] as const) {
      const key = `/g/r/n/${name}`;
      const value = { header: new Uint8Array(0), body: Buffer.from("abc"), revisionAt };
      const { revision } = succeeded(await store.commit({ kind: "create", key, draft: value }));
      const read = await store.get(key);
      const expected = revisionAt === 0 ? `${revision}abc` : `abc${revision}`;
      assert.equal(Buffer.from(read!.body).toString(), expected);
      assert.equal(read!.header.length, 0);
      assert.equal(read!.revisionAt, revisionAt);
    }
  }),

  scenario("a create of an existing key is a conflict with the current entry", async ({ store }) => {
    const revision = await create(store, webKey, "first");
    const result = await store.commit({ kind: "create", key: webKey, draft: draft("second") });
    assert.equal(result.ok, false);
    assert.equal(!result.ok && result.current?.revision, revision);
    assert.equal(!result.ok && textOf(result.current), "first");
    assert.equal(await store.latestRevision(), revision, "a conflict takes no revision");
  }),

  scenario("an update succeeds at the expected revision only", async ({ store }) => {
    const first = await create(store, webKey, "1");
    const second = await update(store, webKey, first, "2");
    assert.ok(second > first);
    const stale = await store.commit({ kind: "update", key: webKey, expected: first, draft: draft("3") });
    assert.equal(!stale.ok && stale.current?.revision, second);
    assert.equal(!stale.ok && textOf(stale.current), "2");
    assert.equal(textOf(await store.get(webKey)), "2");
  }),

  scenario(
    "an update or delete of a key that doesn't exist is a conflict with nothing",
    async ({ store }) => {
      const expected = await create(store, webKey, "1");
      const other = "/apps/deployments/default/other";
      assert.deepEqual(await store.commit({ kind: "update", key: other, expected, draft: draft("2") }), {
        ok: false,
        current: undefined,
      });
      assert.deepEqual(await store.commit({ kind: "delete", key: other, expected }), {
        ok: false,
        current: undefined,
      });
    },
  ),

  scenario("a delete takes a revision and gives the value that was deleted", async ({ store }) => {
    const first = await create(store, webKey, "1");
    const stale = await store.commit({ kind: "delete", key: webKey, expected: (first - 1) as typeof first });
    assert.equal(!stale.ok && stale.current?.revision, first);
    const result = succeeded(await store.commit({ kind: "delete", key: webKey, expected: first }));
    assert.ok(result.revision > first);
    assert.equal(result.entry.revision, first);
    assert.equal(textOf(result.entry), "1");
    assert.equal(await store.get(webKey), undefined);
    assert.equal(await store.latestRevision(), result.revision);
  }),

  scenario("a key can be created again after it was deleted", async ({ store }) => {
    const gone = await remove(store, webKey, await create(store, webKey, "1"));
    const again = await create(store, webKey, "2");
    assert.ok(again > gone);
    assert.equal(textOf(await store.get(webKey)), "2");
    assert.equal(textOf(await store.get(webKey, gone)), undefined);
  }),

  scenario("of concurrent creates of one key exactly one succeeds", async ({ store }) => {
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        store.commit({ kind: "create", key: webKey, draft: draft(`${i}`) }),
      ),
    );
    const winners = results.filter((result) => result.ok);
    assert.equal(winners.length, 1);
    const standing = await store.get(webKey);
    for (const result of results) {
      assert.equal(result.ok ? result.revision : result.current?.revision, standing!.revision);
    }
  }),

  scenario(
    "a condition on another key refuses the write once that key was written again",
    async ({ store }) => {
      const key = "/g/r/n/turn";
      const revision = await create(store, key, "1");
      const condition = { key, revision };
      const first = succeeded(
        await store.commit({ kind: "create", key: webKey, draft: draft("1"), conditions: [condition] }),
      ).revision;
      const second = succeeded(
        await store.commit({
          kind: "update",
          key: webKey,
          expected: first,
          draft: draft("2"),
          conditions: [condition],
        }),
      ).revision;
      await update(store, key, revision, "2");
      const before = await store.latestRevision();
      const other = "/apps/deployments/default/other";
      assert.deepEqual(
        await store.commit({ kind: "create", key: other, draft: draft("3"), conditions: [condition] }),
        {
          ok: false,
          current: undefined,
          failedCondition: 0,
        },
      );
      for (const kind of ["update", "delete"] as const) {
        const refused = await store.commit({
          kind,
          key: webKey,
          expected: second,
          draft: draft("3"),
          conditions: [condition],
        });
        assert.equal(!refused.ok && refused.failedCondition, 0);
        assert.equal(!refused.ok && refused.current?.revision, second);
      }
      assert.equal(await store.latestRevision(), before, "a failed condition takes no revision");
      assert.equal(textOf(await store.get(webKey)), "2");
    },
  ),

  scenario("a condition fails where its key was deleted, or deleted and made again", async ({ store }) => {
    const key = "/g/r/n/turn";
    const revision = await create(store, key, "1");
    const condition = { key, revision };
    const attempt = () =>
      store.commit({ kind: "create", key: webKey, draft: draft("1"), conditions: [condition] });
    await remove(store, key, revision);
    assert.equal((await attempt()).ok, false);
    await create(store, key, "1");
    assert.equal((await attempt()).ok, false);
    assert.equal(await store.get(webKey), undefined);
  }),

  scenario("a condition of revision 0 holds while its key doesn't exist", async ({ store }) => {
    const key = "/g/r/n/turn";
    const conditions = [{ key, revision: 0 }] as const;
    const first = await create(store, webKey, "1");
    const attempt = () => store.commit({ kind: "delete", key: webKey, expected: first, conditions });
    const revision = await create(store, key, "1");
    const refused = await attempt();
    assert.equal(!refused.ok && refused.failedCondition, 0);
    await remove(store, key, revision);
    assert.equal((await attempt()).ok, true);
  }),

  scenario("all conditions of a write must hold; the first that fails is named", async ({ store }) => {
    const keys = ["/g/r/n/a", "/g/r/n/b"] as const;
    const revisions = [await create(store, keys[0], "1"), await create(store, keys[1], "1")] as const;
    const conditions = keys.map((key, index) => ({ key, revision: revisions[index]! }));
    const attempt = (name: string) =>
      store.commit({ kind: "create", key: `/g/r/n/${name}`, draft: draft(name), conditions });
    assert.equal((await attempt("c")).ok, true);
    const second = await update(store, keys[1], revisions[1], "2");
    const refused = await attempt("d");
    assert.equal(!refused.ok && refused.failedCondition, 1);
    await update(store, keys[0], revisions[0], "2");
    const both = await attempt("d");
    assert.equal(!both.ok && both.failedCondition, 0);
    await remove(store, keys[1], second);
    assert.equal(await store.get("/g/r/n/d"), undefined);
  }),

  scenario(
    "a write whose own key isn't as expected is a conflict, whatever its condition",
    async ({ store }) => {
      const revision = await create(store, webKey, "1");
      const condition = { key: "/g/r/n/none", revision: revision };
      const result = await store.commit({
        kind: "create",
        key: webKey,
        draft: draft("2"),
        conditions: [condition],
      });
      assert.equal(!result.ok && result.current?.revision, revision);
      assert.equal(!result.ok && result.failedCondition, undefined);
    },
  ),

  scenario(
    "of writes that arrive together, those after one of the condition's key fail",
    async ({ store }) => {
      const key = "/g/r/n/turn";
      const revision = await create(store, key, "1");
      const condition = { key, revision };
      const write = (name: string) =>
        store.commit({ kind: "create", key: `/g/r/n/${name}`, draft: draft(name), conditions: [condition] });
      const early = [write("a"), write("b")];
      const turn = store.commit({ kind: "update", key, expected: revision, draft: draft("2") });
      const late = [write("c"), write("d")];
      const [taken, ...results] = await Promise.all([turn, ...early, ...late]);
      const turnedAt = succeeded(taken).revision;
      for (const result of results) {
        if (result.ok) assert.ok(result.revision < turnedAt, "a write took place after its condition failed");
        else assert.equal(result.failedCondition, 0);
      }
    },
  ),

  scenario("a condition holds against writers of other processes", async ({ store, another }) => {
    if (another === undefined) return "the engine's data isn't shared";
    const second = await another();
    const key = "/g/r/n/turn";
    const revision = await create(store, key, "1");
    const condition = { key, revision };
    const write = (by: typeof store, name: string) =>
      by.commit({ kind: "create", key: `/g/r/n/${name}`, draft: draft(name), conditions: [condition] });
    assert.equal((await write(second, "a")).ok, true);
    await update(second, key, revision, "2");
    const refused = await write(store, "b");
    assert.equal(!refused.ok && refused.failedCondition, 0);
    await second.close();
  }),

  scenario("concurrent writers that retry lose no update", async ({ store }) => {
    await create(store, webKey, "0");
    const writer = async (): Promise<void> => {
      for (let done = 0; done < 10;) {
        const seen = (await store.get(webKey))!;
        const next = draft(String(Number(textOf(seen)) + 1));
        const result = await store.commit({
          kind: "update",
          key: webKey,
          expected: seen.revision,
          draft: next,
        });
        if (result.ok) done++;
      }
    };
    await Promise.all([writer(), writer(), writer(), writer()]);
    assert.equal(textOf(await store.get(webKey)), "40");
  }),

  scenario("concurrent writes of many keys take distinct, growing revisions", async ({ store }) => {
    const keys = Array.from({ length: 100 }, (_, i) => `/g/r/n/k${String(i).padStart(3, "0")}`);
    const revisions = await Promise.all(keys.map((key) => create(store, key, key)));
    assert.equal(new Set(revisions).size, keys.length);
    assert.equal(Math.max(...revisions), await store.latestRevision());
    assert.deepEqual(
      (await readAll(store, "/g/r/n/")).pairs,
      keys.map((key) => [key, key]),
    );
  }),

  scenario("the caller's bytes may change after the commit", async ({ store }) => {
    const value = draft("mine");
    const pending = store.commit({ kind: "create", key: webKey, draft: value });
    await pending;
    value.body.fill(0);
    value.header.fill(0);
    assert.equal(textOf(await store.get(webKey)), "mine");
  }),

  scenario("a value of 1.5 MB is stored, superseded and read exactly", async ({ store }) => {
    const [large, other] = ["x".repeat(1_500_000), "y".repeat(1_499_999)];
    const first = await create(store, webKey, large);
    const second = await update(store, webKey, first, other);
    assert.ok(textOf(await store.get(webKey)) === other);
    assert.ok(textOf(await store.get(webKey, first)) === large);
    const page = await store.range({ prefix: "/apps/", at: second });
    assert.ok(textOf(page.entries[0]) === other);
  }),

  scenario("what is no key is refused as a bug, and nothing is written", async ({ store }) => {
    const before = await store.latestRevision();
    for (const key of ["", "web", "/a/b/c", "/a/b/c/", "/a/b/c/x\0y", `/a/b/c/${"x".repeat(2000)}`]) {
      await rejectsWith(() => store.commit({ kind: "create", key, draft: draft("1") }), TypeError);
    }
    assert.equal(await store.latestRevision(), before);
  }),

  scenario("check finds a used store sound", async ({ store }) => {
    const first = await create(store, webKey, "1");
    await create(store, "/core/pods/default/a", "2");
    await remove(store, webKey, await update(store, webKey, first, "3"));
    assert.deepEqual(await store.check(), []);
  }),

  scenario("a closed store refuses everything; closing twice is safe", async ({ store }) => {
    const revision = await create(store, webKey, "1");
    const late = store.commit({ kind: "create", key: "/g/r/n/late", draft: draft("late") });
    const check = store.check();
    await Promise.all([store.close(), store.close()]);
    assert.deepEqual(await check, [], "a check under way is waited for");
    assert.equal((await late).ok, true, "a write under way is waited for");
    await store.close();
    await rejectsWith(
      () => store.commit({ kind: "delete", key: webKey, expected: revision }),
      StoreClosedError,
    );
    await rejectsWith(() => store.get(webKey), StoreClosedError);
    await rejectsWith(() => store.range({ prefix: "/" }), StoreClosedError);
    await rejectsWith(() => store.latestRevision(), StoreClosedError);
  }),

  scenario("two stores over one set of data see one truth", async ({ store, another }) => {
    if (another === undefined) return "the engine's data isn't shared";
    const second = await another();
    const first = await create(store, webKey, "1");
    assert.equal(await second.latestRevision(), first);
    assert.equal(textOf(await second.get(webKey)), "1");
    const next = await update(second, webKey, first, "2");
    assert.equal(await store.latestRevision(), next);
    assert.equal(textOf(await store.get(webKey)), "2");
    const stale = await store.commit({ kind: "update", key: webKey, expected: first, draft: draft("3") });
    assert.equal(!stale.ok && stale.current?.revision, next);
    assert.equal(await second.count("/apps/deployments/"), 1);
    await second.close();
    assert.equal(textOf(await store.get(webKey)), "2", "closing one leaves the other");
  }),
];
