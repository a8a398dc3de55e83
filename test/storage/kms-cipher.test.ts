import path from "node:path";
import { status } from "@grpc/grpc-js";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { silentLogger } from "../../src/base/logger.ts";
import { EncryptedStore } from "../../src/storage/encryption/encrypted-store.ts";
import { KmsCipher } from "../../src/storage/encryption/kms/kms-cipher.ts";
import { kmsClient } from "../../src/storage/encryption/kms/kms-client.ts";
import {
  EncryptionError,
  KeyServiceError,
  type CiphersOf,
} from "../../src/storage/encryption/value-cipher.ts";
import { openLmdbStore } from "../../src/storage/lmdb/lmdb-store.ts";
import { KmsPlugin, message } from "../support/kms-plugin.ts";
import { effort } from "../support/effort.ts";
import { describeConformance, inFolder, ManualClock, temporaryFolder } from "./support.ts";

const folder = temporaryFolder();
const socket = path.join(folder.path, "kms.sock");
const key = "/core/secrets/default/a";
const plain = Buffer.from("plain text");
let plugin: KmsPlugin;
let clock: ManualClock;
let rotations = 0;
const opened: KmsCipher[] = [];

beforeAll(async () => {
  plugin = await KmsPlugin.start(socket);
});
beforeEach(() => {
  clock = new ManualClock();
  rotations = 0;
});
afterEach(async () => {
  for (const cipher of opened.splice(0)) await cipher.close();
  plugin.stop();
  plugin = await KmsPlugin.start(socket);
});
afterAll(() => {
  plugin.stop();
  folder.remove();
});

interface CipherOptions {
  readonly at?: string;
  readonly timeoutMs?: number;
}

function newCipher({ at = socket, timeoutMs = 5000 }: CipherOptions = {}): KmsCipher {
  const client = kmsClient({ socket: at, timeoutMs });
  const rotated = () => rotations++;
  return new KmsCipher({ name: "test", client, clock, log: silentLogger, rotated });
}

async function started(options?: CipherOptions): Promise<KmsCipher> {
  const cipher = newCipher(options);
  opened.push(cipher);
  await cipher.start();
  return cipher;
}

/** Advances the time by the period of polls, and waits for one. */
async function poll(cipher: KmsCipher, ms = 60_000): Promise<EncryptionError | undefined> {
  clock.advance(ms);
  return cipher.problem();
}

async function errorOf(work: () => unknown): Promise<EncryptionError> {
  try {
    await work();
  } catch (error) {
    expect(error).toBeInstanceOf(EncryptionError);
    return error as EncryptionError;
  }
  throw new Error("no error");
}

if (effort(false, true))
  describe("the store with keys of a service", () => {
    const ciphers: KmsCipher[] = [];
    let next = 0;
    beforeAll(async () => {
      const service = await KmsPlugin.start(path.join(folder.path, "conformance.sock"));
      clock = new ManualClock();
      for (let index = 0; index < 2; index++) {
        const cipher = newCipher({ at: service.socket });
        await cipher.start();
        ciphers.push(cipher);
      }
      return async () => {
        for (const cipher of ciphers) await cipher.close();
        service.stop();
      };
    });
    // Stores over one folder encrypt with different seeds.
    const open = inFolder((options) => {
      const writer = ciphers[next++ % ciphers.length]!;
      const ciphersOf: CiphersOf = () => ({ writer, readers: [writer], readsPlain: false });
      return new EncryptedStore(openLmdbStore(options), ciphersOf);
    });
    describeConformance("encrypted by a key management service, embedded", open);
  });

test("values of each cipher are decrypted by others, with one call for a seed", async () => {
  const writer = await started();
  const sealed = await writer.encrypt(plain, key);
  expect(sealed.includes(plain)).toBe(false);
  expect(await writer.decrypt(sealed, key)).toEqual(plain);
  const reader = await started();
  const reads = await Promise.all([reader.decrypt(sealed, key), reader.decrypt(sealed, key)]);
  expect(reads).toEqual([plain, plain]);
  expect(await reader.decrypt(sealed, key)).toEqual(plain);
  expect(plugin.count("Decrypt")).toBe(1);
  expect([writer.isOutdated(sealed), reader.isOutdated(sealed)]).toEqual([false, false]);
  expect(reader.label).toBe("kms:v2:test");
  const moved = await errorOf(() => reader.decrypt(sealed, "/core/secrets/default/b"));
  expect(moved).not.toBeInstanceOf(KeyServiceError);
});

