import path from "node:path";
import { afterAll, beforeAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/base/time/clock.ts";
import { createServer } from "../../src/index.ts";
import { OptionsError } from "../../src/server/options/options-error.ts";
import type { StorageOptions } from "../../src/server/options/option-types.ts";
import {
  acquireEnvironment,
  defaultMapBytes,
  releaseEnvironment,
} from "../../src/storage/lmdb/environment.ts";
import { stampIn } from "../../src/storage/lmdb/stamp.ts";
import { openLmdbStore } from "../../src/storage/lmdb/lmdb-store.ts";
import { EtcdServer, etcdMissing } from "../storage/etcd-server.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { plinthHere } from "../support/program-here.ts";

type VocabularyName = "platform" | "kubernetes";

async function serveOnce(storage: StorageOptions, vocabulary: VocabularyName): Promise<void> {
  await (await createServer({ storage, vocabulary, port: false })).close();
}

async function messageOfRefusal(storage: StorageOptions, vocabulary: VocabularyName): Promise<string> {
  const error: unknown = await serveOnce(storage, vocabulary).then(
    () => undefined,
    (refusal: unknown) => refusal,
  );
  expect(error).toBeInstanceOf(OptionsError);
  return (error as Error).message;
}

describe("a data folder belongs to one vocabulary", () => {
  let folder: ReturnType<typeof temporaryFolder>;
  let dir: string;
  let storage: StorageOptions;
  beforeEach(() => {
    folder = temporaryFolder();
    dir = path.join(folder.path, "store");
    storage = { engine: "embedded", dir };
  });
  afterEach(() => folder.remove());

  it("plinth serve rejects another vocabulary with the flags to change, and writes nothing", async () => {
    await serveOnce(storage, "kubernetes");
    const before = await revisionOf(dir);
    const { code, stderr } = await plinthHere("serve", "--secure-port=0", `--data-dir=${folder.path}`);
    expect(stderr).toBe(
      `plinth: the store in ${dir} belongs to the vocabulary kubernetes: ` +
        "start with --vocabulary=kubernetes, convert it with plinth convert, or choose another --data-dir\n",
    );
    expect(code).toBe(2);
    expect(await revisionOf(dir)).toBe(before);
    await serveOnce(storage, "kubernetes");
  });

  it("a second server in the same process rejects it too", async () => {
    const first = await createServer({ storage, vocabulary: "platform", port: false });
    expect(await messageOfRefusal(storage, "kubernetes")).toMatch(/vocabulary platform: start with/);
    const second = await createServer({ storage, vocabulary: "platform", port: false });
    await second.close();
    await first.close();
  });

  it.each(["platform", "kubernetes"] as const)(
    "one of before, without a stamp, is known by what a server of %s names made",
    async (vocabulary) => {
      await serveOnce(storage, vocabulary);
      await withMeta(dir, (meta) => void meta.removeSync("stamp"));
      const other = vocabulary === "platform" ? "kubernetes" : "platform";
      expect(await messageOfRefusal(storage, other)).toContain(`belongs to the vocabulary ${vocabulary}:`);
      await serveOnce(storage, vocabulary);
      await withMeta(dir, (meta) => {
        expect(stampIn({ meta })).toEqual({ label: vocabulary, format: 1 });
      });
    },
  );

  it("a namespace with a system name of the other vocabulary doesn't affect the detection", async () => {
    const server = await createServer({ storage, vocabulary: "kubernetes", port: false });
    await server.client.create({
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: "platform-system" },
    });
    await server.close();
    await withMeta(dir, (meta) => void meta.removeSync("stamp"));
    await serveOnce(storage, "kubernetes");
    expect(await messageOfRefusal(storage, "platform")).toContain("belongs to the vocabulary kubernetes");
  });

  it("a folder of a later version is rejected", async () => {
    await serveOnce(storage, "platform");
    const stamp = JSON.stringify({ label: "platform", format: 7 });
    await withMeta(dir, (meta) => void meta.putSync("stamp", Buffer.from(stamp)));
    expect(await messageOfRefusal(storage, "platform")).toBe(
      `the store in ${dir} has format 7, this program supports up to 1: ` +
        "use the program version that wrote it, or choose another storage.dir",
    );
  });
});

describe.skipIf(etcdMissing !== undefined)(`a prefix in etcd too (${etcdMissing ?? "one member"})`, () => {
  let etcd: EtcdServer;
  beforeAll(async () => void (etcd = await EtcdServer.start()));
  afterAll(() => etcd.dispose());

  it("a prefix belongs to one vocabulary, and another prefix may belong to another one", async () => {
    const at = (prefix: string): StorageOptions => ({ engine: "etcd", endpoints: [etcd.endpoint], prefix });
    await serveOnce(at("/one"), "kubernetes");
    await serveOnce(at("/two"), "platform");
    expect(await messageOfRefusal(at("/one"), "platform")).toBe(
      "the store under /one in etcd belongs to the vocabulary kubernetes: " +
        "start with vocabulary=kubernetes, or choose another storage.prefix",
    );
    expect(await messageOfRefusal(at("/two"), "kubernetes")).toContain("vocabulary=platform");
    await serveOnce(at("/one"), "kubernetes");
  });
});

async function revisionOf(dir: string): Promise<number> {
  const store = openLmdbStore({ dir, clock: systemClock });
  const revision = await store.latestRevision();
  await store.close();
  return revision;
}

type Meta = ReturnType<typeof acquireEnvironment>["meta"];

/** Looks at, or changes, what a closed store says of itself. */
async function withMeta(dir: string, work: (meta: Meta) => void): Promise<void> {
  const environment = acquireEnvironment(dir, defaultMapBytes);
  try {
    environment.root.transactionSync(() => work(environment.meta));
  } finally {
    await releaseEnvironment(environment);
  }
}
