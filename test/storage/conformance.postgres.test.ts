import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { create, record, remove, textOf, update } from "../../src/storage/conformance/support.ts";
import { aesGcm } from "../../src/storage/encryption/local-ciphers.ts";
import { EncryptedStore } from "../../src/storage/encryption/encrypted-store.ts";
import { connectPostgresStore } from "../../src/storage/postgres/postgres-store.ts";
import { RevisionCompactedError } from "../../src/storage/store.ts";
import { blockOf } from "../support/pages.ts";
import { describeModel } from "./model.ts";
import { postgresMissing, PostgresServer } from "./postgres-server.ts";
import { describeConformance, openSubject } from "./support.ts";

let server: PostgresServer;
let stores = 0;

function open() {
  const schema = `test_${stores++}`;
  return openSubject((options) => connectPostgresStore({ url: server.url, schema, ...options }));
}

describe.skipIf(postgresMissing !== undefined)(`PostgreSQL (${postgresMissing ?? "one server"})`, () => {
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(() => server?.dispose());

  describeConformance("PostgreSQL", open);
  describeModel("PostgreSQL", open, { runs: 10 });

  it("the past is read from the database when memory doesn't reach back", async () => {
    const subject = await open();
    const start = await subject.store.latestRevision();
    const first = await create(subject.store, "/g/r/n/x", "1");
    await remove(subject.store, "/g/r/n/x", await update(subject.store, "/g/r/n/x", first, "2"));
    await create(subject.store, "/other/r/n/x", "3");
    const { recorder, subscription } = record(await subject.another(), "/g/r/", start);
    await subscription.sync();
    expect(recorder.lines).toEqual(["create /g/r/n/x 1", "update /g/r/n/x 2", "delete /g/r/n/x 2"]);
    await subject.dispose();
  });

  it("an encrypted store has no plain text in the database, and another server reads its values", async () => {
    const cipher = aesGcm("aesgcm:v1:key1", randomBytes(32));
    const ciphers = () => ({ writer: cipher, readers: [cipher], readsPlain: false });
    const subject = await open();
    const store = new EncryptedStore(subject.store, ciphers);
    const other = new EncryptedStore(await subject.another(), ciphers);
    const { recorder, subscription } = record(other, "/g/r/", await store.latestRevision());
    const first = await create(store, "/g/r/n/x", "secret-1");
    await remove(store, "/g/r/n/x", await update(other, "/g/r/n/x", first, "secret-2"));
    await subscription.sync();
    expect(recorder.lines).toEqual([
      "create /g/r/n/x secret-1",
      "update /g/r/n/x secret-2",
      "delete /g/r/n/x secret-2",
    ]);
    expect(textOf(await other.get("/g/r/n/x", first))).toBe("secret-1");
    const stored = await subject.store.get("/g/r/n/x", first);
    const bytes = Buffer.concat([stored!.header, stored!.body]);
    expect(bytes.toString("latin1")).not.toContain("secret");
    await subject.dispose();
  });

  it("docs/running.md: its command moves a store that lost writes above the last revision that clients have seen", async () => {
    const subject = await open();
    const before = await create(subject.store, "/g/r/n/x", "1");
    server.sql(blockOf("docs/running.md", "sql skip").replace("plinth.", `test_${stores - 1}.`));
    const store = await subject.another();
    expect(await store.latestRevision()).toBeGreaterThan(1_234_567);
    expect(textOf(await store.get("/g/r/n/x"))).toBe("1");
    await expect(store.get("/g/r/n/x", before)).rejects.toThrow(RevisionCompactedError);
    await subject.dispose();
  });
});