test("a new key of the service encrypts new values, and makes the others outdated", async () => {
  const cipher = await started();
  const before = await cipher.encrypt(plain, key);
  plugin.keyId = "key-2";
  expect(await poll(cipher)).toBeUndefined();
  expect(rotations).toBe(1);
  expect(cipher.isOutdated(before)).toBe(true);
  const after = await cipher.encrypt(plain, key);
  expect(cipher.isOutdated(after)).toBe(false);
  expect(await cipher.decrypt(before, key)).toEqual(plain);
  expect(plugin.count("Decrypt")).toBe(0);
  // The status of a key that the service doesn't encrypt with yet keeps the previous one.
  plugin.replace = (method, answer) => (method === "Status" ? statusOf({ keyId: "key-3" }) : answer);
  expect((await poll(cipher))?.message).toContain("another key than that of its status");
  expect(cipher.isOutdated(await cipher.encrypt(plain, key))).toBe(false);
});

test("values are written for three minutes after the last successful status, and again when the service is back", async () => {
  const cipher = await started();
  const foreign = await (await started()).encrypt(plain, key);
  plugin.stop();
  expect((await poll(cipher, 60_000))?.message).toMatch(/^Status failed with status 14: /);
  const sealed = await cipher.encrypt(plain, key);
  expect(await errorOf(() => cipher.decrypt(foreign, key))).toBeInstanceOf(KeyServiceError);
  await poll(cipher, 121_000);
  const refused = await errorOf(() => cipher.encrypt(plain, key));
  expect(refused).toBeInstanceOf(KeyServiceError);
  expect(refused.message).toBe("the key management service test can't be used at present");
  // The seed stays in memory.
  expect(await cipher.decrypt(sealed, key)).toEqual(plain);
  await plugin.listen();
  await expect.poll(async () => (await poll(cipher, 10_000))?.message).toBeUndefined();
  expect(await cipher.decrypt(foreign, key)).toEqual(plain);
  expect(await cipher.decrypt(await cipher.encrypt(plain, key), key)).toEqual(plain);
});

test("calls end at the timeout, or when the cipher is closed", async () => {
  plugin.replace = (method, answer) => (method === "Decrypt" ? undefined : answer);
  const sealed = await (await started()).encrypt(plain, key);
  // The start calls the service too, and must end in this time on a busy machine.
  const late = await errorOf(async () => (await started({ timeoutMs: 500 })).decrypt(sealed, key));
  expect(late).toBeInstanceOf(KeyServiceError);
  expect(late.message).toMatch(/Decrypt failed with status 4: .*Deadline exceeded/);
  const closing = await started({ timeoutMs: 60_000 });
  plugin.calls.length = 0;
  plugin.replace = () => undefined;
  const pending = errorOf(() => closing.decrypt(sealed, key));
  clock.advance(60_000);
  await expect.poll(() => [plugin.count("Decrypt"), plugin.count("Status")]).toEqual([1, opened.length]);
  await closing.close();
  expect(await pending).toBeInstanceOf(KeyServiceError);
  expect(await errorOf(() => closing.decrypt(Buffer.concat([sealed]), key))).toBeInstanceOf(KeyServiceError);
});

