import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { create, draft, textOf, update } from "../../src/storage/conformance/support.ts";
import { aesCbc, aesGcm, secretBox } from "../../src/storage/encryption/local-ciphers.ts";
import { EncryptedStore } from "../../src/storage/encryption/encrypted-store.ts";
import {
  EncryptionError,
  type CiphersOf,
  type ValueCipher,
} from "../../src/storage/encryption/value-cipher.ts";
import { openLmdbStore } from "../../src/storage/lmdb/lmdb-store.ts";
import { createMemoryStore } from "../../src/storage/memory/memory-store.ts";
import type { Listener, Store, StoreEvent, Write } from "../../src/storage/store.ts";
import { effort } from "../support/effort.ts";
import { describeModel } from "./model.ts";
import { describeConformance, inFolder, ManualClock, temporaryFolder } from "./support.ts";

const gcm = aesGcm("aesgcm:v1:key1", randomBytes(32));
const older = aesGcm("aesgcm:v1:key0", randomBytes(32));
const only = (writer: ValueCipher, ...others: ValueCipher[]): CiphersOf => {
  return () => ({ writer, readers: [writer, ...others], readsPlain: false });
};

/** A cipher whose every answer takes a turn of the event loop, as that of a service. */
function slow(cipher: ValueCipher): ValueCipher {
  const later = async <T>(value: T): Promise<T> => {
    await new Promise((resolve) => setImmediate(resolve));
    return value;
  };
  return {
    label: cipher.label,
    encrypt: async (plain, context) => later(await cipher.encrypt(plain, context)),
    decrypt: async (sealed, context) => later(await cipher.decrypt(sealed, context)),
  };
}

const openEmbedded = (ciphersOf: CiphersOf) =>
  inFolder((options) => new EncryptedStore(openLmdbStore(options), ciphersOf));

describeConformance("encrypted, embedded", openEmbedded(only(gcm)));
if (effort(false, true))
  describeConformance("encrypted by a service, embedded", openEmbedded(only(slow(gcm))));
describeModel("encrypted by a service, embedded", openEmbedded(only(slow(gcm))), { runs: effort(8, 20) });

/** Text of the values of these tests. */
const marker = "MARKER-in-plain-text";

