import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createServer } from "../../src/index.ts";
import type { StorageOptions } from "../../src/server/options/option-types.ts";
import { OptionsError } from "../../src/server/options/options-error.ts";
import { sharedKeyNames } from "../../src/storage/shared-values.ts";
import { EtcdServer, etcdMissing } from "../storage/etcd-server.ts";
import { PostgresServer, postgresMissing } from "../storage/postgres-server.ts";
import { useTemporaryFolders } from "../support/temporary-folders.ts";

const newFolder = useTemporaryFolders();
const secretOf = (byte: number) => Buffer.alloc(32, byte).toString("base64");
const gcm = (...bytes: number[]) => ({
  aesgcm: { keys: bytes.map((byte) => ({ name: `key${byte}`, secret: secretOf(byte) })) },
});
const identity = { identity: {} };

/** Writes an encryption configuration. */
function configuration(providers: readonly object[], resources = ["secrets"]): string {
  const file = path.join(newFolder(), "encryption.json");
  const header = { apiVersion: "apiserver.config.platform.io/v1", kind: "EncryptionConfiguration" };
  writeFileSync(file, JSON.stringify({ ...header, resources: [{ resources, providers }] }));
  return file;
}

/** A store that servers share, and its rows. */
interface SharedStore {
  readonly storage: StorageOptions;
  /** Every value in the store, as bytes in Latin-1. */
  rows(): Promise<string>;
}

/** Starts a server once; returns its CA. */
async function serve({ storage }: SharedStore, configFile?: string): Promise<string> {
  const server = await createServer({ storage, ...(configFile && { encryption: { configFile } }) });
  try {
    return server.caCertificate!;
  } finally {
    await server.close();
  }
}

function theKeysOf(store: () => SharedStore): void {
  const hasPlainKeys = async () => (await store().rows()).includes("PRIVATE KEY");

  it("in plain text are encrypted at the first start with encryption, and stay the same", async () => {
    const ca = await serve(store());
    expect(await hasPlainKeys()).toBe(true);
    expect(await serve(store(), configuration([gcm(1)]))).toBe(ca);
    expect(await hasPlainKeys()).toBe(false);
    expect((await store().rows()).split("enc:aesgcm:v1:key1\n")).toHaveLength(sharedKeyNames.length + 1);
    await expect(serve(store())).rejects.toThrow(
      new OptionsError(
        "the store has encrypted values, such as that of authority: start with encryption.configFile and the key",
      ),
    );
    // A rotation: the new key first, then without the former one.
    expect(await serve(store(), configuration([gcm(2, 1)]))).toBe(ca);
    expect(await serve(store(), configuration([gcm(2)]))).toBe(ca);
    expect(await hasPlainKeys()).toBe(false);
    await expect(serve(store(), configuration([gcm(1)]))).rejects.toThrow(
      /shared\/[a-z-]+ can't be decrypted/,
    );
    // The way back.
    expect(await serve(store(), configuration([identity, gcm(2)]))).toBe(ca);
    expect(await hasPlainKeys()).toBe(true);
    expect(await serve(store())).toBe(ca);
    // The first entry if none is for secrets.
    expect(await serve(store(), configuration([gcm(3)], ["configmaps"]))).toBe(ca);
    expect(await hasPlainKeys()).toBe(false);
  });
}

describe.skipIf(etcdMissing !== undefined)(
  `the keys of the servers in etcd (${etcdMissing ?? "one member"})`,
  () => {
    let etcd: EtcdServer;
    beforeAll(async () => void (etcd = await EtcdServer.start()));
    afterAll(() => etcd?.dispose());
    theKeysOf(() => ({
      storage: { engine: "etcd", endpoints: [etcd.endpoint], prefix: "/p" },
      async rows() {
        const all = Buffer.from([0]).toString("base64");
        const body = JSON.stringify({ key: all, range_end: all });
        const answer = await fetch(`${etcd.endpoint}/v3/kv/range`, { method: "POST", body });
        const { kvs } = (await answer.json()) as { readonly kvs: readonly { readonly value?: string }[] };
        return kvs.map(({ value = "" }) => Buffer.from(value, "base64").toString("latin1")).join("\n");
      },
    }));
  },
);

describe.skipIf(postgresMissing !== undefined)(
  `the keys in PostgreSQL (${postgresMissing ?? "one server"})`,
  () => {
    let database: PostgresServer;
    beforeAll(async () => void (database = await PostgresServer.start()));
    afterAll(() => database?.dispose());
    theKeysOf(() => ({
      storage: { engine: "postgres", url: database.url },
      rows() {
        const [schema] = database
          .sql("select table_schema from information_schema.tables where table_name = 'shared'")
          .split("\n");
        const rows = database.sql(`select encode(value, 'hex') from "${schema}".shared`).split("\n");
        return Promise.resolve(rows.map((row) => Buffer.from(row, "hex").toString("latin1")).join("\n"));
      },
    }));
  },
);