test("a service whose status is unusable is refused at the start", async () => {
  const messageOf = async (change: Partial<KmsPlugin>): Promise<string> => {
    Object.assign(plugin, { keyId: "key-1", healthz: "ok", version: "v2" }, change);
    return (await errorOf(() => started())).message;
  };
  expect(await messageOf({ healthz: "no quota" })).toBe('the status of the service is "no quota", not "ok"');
  expect(await messageOf({ version: "v1" })).toBe(
    'the service has version "v1"; the supported versions are v2 and v2beta1',
  );
  expect(await messageOf({ keyId: "" })).toBe("the key id of the service is empty");
  expect(await messageOf({ keyId: "k".repeat(1025) })).toBe(
    "the key id of the service has 1025 bytes; at most 1024 are allowed",
  );
  plugin.version = "v2beta1";
  plugin.keyId = "k".repeat(1024);
  const cipher = await started();
  plugin.version = "v2";
  expect((await poll(cipher))?.message).toBe("the service changed its version from v2beta1 to v2");
});

const statusOf = ({ keyId = "key-1" }) =>
  message((writer) => {
    for (const [index, text] of ["v2", "ok", keyId].entries()) writer.tag(index + 1, 2).string(text);
  });

/** An answer to Encrypt with these bytes as ciphertext and annotations. */
const encryptAnswer = (ciphertext: Uint8Array, annotations: readonly (readonly [string, string])[] = []) =>
  message((writer) => {
    writer.tag(1, 2).bytes(ciphertext);
    writer.tag(2, 2).string("key-1");
    for (const [name, value] of annotations) {
      writer.tag(3, 2).fork();
      writer.tag(1, 2).string(name);
      writer.tag(2, 2).string(value);
      writer.join();
    }
  });

test.each([
  ["Status", "garbage", Buffer.from("ffffffffff", "hex"), "not a message of the key management service"],
  ["Status", "invalid UTF-8", Buffer.from("0a02fffe", "hex"), "not a message of the key management service"],
  ["Status", "an answer of 5 MB", Buffer.alloc(5_000_000), "Status failed with status 8"],
  ["Encrypt", "no ciphertext", encryptAnswer(Buffer.alloc(0)), "the ciphertext of the service is empty"],
  ["Encrypt", "a large ciphertext", encryptAnswer(Buffer.alloc(1025)), "has 1025 bytes; at most 1024"],
  [
    "Encrypt",
    "large annotations",
    encryptAnswer(Buffer.alloc(10), [["a.example.com", "x".repeat(32_768)]]),
    "the annotations of the service have 32781 bytes; at most 32768 are allowed",
  ],
  [
    "Encrypt",
    "an annotation without a domain",
    encryptAnswer(Buffer.alloc(10), [["__proto__", "x"]]),
    'the service has an annotation "__proto__"',
  ],
  ["Encrypt", "garbage", Buffer.from("1a050a0a6162", "hex"), "not a message of the key management service"],
] as const)("an answer to %s is refused with %s", async (method, _, answer, expected) => {
  plugin.replace = (called, normal) => (called === method ? answer : normal);
  expect((await errorOf(() => started())).message).toContain(expected);
});

test.each([
  ["an answer without a seed", Buffer.alloc(0), "the decrypted seed has 0 bytes instead of 32", false],
  ["a long seed", message((writer) => writer.tag(1, 2).bytes(Buffer.alloc(33))), "33 bytes", false],
  ["another seed", message((writer) => writer.tag(1, 2).bytes(Buffer.alloc(32))), "damaged", false],
  ["garbage", Buffer.from("0aff", "hex"), "not a message of the key management service", false],
  ["a refusal", { code: status.INVALID_ARGUMENT, details: "d".repeat(5000) }, "with status 3", false],
  ["a failure", { code: status.INTERNAL, details: "no network" }, 'status 13: "no network"', true],
] as const)("a value can't be read after %s", async (_, answer, expected, isTemporary) => {
  const sealed = await (await started()).encrypt(plain, key);
  plugin.replace = (called, normal) => (called === "Decrypt" ? answer : normal);
  const cipher = await started();
  const error = await errorOf(() => cipher.decrypt(sealed, key));
  expect(error.message).toContain(expected);
  expect(error.message.length).toBeLessThan(500);
  expect(error instanceof KeyServiceError).toBe(isTemporary);
  expect(await errorOf(() => cipher.decrypt(sealed.subarray(0, 60), key))).not.toBeInstanceOf(
    KeyServiceError,
  );
});
