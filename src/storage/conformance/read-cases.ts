import assert from "node:assert/strict";
import { type Revision, RevisionTooNewError, type Store } from "../store.ts";
import { create, readAll, rejectsWith, remove, type Scenario, scenario, textOf, update } from "./support.ts";

async function fill(store: Store, count: number): Promise<string[]> {
  const keys = Array.from({ length: count }, (_, i) => `/core/pods/default/p${String(i).padStart(3, "0")}`);
  await Promise.all(keys.map((key) => create(store, key, `of ${key}`)));
  return keys;
}

/** Reads at latest and at exact revisions, paging, counting, key order. */
export const readCases: readonly Scenario[] = [
  scenario("an empty store reads as empty, at its first revision too", async ({ store }) => {
    const latest = await store.latestRevision();
    assert.equal(await store.get("/g/r/n/x"), undefined);
    assert.deepEqual(await store.range({ prefix: "/" }), { revision: latest, entries: [], more: false });
    assert.deepEqual(await store.range({ prefix: "/g/r/", at: latest }), {
      revision: latest,
      entries: [],
      more: false,
    });
    assert.equal(await store.count("/"), 0);
    assert.equal(await store.count("/g/r/"), 0);
  }),

  scenario("every past state of a key is read at its revision", async ({ store }) => {
    const key = "/g/r/n/x";
    const start = await store.latestRevision();
    const first = await create(store, key, "1");
    const second = await update(store, key, first, "2");
    const gone = await remove(store, key, second);
    const again = await create(store, key, "4");
    const states = [start, first, second, gone, again];
    const texts = await Promise.all(states.map(async (at) => textOf(await store.get(key, at))));
    assert.deepEqual(texts, [undefined, "1", "2", undefined, "4"]);
    for (const [i, at] of states.entries()) {
      const { pairs } = await readAll(store, "/g/r/", { at });
      assert.deepEqual(pairs, texts[i] === undefined ? [] : [[key, texts[i]]]);
      assert.equal(await store.count("/g/r/", at), pairs.length);
    }
  }),

  scenario("an entry read in the past carries the revision of its own write", async ({ store }) => {
    const first = await create(store, "/g/r/n/x", "1");
    const other = await create(store, "/g/r/n/y", "2");
    await update(store, "/g/r/n/x", first, "3");
    assert.equal((await store.get("/g/r/n/x", other))?.revision, first);
  }),

  scenario("a revision of the future is refused with the latest one", async ({ store }) => {
    const latest = await create(store, "/g/r/n/x", "1");
    const at = (latest + 1000) as Revision;
    const error = await rejectsWith(() => store.get("/g/r/n/x", at), RevisionTooNewError);
    assert.equal(error.requested, at);
    assert.equal(error.latest, latest);
    await rejectsWith(() => store.range({ prefix: "/", at }), RevisionTooNewError);
    await rejectsWith(() => store.count("/", at), RevisionTooNewError);
  }),

  scenario("what can't be a key is not found", async ({ store }) => {
    await create(store, "/g/r/n/x", "1");
    const at = await store.latestRevision();
    const long = "x".repeat(5000);
    for (const key of ["", `/g/r/n/${long}`, "/g/r/n/\0", "/g/r/n/x\0y", `/g/r/n/${"日".repeat(400)}`]) {
      assert.equal(await store.get(key), undefined);
      assert.equal(await store.get(key, at), undefined);
    }
    assert.equal((await store.range({ prefix: `/g/r/${long}/` })).entries.length, 0);
    assert.equal(await store.count(`/g/r/${long}/`), 0);
    for (const [after, found] of [
      [`/g/r/n/a${long}`, 1],
      [`/g/r/n/x${long}`, 0],
      [`/g/r/n/${"日".repeat(400)}`, 0],
    ] as const) {
      assert.equal((await store.range({ prefix: "/g/r/", after })).entries.length, found);
    }
  }),

  scenario("a range gives the keys under the prefix only", async ({ store }) => {
    const inside = ["/apps/sets/a/x", "/apps/sets/b/x"];
    const outside = [
      "/apps/set/a/x",
      "/apps/setsx/a/x",
      "/apps/sets0/a/x",
      "/core/sets/a/x",
      "/apps/set./a/x",
    ];
    for (const key of [...inside, ...outside]) await create(store, key, "1");
    assert.deepEqual(
      (await readAll(store, "/apps/sets/")).pairs.map(([key]) => key),
      inside,
    );
    assert.deepEqual(
      (await readAll(store, "/apps/sets/b/")).pairs.map(([key]) => key),
      ["/apps/sets/b/x"],
    );
    assert.equal((await readAll(store, "/")).pairs.length, 7);
  }),

  scenario(
    "cluster-scoped keys with an empty namespace lie under collection and partition",
    async ({ store }) => {
      await create(store, "/core/nodes//one", "1");
      await create(store, "/core/nodes//two", "2");
      assert.equal((await readAll(store, "/core/nodes/")).pairs.length, 2);
      assert.equal((await readAll(store, "/core/nodes//")).pairs.length, 2);
      assert.equal(await store.count("/core/nodes//"), 2);
    },
  ),

  scenario("keys are ordered by their UTF-8 bytes", async ({ store }) => {
    const names = ["-", "A", "Z", "a", "a-b", "a.b", "ab", "é", "日本", "\ue000", "\uffee", "😀", "𝒳"];
    const keys = names.map((name) => `/g/r/n/${name}`);
    keys.push("/g/r/n-b/a", "/g/r/n.c/a", "/g/r/nn/a");
    for (const key of keys) await create(store, key, "1");
    const sorted = keys.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    assert.deepEqual(
      (await readAll(store, "/g/r/")).pairs.map(([key]) => key),
      sorted,
    );
    assert.deepEqual(
      (await readAll(store, "/g/r/", { limit: 1 })).pairs.map(([key]) => key),
      sorted,
    );
    const at = await store.latestRevision();
    await remove(store, keys[3]!, (await store.get(keys[3]!))!.revision);
    assert.deepEqual(
      (await readAll(store, "/g/r/", { at, limit: 2 })).pairs.map(([key]) => key),
      sorted,
    );
  }),

  scenario("limit and after page through a prefix; more says whether keys remain", async ({ store }) => {
    const keys = await fill(store, 10);
    for (const limit of [1, 3, 5, 10, 11]) {
      const { pairs, pages } = await readAll(store, "/core/pods/", { limit });
      assert.deepEqual(
        pairs,
        keys.map((key) => [key, `of ${key}`]),
      );
      assert.equal(pages, Math.ceil(10 / limit));
    }
    const middle = await store.range({ prefix: "/core/pods/", after: "/core/pods/default/p004x", limit: 2 });
    assert.deepEqual(
      middle.entries.map((entry) => entry.key),
      keys.slice(5, 7),
    );
    assert.equal(middle.more, true);
    const last = await store.range({ prefix: "/core/pods/", after: keys[9], limit: 2 });
    assert.deepEqual([last.entries.length, last.more], [0, false]);
  }),

  scenario("maxBytes ends a page after the entry that reaches it", async ({ store }) => {
    await fill(store, 10);
    const { entries } = await store.range({ prefix: "/core/pods/" });
    const sizeOf = (count: number) => entries.slice(0, count).reduce((sum, { body }) => sum + body.length, 0);
    for (const [maxBytes, expected] of [
      [1, 1],
      [sizeOf(1), 1],
      [sizeOf(1) + 1, 2],
      [sizeOf(3), 3],
      [sizeOf(10) * 10, 10],
    ] as const) {
      const page = await store.range({ prefix: "/core/pods/", maxBytes });
      assert.equal(page.entries.length, expected, `maxBytes ${maxBytes}`);
      assert.equal(page.more, expected < 10);
    }
  }),

  scenario("pages at the first page's revision don't see the writes in between", async ({ store }) => {
    const keys = await fill(store, 30);
    const first = await store.range({ prefix: "/core/pods/", limit: 7 });
    const found = first.entries.map((entry) => [entry.key, textOf(entry)]);
    for (let page = first; page.more;) {
      const victim = keys[(found.length + 3) % keys.length]!;
      const current = await store.get(victim);
      if (current === undefined) await create(store, victim, "again");
      else if (found.length % 2 === 0) await update(store, victim, current.revision, "changed");
      else await remove(store, victim, current.revision);
      await create(store, `${victim}-new`, "new");
      const after = page.entries.at(-1)?.key;
      page = await store.range({ prefix: "/core/pods/", limit: 7, at: first.revision, after });
      assert.equal(page.revision, first.revision);
      found.push(...page.entries.map((entry) => [entry.key, textOf(entry)]));
    }
    assert.deepEqual(
      found,
      keys.map((key) => [key, `of ${key}`]),
    );
    assert.equal(await store.count("/core/pods/", first.revision), 30);
  }),

  scenario("count follows creates and deletes for every prefix", async ({ store }) => {
    const keys = await fill(store, 5);
    const other = await create(store, "/core/pods/other/x", "1");
    await create(store, "/apps/sets/default/x", "1");
    await remove(store, keys[0]!, (await store.get(keys[0]!))!.revision);
    await update(store, "/core/pods/other/x", other, "2");
    const counts = async (): Promise<number[]> => {
      const prefixes = [
        "/",
        "/core/",
        "/core/pods/",
        "/core/pods/default/",
        "/core/pods/none/",
        "/apps/sets/",
      ];
      return Promise.all(prefixes.map(async (prefix) => store.count(prefix)));
    };
    assert.deepEqual(await counts(), [6, 5, 5, 4, 0, 1]);
    const failed = await store.commit({ kind: "delete", key: keys[1]!, expected: other });
    assert.equal(failed.ok, false);
    assert.deepEqual(await counts(), [6, 5, 5, 4, 0, 1]);
  }),
];
