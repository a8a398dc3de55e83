import assert from "node:assert/strict";
import {
  type Revision,
  type Store,
  TransactionLimitError,
  type TransactionResult,
  type Write,
} from "../store.ts";
import {
  create,
  draft,
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

const prefix = "/g/r/n/";
const keyOf = (name: string) => prefix + name;

const creates = (names: readonly string[]): Write[] =>
  names.map((name) => ({ kind: "create", key: keyOf(name), draft: draft(name) }));

/** Asserts that a transaction succeeded. */
function succeeded(result: TransactionResult): Extract<TransactionResult, { ok: true }> {
  if (!result.ok) assert.fail(`write ${result.failedWrite} of the transaction met a conflict`);
  return result;
}

/** Asserts that a transaction failed, and that nothing of it was written. */
async function refusedAt(
  store: Store,
  writes: readonly Write[],
  expected: { readonly failedWrite: number; readonly current?: Revision; readonly failedCondition?: number },
): Promise<void> {
  const before = await readAll(store, "/");
  const result = await store.transact(writes);
  assert.ok(!result.ok, "the transaction took effect");
  const { failedWrite, current, failedCondition } = result;
  assert.deepEqual(
    { failedWrite, current: current?.revision, failedCondition },
    { current: undefined, failedCondition: undefined, ...expected },
  );
  assert.deepEqual(await readAll(store, "/"), before, "nothing is written, and no revision taken");
}

/** Transactions: several writes at one revision, all or none. */
export const transactionCases: readonly Scenario[] = [
  scenario("a transaction takes one revision, which is in every body", async ({ store }) => {
    const old = await create(store, keyOf("old"), "1");
    const gone = await create(store, keyOf("gone"), "2");
    const { revision, entries } = succeeded(
      await store.transact([
        { kind: "create", key: keyOf("new"), draft: draft("3") },
        { kind: "update", key: keyOf("old"), expected: old, draft: draft("4") },
        { kind: "delete", key: keyOf("gone"), expected: gone },
      ]),
    );
    assert.ok(revision > gone);
    assert.equal(await store.latestRevision(), revision);
    assert.deepEqual(
      entries.map((entry) => [entry.key, entry.revision, textOf(entry)]),
      [
        [keyOf("new"), revision, "3"],
        [keyOf("old"), revision, "4"],
        [keyOf("gone"), gone, "2"],
      ],
    );
    const { pairs } = await readAll(store, prefix);
    assert.deepEqual(pairs, [
      [keyOf("new"), "3"],
      [keyOf("old"), "4"],
    ]);
    assert.equal((await store.get(keyOf("old")))?.revision, revision);
    assert.equal(await store.count(prefix), 2);
    assert.deepEqual(await store.check(), []);
  }),

  scenario("the state before a transaction can be read exactly, and the one after it", async ({ store }) => {
    const names = ["a", "b", "c"];
    const first = succeeded(await store.transact(creates(names))).revision;
    const second = succeeded(
      await store.transact([
        { kind: "update", key: keyOf("a"), expected: first, draft: draft("a2") },
        { kind: "delete", key: keyOf("b"), expected: first },
        { kind: "create", key: keyOf("d"), draft: draft("d") },
      ]),
    ).revision;
    const third = await update(store, keyOf("a"), second, "a3");
    await remove(store, keyOf("c"), first);
    const at = async (revision: Revision) =>
      (await readAll(store, prefix, { at: revision })).pairs.map(([, text]) => text);
    assert.deepEqual(await at(first), ["a", "b", "c"]);
    assert.deepEqual(await at(second), ["a2", "c", "d"]);
    assert.deepEqual(await at(third), ["a3", "c", "d"]);
    assert.equal(textOf(await store.get(keyOf("b"), first)), "b");
    assert.equal(await store.get(keyOf("b"), second), undefined);
    assert.deepEqual(
      [await store.count(prefix, first), await store.count(prefix, second), await store.count(prefix)],
      [3, 3, 2],
    );
  }),

  scenario("the first write that fails is named, and nothing is written", async ({ store }) => {
    const revision = await create(store, keyOf("a"), "1");
    const added: Write = { kind: "create", key: keyOf("b"), draft: draft("2") };
    const again: Write = { kind: "create", key: keyOf("a"), draft: draft("3") };
    await refusedAt(store, [added, again], { failedWrite: 1, current: revision });
    const missing: Write = { kind: "delete", key: keyOf("c"), expected: revision };
    await refusedAt(store, [missing, again, added], { failedWrite: 0 });
    const stale: Write = {
      kind: "update",
      key: keyOf("a"),
      expected: (revision + 1) as Revision,
      draft: draft("4"),
    };
    await refusedAt(store, [added, stale], { failedWrite: 1, current: revision });
  }),

  scenario("a condition of one write refuses the whole transaction", async ({ store }) => {
    const key = keyOf("turn");
    const revision = await create(store, key, "1");
    const [a, b] = creates(["a", "b"]) as [Write, Write];
    const holds = { key, revision };
    const fails = { key: keyOf("b"), revision };
    await refusedAt(store, [a, { ...b, conditions: [holds, fails] }], { failedWrite: 1, failedCondition: 1 });
    // Conditions are about the state before the transaction.
    const absent = { key: keyOf("a"), revision: 0 as const };
    succeeded(await store.transact([a, { ...b, conditions: [holds, absent] }]));
    assert.equal(await store.count(prefix), 3);
  }),

  scenario(
    "a condition on a key that the transaction writes is about its value before",
    async ({ store }) => {
      const revision = await create(store, keyOf("a"), "1");
      const before = { key: keyOf("a"), revision };
      const { revision: at } = succeeded(
        await store.transact([
          { kind: "update", key: keyOf("a"), expected: revision, draft: draft("2") },
          { kind: "create", key: keyOf("b"), draft: draft("3"), conditions: [before] },
        ]),
      );
      assert.equal((await store.get(keyOf("b")))?.revision, at);
      await refusedAt(store, [{ kind: "delete", key: keyOf("b"), expected: at, conditions: [before] }], {
        failedWrite: 0,
        current: at,
        failedCondition: 0,
      });
    },
  ),

  scenario(
    "the events of a transaction arrive in one batch, before it is acknowledged",
    async ({ store }) => {
      const old = await create(store, keyOf("old"), "1");
      const batches: string[][] = [];
      const after = await store.latestRevision();
      const subscription = store.subscribe(
        { prefix: "/g/", after },
        {
          events: (batch) => {
            if (batch.length > 0) batches.push(batch.map(({ key, revision }) => `${key} ${revision}`));
          },
          ended: () => undefined,
        },
      );
      await subscription.sync();
      const { revision } = succeeded(
        await store.transact([
          ...creates(["a", "b"]),
          { kind: "delete", key: keyOf("old"), expected: old },
          { kind: "create", key: "/h/r/n/other", draft: draft("x") },
        ]),
      );
      const expected = ["a", "b", "old"].map((name) => `${keyOf(name)} ${revision}`);
      assert.deepEqual(
        batches.map((batch) => batch.toSorted()),
        [expected],
      );
      assert.equal(subscription.position, revision);
      subscription.close();
    },
  ),

  scenario(
    "a subscription to the past gets whole transactions with their previous values",
    async ({ store }) => {
      const after = await store.latestRevision();
      const length = Math.min(60, store.transactionLimits.writes);
      const names = Array.from({ length }, (_, n) => String(n).padStart(2, "0"));
      const first = succeeded(await store.transact(creates(names))).revision;
      const changes = names.map((name, n): Write => {
        const key = keyOf(name);
        return n % 3 === 0
          ? { kind: "delete", key, expected: first }
          : { kind: "update", key, expected: first, draft: draft(`${name}x`) };
      });
      const second = succeeded(await store.transact(changes)).revision;
      const whole = record(store, "/", after);
      await until(() => whole.recorder.upTo >= second, "the history is delivered");
      assert.deepEqual(whole.recorder.revisions, [...names.map(() => first), ...names.map(() => second)]);
      assert.deepEqual(
        whole.recorder.lines.toSorted(),
        [
          ...names.map((name) => `create ${keyOf(name)} ${name}`),
          ...names.map((name, n) =>
            n % 3 === 0 ? `delete ${keyOf(name)} ${name}` : `update ${keyOf(name)} ${name}x`,
          ),
        ].toSorted(),
      );
      const later = record(store, "/", first);
      await until(() => later.recorder.upTo >= second, "the rest is delivered");
      assert.equal(later.recorder.heard.length, names.length);
      for (const { subscription } of [whole, later]) subscription.close();
    },
  ),

  scenario(
    "a subscription that repeats the transaction at its start gets all events of it, then what follows",
    async ({ store, another }) => {
      const before = await store.latestRevision();
      const { revision } = succeeded(
        await store.transact([
          ...creates(["a", "b"]),
          { kind: "create", key: "/g/other/n/c", draft: draft("c") },
        ]),
      );
      const heardBy = async (from: Store, under: string, after: Revision, repeatsTransaction: boolean) => {
        const { recorder, subscription } = record(from, under, after, { repeatsTransaction });
        await subscription.sync();
        subscription.close();
        return recorder.heard.map(({ key, revision: at }) => `${key} ${at}`);
      };
      const all = ["a", "b"].map((name) => `${keyOf(name)} ${revision}`);
      assert.deepEqual((await heardBy(store, prefix, revision, true)).toSorted(), all);
      assert.deepEqual(await heardBy(store, prefix, revision, false), []);
      const single = await create(store, keyOf("single"), "1");
      const rest = `${keyOf("single")} ${single}`;
      // Another store of the data, and one that begins here, don't know the revision.
      for (const from of [store, ...(another === undefined ? [] : [await another()])]) {
        assert.deepEqual((await heardBy(from, prefix, revision, true)).toSorted(), [...all, rest].toSorted());
        assert.deepEqual(await heardBy(from, prefix, revision, false), [rest]);
        assert.deepEqual(
          (await heardBy(from, prefix, before, true)).slice(-3).toSorted(),
          [...all, rest].toSorted(),
        );
        const afterSingle = await heardBy(from, prefix, single, true);
        assert.ok(afterSingle.length === 0 || afterSingle[0] === rest, "a write alone may be repeated");
      }
    },
  ),

  scenario(
    "a subscription from the future may be to a transaction, and one whose transaction is gone begins after it",
    async ({ store, advance, now }) => {
      const after = ((await store.latestRevision()) + 1) as Revision;
      const ahead = record(store, prefix, after, { repeatsTransaction: true });
      const first = succeeded(await store.transact(creates(["a", "b"]))).revision;
      const second = await create(store, keyOf("c"), "1");
      await ahead.subscription.sync();
      const at = first >= after ? [first, first, second] : [second];
      assert.deepEqual(ahead.recorder.revisions, at);
      ahead.subscription.close();
      advance(60_000);
      const last = succeeded(await store.transact(creates(["d", "e"]))).revision;
      advance(60_000);
      const floor = await store.compact(now() - 30_000);
      assert.ok(floor >= last, `the floor is ${floor}`);
      const { recorder, subscription } = record(store, prefix, floor, { repeatsTransaction: true });
      const next = await create(store, keyOf("f"), "1");
      await subscription.sync();
      assert.deepEqual([recorder.revisions.at(-1), recorder.endings], [next, []]);
      subscription.close();
    },
  ),

  scenario("history is dropped by whole transactions", async ({ store, advance, now }) => {
    const first = succeeded(await store.transact(creates(["a", "b", "c"]))).revision;
    advance(60_000);
    const second = succeeded(
      await store.transact([
        { kind: "update", key: keyOf("a"), expected: first, draft: draft("2") },
        { kind: "delete", key: keyOf("b"), expected: first },
      ]),
    ).revision;
    advance(60_000);
    await update(store, keyOf("a"), second, "3");
    advance(60_000);
    const floor = await store.compact(now() - 90_000);
    assert.ok(floor >= second, `the floor is ${floor}`);
    assert.deepEqual(await store.check(), []);
    const { pairs } = await readAll(store, prefix);
    assert.deepEqual(pairs, [
      [keyOf("a"), "3"],
      [keyOf("c"), "c"],
    ]);
  }),

  scenario(
    "of concurrent transactions on the same keys one succeeds at a time",
    async ({ store, another }) => {
      const stores = another === undefined ? [store, store] : [store, await another()];
      const start = succeeded(await store.transact(creates(["a", "b"]))).revision;
      const attempts = Array.from({ length: 10 }, (_, n) =>
        stores[n % 2]!.transact(
          ["a", "b"].map((name): Write => ({
            kind: "update",
            key: keyOf(name),
            expected: start,
            draft: draft(`${n}`),
          })),
        ),
      );
      const results = await Promise.all(attempts);
      assert.equal(results.filter(({ ok }) => ok).length, 1);
      const { pairs } = await readAll(store, prefix);
      assert.equal(pairs[0]![1], pairs[1]![1], "half of a transaction");
      const [a, b] = [await store.get(keyOf("a")), await store.get(keyOf("b"))];
      assert.equal(a!.revision, b!.revision);
    },
  ),

  scenario("transactions beside single writes lose nothing", async ({ store }) => {
    const after = await store.latestRevision();
    const { recorder, subscription } = record(store, prefix, after);
    const singles = Array.from({ length: 30 }, (_, n) => create(store, keyOf(`single-${n}`), `${n}`));
    const pairs = Array.from({ length: 30 }, (_, n) => store.transact(creates([`a-${n}`, `b-${n}`])));
    await Promise.all(singles);
    for (const pair of pairs) succeeded(await pair);
    await subscription.sync();
    subscription.close();
    assert.equal(recorder.heard.length, 90);
    assert.equal(await store.count(prefix), 90);
    const revisions = new Map<string, Set<number>>();
    for (const { key, revision } of recorder.heard) {
      const [kind, n] = key.slice(prefix.length).split("-") as [string, string];
      if (kind !== "single") revisions.set(n, (revisions.get(n) ?? new Set()).add(revision));
    }
    for (const [n, at] of revisions)
      assert.equal(at.size, 1, `pair ${n} has revisions ${[...at].join(", ")}`);
  }),

  scenario(
    "what exceeds the limits is refused with the number before anything is done",
    async ({ store }) => {
      const { writes, bytes } = store.transactionLimits;
      const tooMany = Array.from({ length: writes + 1 }, (_, n) => String(n));
      const error = await rejectsWith(() => store.transact(creates(tooMany)), TransactionLimitError);
      assert.deepEqual([error.what, error.actual, error.limit], ["writes", writes + 1, writes]);
      assert.ok(
        error.message.startsWith(
          `a transaction of ${writes + 1} writes: the store accepts at most ${writes};`,
        ),
      );
      const large = {
        ...draft("x"),
        header: new Uint8Array(0),
        body: Buffer.alloc(Math.ceil(bytes / 5) + 1, 32),
      };
      const heavy = ["a", "b", "c", "d", "e"].map((name): Write => ({
        kind: "create",
        key: keyOf(name),
        draft: large,
      }));
      assert.equal((await rejectsWith(() => store.transact(heavy), TransactionLimitError)).what, "bytes");
      const [first] = creates(["a"]) as [Write];
      const condition = { key: keyOf("z"), revision: 0 as const };
      const guarded = { ...first, conditions: Array.from({ length: 2 * writes }, () => condition) };
      assert.equal(
        (await rejectsWith(() => store.transact([guarded]), TransactionLimitError)).what,
        "conditions",
      );
      succeeded(await store.transact(creates(tooMany.slice(1))));
      assert.equal(await store.count(prefix), writes);
    },
  ),

  scenario(
    "a transaction without writes, with an invalid key or two writes of a key is a bug",
    async ({ store }) => {
      const [a] = creates(["a"]) as [Write];
      for (const writes of [[], [a, a], [{ ...a, key: "g" }]])
        await rejectsWith(() => store.transact(writes), TypeError);
      assert.equal(await store.count("/"), 0);
    },
  ),
];
