import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { open as openEnvironment } from "lmdb";
import { create, draft, record, textOf, until } from "../../src/storage/conformance/support.ts";
import { discardUnreadable } from "../../src/storage/discard.ts";
import { EncryptedStore } from "../../src/storage/encryption/encrypted-store.ts";
import { aesGcm } from "../../src/storage/encryption/local-ciphers.ts";
import { EncryptedValueError, type ValueCipher } from "../../src/storage/encryption/value-cipher.ts";
import { serveCommits } from "../../src/storage/lmdb/committer/service.ts";
import { openLmdbStore } from "../../src/storage/lmdb/lmdb-store.ts";
import { createMemoryStore } from "../../src/storage/memory/memory-store.ts";
import { RevisionCompactedError, StoreValueError, type Store } from "../../src/storage/store.ts";
import { ManualClock, temporaryFolder } from "./support.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

function folder(): string {
  const { path, remove } = temporaryFolder();
  cleanups.push(remove);
  return path;
}

function opened<S extends Store>(store: S): S {
  cleanups.push(() => store.close());
  return store;
}

/** Replaces the record of a key in a closed store. */
async function damage(dir: string, key: string, change: (record: Buffer) => Buffer): Promise<void> {
  const root = openEnvironment({
    path: join(dir, "data.mdb"),
    noSubdir: true,
    maxDbs: 12,
    encoding: "binary",
  });
  const data = root.openDB<Buffer, Buffer>({ name: "data", encoding: "binary", keyEncoding: "binary" });
  await data.put(Buffer.from(key), change(Buffer.from(data.get(Buffer.from(key))!)));
  await root.close();
}

const flipLast = (record: Buffer): Buffer => {
  record[record.length - 6]! ^= 1;
  return record;
};

/** Creates a folder with `/g/r/n/a`, `b` and `c`, in which the record of `b` is damaged. */
async function damagedFolder(change: (record: Buffer) => Buffer): Promise<string> {
  const dir = folder();
  const store = openLmdbStore({ dir, clock: new ManualClock() });
  for (const name of ["a", "b", "c"]) await create(store, `/g/r/n/${name}`, name);
  await store.close();
  await damage(dir, "/g/r/n/b", change);
  return dir;
}

const keysOf = async (store: Store) => (await store.range({ prefix: "/g/r/" })).entries.map(({ key }) => key);

it.each([
  ["a checksum that differs", flipLast],
  ["a record that is cut off", () => Buffer.from("short")],
])("an embedded store removes a value with %s, and its subscriptions end", async (_name, change) => {
  const dir = await damagedFolder(change);
  const store = opened(openLmdbStore({ dir, clock: new ManualClock() }));
  const other = opened(openLmdbStore({ dir, clock: new ManualClock() }));
  const before = store.latestRevision() as number;
  const { recorder } = record(store, "/g/r/", await store.latestRevision());
  const { recorder: elsewhere, subscription } = record(other, "/g/r/", await other.latestRevision());
  expect(() => store.get("/g/r/n/b")).toThrow(StoreValueError);
  expect(await store.discard!("/g/r/n/b", true)).toBe("discarded");
  expect(() => store.get("/g/r/n/b")).toThrow(StoreValueError);
  expect(await store.discard!("/g/r/n/a", false)).toBe("readable");
  expect(await store.discard!("/g/r/n/none", false)).toBe("absent");
  expect(recorder.endings).toEqual([]);

  expect(await store.discard!("/g/r/n/b", false)).toBe("discarded");
  expect(store.latestRevision()).toBe(before + 1);
  expect(recorder.endings).toEqual([expect.any(RevisionCompactedError)]);
  await Promise.resolve(subscription.sync()).catch(() => undefined);
  await until(() => elsewhere.endings.length === 1, "the subscription of the other store ends");
  expect(await keysOf(store)).toEqual(["/g/r/n/a", "/g/r/n/c"]);
  expect(await store.count("/g/r/n/")).toBe(2);
  expect(await store.discard!("/g/r/n/b", false)).toBe("absent");
  await create(store, "/g/r/n/b", "again");
  expect(textOf((await other.get("/g/r/n/b"))!)).toBe("again");
  expect(await store.check()).toEqual([]);
});

