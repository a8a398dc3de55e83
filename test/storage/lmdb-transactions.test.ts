import { afterEach, beforeEach, expect, test } from "vitest";
import { create, draft, remove } from "../../src/storage/conformance/support.ts";
import {
  acquireEnvironment,
  defaultMapBytes,
  releaseEnvironment,
} from "../../src/storage/lmdb/environment.ts";
import type { Environment } from "../../src/storage/lmdb/databases.ts";
import { openLmdbStore } from "../../src/storage/lmdb/lmdb-store.ts";
import { revisionOf } from "../../src/storage/entry.ts";
import type { Revision, Write } from "../../src/storage/store.ts";
import { ManualClock, temporaryFolder } from "./support.ts";

const keyOf = (name: string) => `/g/r/n/${name}`;
const creates = (...names: string[]) =>
  names.map((name): Write => ({ kind: "create", key: keyOf(name), draft: draft(name) }));
const updates = (expected: Revision, ...names: string[]) =>
  names.map((name): Write => ({ kind: "update", key: keyOf(name), expected, draft: draft(`${name}2`) }));

let folder: ReturnType<typeof temporaryFolder>;
let clock: ManualClock;
beforeEach(() => {
  folder = temporaryFolder();
  clock = new ManualClock();
});
afterEach(() => folder.remove());

const open = (deferred = false) =>
  openLmdbStore({
    dir: folder.path,
    clock,
    deferredSyncMs: deferred ? new Map([["/g/r/", 60_000]]) : undefined,
  });

/** The format of the folder while it is open. */
async function inside<T>(read: (environment: Environment) => T): Promise<T> {
  const environment = acquireEnvironment(folder.path, defaultMapBytes);
  try {
    environment.root.resetReadTxn();
    return read(environment);
  } finally {
    await releaseEnvironment(environment);
  }
}
const format = () => inside(({ meta }) => meta.getBinary("state")![0]);

test("a folder without transactions has the format that earlier programs read, and so has one whose log has none any more", async () => {
  const store = open();
  const [single] = creates("single") as [Write];
  await store.transact([single]);
  expect(await format()).toBe(2);
  await store.transact(creates("a", "b"));
  expect(await format()).toBe(4);
  await create(store, keyOf("c"), "c");
  expect(await format()).toBe(4);
  clock.advance(60_000);
  await store.compact(clock.now());
  expect(await format()).toBe(2);
  expect(await store.check()).toEqual([]);
  expect(await inside(({ history }) => [...history.getKeys({ start: ["/", revisionOf(0)] })])).toEqual([]);
  await store.close();
});

test("transactions whose syncs are deferred have a format of their own until the store is closed", async () => {
  const store = open(true);
  await store.transact(creates("a", "b"));
  expect(await format()).toBe(5);
  expect(store.usage().unsyncedMs).toBeTypeOf("number");
  await store.close();
  expect(await format()).toBe(4);
  const again = open();
  expect(await again.count("/g/r/n/")).toBe(2);
  expect(await again.check()).toEqual([]);
  await again.close();
});

test("transactions persist across a restart with the values that they superseded", async () => {
  const store = open();
  const first = await store.transact(creates("a", "b", "c"));
  if (!first.ok) throw new Error("not created");
  const second = await store.transact(updates(first.revision, "a", "b"));
  if (!second.ok) throw new Error("not updated");
  await remove(store, keyOf("c"), first.revision);
  await store.close();
  const again = open();
  for (const name of ["a", "b", "c"])
    expect((await again.get(keyOf(name), first.revision))?.revision).toBe(first.revision);
  expect((await again.get(keyOf("a")))?.revision).toBe(second.revision);
  expect(await again.check()).toEqual([]);
  await again.close();
});

test("a check finds a change of a transaction that the index has lost, and one that is damaged", async () => {
  const store = open();
  const first = await store.transact(creates("a", "b"));
  if (!first.ok) throw new Error("not created");
  const second = await store.transact(updates(first.revision, "a", "b"));
  if (!second.ok) throw new Error("not updated");
  expect(await store.check()).toEqual([]);
  const logged = await inside(({ root, history }) =>
    root.transactionSync(() => {
      const entry = history.getBinary([keyOf("a"), second.revision])!;
      history.removeSync([keyOf("a"), second.revision]);
      return entry;
    }),
  );
  expect((await store.check()).join("\n")).toContain(
    `the change of ${keyOf("a")} at ${second.revision} isn't in the index`,
  );
  const damaged = Buffer.from(logged);
  damaged[damaged.length - 8]! ^= 1;
  await inside(({ root, history }) =>
    root.transactionSync(() => history.putSync([keyOf("a"), second.revision], damaged)),
  );
  expect((await store.check()).join("\n")).toContain(`superseded at ${second.revision} is damaged`);
  await store.close();
});

test("a read of the past of one key doesn't read the other changes of a large transaction", async () => {
  const store = open();
  const names = Array.from({ length: 512 }, (_, n) => `name-${n}`);
  const first = await store.transact(creates(...names));
  if (!first.ok) throw new Error("not created");
  await store.transact(updates(first.revision, ...names));
  const started = performance.now();
  const { entries } = await store.range({ prefix: "/g/r/n/", at: first.revision });
  expect(entries).toHaveLength(512);
  expect(entries.every(({ revision }) => revision === first.revision)).toBe(true);
  // Some 10 ms; 512 times the reading of all would be seconds.
  expect(performance.now() - started).toBeLessThan(1000);
  await store.close();
});