describe("an encrypted store", () => {
  it("has no plain text of a value on disk, neither in values nor in history", async () => {
    const clock = new ManualClock();
    const folder = temporaryFolder();
    const inner = openLmdbStore({ dir: folder.path, clock });
    const store = new EncryptedStore(inner, only(gcm));
    const first = await create(store, "/g/r/n/a", `${marker}-1`);
    await update(store, "/g/r/n/a", first, `${marker}-2`);
    await inner.close();
    const bytes = readdirSync(folder.path).map((name) => readFileSync(join(folder.path, name)));
    expect(bytes.some((file) => file.includes("/g/r/n/a"))).toBe(true);
    expect(bytes.some((file) => file.includes("enc:aesgcm:v1:key1"))).toBe(true);
    expect(bytes.some((file) => file.includes(marker))).toBe(false);
    folder.remove();
  });

  it("reads values of each provider and marks those that another one wrote as outdated", async () => {
    const inner = createMemoryStore({ clock: new ManualClock() });
    await create(inner, "/g/r/n/plain", "1");
    await create(new EncryptedStore(inner, only(older)), "/g/r/n/old", "2");
    const readAll: CiphersOf = () => ({ writer: gcm, readers: [gcm, older], readsPlain: true });
    const store = new EncryptedStore(inner, readAll);
    await create(store, "/g/r/n/new", "3");
    const { entries } = await store.range({ prefix: "/g/r/" });
    expect(entries.map(({ key, outdated = false }) => [key, outdated])).toEqual([
      ["/g/r/n/new", false],
      ["/g/r/n/old", true],
      ["/g/r/n/plain", true],
    ]);
    store.use(() => ({ writer: older, readers: [gcm, older], readsPlain: true }));
    const rotated = (await store.range({ prefix: "/g/r/" })).entries;
    expect(rotated.map(({ outdated = false }) => outdated)).toEqual([true, false, true]);
  });

  it("rejects reads of a value without its key, of plain text without identity, and of a value of another key", async () => {
    const inner = createMemoryStore({ clock: new ManualClock() });
    const store = new EncryptedStore(inner, only(gcm));
    await create(store, "/g/r/n/a", "1");
    const sealed = (await inner.get("/g/r/n/a"))!;
    const body = sealed.body.subarray(String(sealed.revision).length);
    const moved = { header: sealed.header, body, revisionAt: 0 };
    await inner.commit({ kind: "create", key: "/g/r/n/moved", draft: moved });
    await create(inner, "/g/r/n/plain", "2");
    const message = async (reader: Store, key: string): Promise<string> => {
      try {
        await reader.get(key);
        return "no error";
      } catch (error) {
        expect(error).toBeInstanceOf(EncryptionError);
        return (error as Error).message;
      }
    };
    expect(await message(new EncryptedStore(inner, only(older)), "/g/r/n/a")).toBe(
      'the stored value of /g/r/n/a can\'t be decrypted: no provider of its resource has the key "aesgcm:v1:key1"',
    );
    expect(await message(store, "/g/r/n/plain")).toContain("it is not encrypted");
    expect(await message(store, "/g/r/n/moved")).toContain("damaged, or was encrypted with another key");
    expect(await store.check()).toHaveLength(2);
  });

  it("ends a subscription with an error if an event can't be decrypted", async () => {
    const inner = createMemoryStore({ clock: new ManualClock() });
    const reader = new EncryptedStore(inner, only(older));
    const ends: Error[] = [];
    reader.subscribe(
      { prefix: "/g/r/", after: await inner.latestRevision() },
      { events: () => undefined, ended: (error) => ends.push(error) },
    );
    await create(new EncryptedStore(inner, only(gcm)), "/g/r/n/a", "1");
    expect(ends).toHaveLength(1);
    expect(ends[0]).toBeInstanceOf(EncryptionError);
  });

  it("delivers the same event to every subscription", async () => {
    const inner = createMemoryStore({ clock: new ManualClock() });
    const store = new EncryptedStore(inner, only(gcm));
    const after = await inner.latestRevision();
    const received: StoreEvent[] = [];
    const listener: Listener = { events: (batch) => received.push(...batch), ended: () => undefined };
    for (const prefix of ["/g/r/", "/g/"]) store.subscribe({ prefix, after }, listener);
    await create(store, "/g/r/n/a", "1");
    expect(received).toHaveLength(2);
    expect(received[0]).toBe(received[1]);
    expect(textOf(received[0]!.entry)).toBe("1");
  });

  it("keeps the decrypted form of the newest events, and decrypts earlier ones again", async () => {
    let decryptions = 0;
    const counting: ValueCipher = {
      ...gcm,
      decrypt: (sealed, context) => (decryptions++, gcm.decrypt(sealed, context)),
    };
    const store = new EncryptedStore(createMemoryStore({ clock: new ManualClock() }), only(counting));
    const after = await store.latestRevision();
    const text = "x".repeat(20_000);
    const writeTwice = async (key: string): Promise<void> => {
      const first = await create(store, key, text);
      await update(store, key, first, `${text}2`);
    };
    const listener: Listener = { events: () => undefined, ended: () => undefined };
    const decryptionsOfHistory = async (): Promise<number> => {
      decryptions = 0;
      await store.subscribe({ prefix: "/g/r/n/", after }, listener).sync();
      return decryptions;
    };
    // 3 MB of events, of which the first ones of each key aren't in the cache of values.
    for (let index = 0; index < 50; index++) await writeTwice(`/g/r/n/${index}`);
    expect(await decryptionsOfHistory()).toBe(50);
    expect(await decryptionsOfHistory()).toBe(0);
    await store.subscribe({ prefix: "/g/r/m/", after }, listener).sync();
    for (let index = 0; index < 100; index++) await writeTwice(`/g/r/m/${index}`);
    expect(await decryptionsOfHistory()).toBe(50);
  });

  it("marks a value as outdated that was encrypted before a change of the keys and committed after it", async () => {
    const inner = createMemoryStore({ clock: new ManualClock() });
    let store: EncryptedStore;
    const changing: Store = Object.assign(Object.create(inner) as Store, {
      commit: (write: Write) => {
        if (write.key === "/g/r/n/a") store.use(only(gcm, older));
        return inner.commit(write);
      },
    });
    store = new EncryptedStore(changing, only(older));
    const after = await inner.latestRevision();
    const listener: Listener = { events: () => undefined, ended: () => undefined };
    store.subscribe({ prefix: "/g/r/", after }, listener);
    await create(store, "/g/r/n/a", "1");
    expect(await store.get("/g/r/n/a")).toMatchObject({ outdated: true });
    await create(store, "/g/r/n/b", "2");
    expect((await store.get("/g/r/n/b"))?.outdated).toBeUndefined();
  });
});

test.each([
  ["aesgcm with 16 bytes", () => aesGcm("a", randomBytes(16))],
  ["aesgcm with 32 bytes", () => aesGcm("a", randomBytes(32))],
  ["aescbc with 16 bytes", () => aesCbc("a", randomBytes(16))],
  ["aescbc with 24 bytes", () => aesCbc("a", randomBytes(24))],
  ["aescbc with 32 bytes", () => aesCbc("a", randomBytes(32))],
  ["secretbox", () => secretBox("a", randomBytes(32))],
])("%s decrypts what it encrypts, and no damaged value", async (name, make) => {
  const cipher = await make();
  const plain = Buffer.from(draft(marker).body);
  const sealed = await cipher.encrypt(plain, "/g/r/n/a");
  expect(sealed.includes(marker)).toBe(false);
  expect(await cipher.encrypt(plain, "/g/r/n/a")).not.toEqual(sealed);
  expect(await cipher.decrypt(sealed, "/g/r/n/a")).toEqual(plain);
  expect(() => cipher.decrypt(sealed.subarray(0, 20), "/g/r/n/a")).toThrow(EncryptionError);
  if (name.startsWith("aescbc")) return;
  const changed = Buffer.from(sealed);
  changed[changed.length - 20]! ^= 1;
  expect(() => cipher.decrypt(changed, "/g/r/n/a")).toThrow(EncryptionError);
});