it("a discarded value and other writes of a batch have revisions of their own", async () => {
  const dir = await damagedFolder(flipLast);
  const store = opened(openLmdbStore({ dir, clock: new ManualClock() }));
  const results = await Promise.all([
    store.commit({ kind: "create", key: "/g/r/n/d", draft: draft("d") }),
    store.discard!("/g/r/n/b", false),
    store.discard!("/g/r/n/b", false),
    store.commit({ kind: "create", key: "/g/r/n/e", draft: draft("e") }),
  ]);
  expect(results.map((one) => (typeof one === "string" ? one : one.ok && one.revision))).toEqual([
    5,
    "discarded",
    "absent",
    7,
  ]);
  expect(await keysOf(store)).toEqual(["/g/r/n/a", "/g/r/n/c", "/g/r/n/d", "/g/r/n/e"]);
  expect(await store.check()).toEqual([]);
});

it("a store object with a committer removes a damaged value through it", async () => {
  const dir = await damagedFolder(flipLast);
  const clock = new ManualClock();
  const path = join(folder(), "commits");
  const own = opened(openLmdbStore({ dir, clock }));
  const failures: unknown[] = [];
  const service = await serveCommits(own, path, (error) => failures.push(error));
  cleanups.push(() => service.close());
  const store = opened(openLmdbStore({ dir, clock, committer: path, writeTimeoutMs: 5000 }));
  const { recorder } = record(store, "/g/r/", await store.latestRevision());
  expect(await store.discard!("/g/r/n/b", false)).toBe("discarded");
  await until(() => recorder.endings.length === 1, "the subscription ends");
  expect(await keysOf(store)).toEqual(["/g/r/n/a", "/g/r/n/c"]);
  expect(await create(store, "/g/r/n/b", "again")).toBe(6);
});

const only = (writer: ValueCipher) => () => ({ writer, readers: [writer], readsPlain: false });

it.each([
  ["memory", () => createMemoryStore({ clock: new ManualClock() })],
  ["embedded", () => openLmdbStore({ dir: folder(), clock: new ManualClock() })],
])("an encrypted store removes a value whose key is gone (%s)", async (_name, open) => {
  const inner = opened(open());
  const before = new EncryptedStore(inner, only(aesGcm("aesgcm:v1:lost", randomBytes(32))));
  await create(before, "/g/r/n/a", "a");
  const store = new EncryptedStore(inner, only(aesGcm("aesgcm:v1:new", randomBytes(32))));
  const b = await create(store, "/g/r/n/b", "b");
  const { recorder } = record(store, "/g/r/", b);
  await expect((async () => store.get("/g/r/n/a"))()).rejects.toThrow(EncryptedValueError);
  expect(await store.discard("/g/r/n/a", true)).toBe("discarded");
  expect(await store.discard("/g/r/n/b", false)).toBe("readable");
  expect(await store.discard("/g/r/n/a", false)).toBe("discarded");
  expect(await store.discard("/g/r/n/a", false)).toBe("absent");
  expect(recorder.endings).toEqual([expect.any(EncryptedValueError)]);
  expect(await keysOf(store)).toEqual(["/g/r/n/b"]);
});

it("an encrypted store removes a damaged value of the store below it", async () => {
  const dir = folder();
  const cipher = aesGcm("aesgcm:v1:key", randomBytes(32));
  const first = new EncryptedStore(openLmdbStore({ dir, clock: new ManualClock() }), only(cipher));
  await create(first, "/g/r/n/b", "b");
  await first.close();
  await damage(dir, "/g/r/n/b", flipLast);
  const store = opened(new EncryptedStore(openLmdbStore({ dir, clock: new ManualClock() }), only(cipher)));
  expect(await store.discard("/g/r/n/b", false)).toBe("discarded");
  expect(await keysOf(store)).toEqual([]);
});

it("a store without the operation keeps its values", async () => {
  const inner = opened(createMemoryStore({ clock: new ManualClock() }));
  await create(inner, "/g/r/n/a", "a");
  expect(await discardUnreadable(inner, "/g/r/n/a", false)).toBe("readable");
  expect(await discardUnreadable(inner, "/g/r/n/b", false)).toBe("absent");
});
