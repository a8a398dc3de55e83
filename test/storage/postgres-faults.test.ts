import { cpSync, mkdirSync, rmSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../src/base/time/clock.ts";
import {
  create,
  draft,
  record,
  remove,
  textOf,
  until,
  update,
} from "../../src/storage/conformance/support.ts";
import { connectPostgresStore, type PostgresStore } from "../../src/storage/postgres/postgres-store.ts";
import {
  type Revision,
  RevisionCompactedError,
  StoreFullError,
  StoreTimeoutError,
  StoreUnavailableError,
} from "../../src/storage/store.ts";
import { PageShell } from "../support/page-shell.ts";
import { blockOf } from "../support/pages.ts";
import { DatabaseProxy } from "./database-proxy.ts";
import { makeCertificates } from "./etcd-server.ts";
import { postgresMissing, PostgresServer } from "./postgres-server.ts";
import { temporaryFolder } from "./support.ts";

const key = "/g/r/n/x";
let server: PostgresServer;
let schemas = 0;
const schema = () => `faults_${schemas++}`;

describe.skipIf(postgresMissing !== undefined)(
  `PostgreSQL under faults (${postgresMissing ?? "one server"})`,
  () => {
    const files = temporaryFolder();
    beforeAll(async () => {
      server = await PostgresServer.start({ tls: makeCertificates(files.path) });
    });
    afterAll(async () => {
      await server?.dispose();
      files.remove();
    });

    const url = (parameters = "sslmode=verify-full", port = server.port) =>
      `${server.url.replace(String(server.port), String(port))}?${parameters}&sslrootcert=${files.path}/ca.crt`;
    const warnings: string[] = [];
    const open = (of: string, more: { url?: string; timeoutMs?: number } = {}): Promise<PostgresStore> =>
      connectPostgresStore({
        url: url(),
        schema: of,
        clock: systemClock,
        warn: (message) => warnings.push(message),
        ...more,
      });

    it("docs/running.md: a server starts with the URL of a file", async () => {
      const shell = new PageShell(undefined, { PASSWORD: server.password });
      try {
        mkdirSync(path.join(shell.folder, "etc/plinth"), { recursive: true });
        cpSync(path.join(files.path, "ca.crt"), path.join(shell.folder, "etc/plinth/db-ca.crt"));
        const host = `127.0.0.1:${server.port}`;
        const command = blockOf("docs/running.md", "sh postgres")
          .replace("db-1,db-2/plinth", `${host},${host}/postgres`)
          // Without it connections to this machine are not verified.
          .replace("?sslrootcert", "?sslmode=verify-full&sslrootcert");
        await shell.run(command);
        // The test database doesn't sync, of which the server warns.
        expect(shell.servers[0]!.log().trim().split("\n")).toEqual([expect.stringContaining("fsync=off")]);
      } finally {
        await shell.close();
      }
    });

    /** Runs a test with a store behind a proxy without TLS, and one beside it. */
    async function behindProxy(
      work: (proxy: DatabaseProxy, store: PostgresStore, other: PostgresStore) => Promise<void>,
    ): Promise<void> {
      const name = schema();
      const other = await open(name);
      const proxy = await DatabaseProxy.start(server.port);
      server.allowPlain(true);
      const store = await open(name, { url: url("sslmode=disable", proxy.port), timeoutMs: 1000 });
      try {
        await work(proxy, store, other);
      } finally {
        server.allowPlain(false);
        await Promise.all([store.close(), other.close()]);
        await proxy.close();
      }
    }

    it("a commit whose answer is lost is found by its id, and takes effect once", () =>
      behindProxy(async (proxy, store, other) => {
        const { recorder, subscription } = record(other, "/", await other.latestRevision());
        const first = await create(store, key, "1");
        proxy.fates.push("loseAnswer");
        const second = await update(store, key, first, "2");
        proxy.fates.push("loseAnswer");
        const third = await remove(store, key, second);
        expect([second, third]).toEqual([first + 1, first + 2]);
        proxy.fates.push("loseAnswer");
        const conflict = await store.commit({ kind: "delete", key, expected: second });
        expect(conflict).toEqual({ ok: false, current: undefined });
        expect(proxy.fates).toEqual([]);
        await subscription.sync();
        expect(recorder.lines).toEqual([`create ${key} 1`, `update ${key} 2`, `delete ${key} 2`]);
      }));

    it("a commit that arrives after it was given up has no effect", () =>
      behindProxy(async (proxy, store, other) => {
        const delayed = new Promise<void>((resolve) => (proxy.met = resolve));
        proxy.fates.push("delayRequest");
        const created = create(store, key, "1");
        await delayed;
        await expect(created).rejects.toThrow(/nothing was written/);
        const before = await store.latestRevision();
        proxy.release();
        await expect
          .poll(() => server.log.includes("duplicate key value violates unique constraint"), {
            timeout: 10_000,
          })
          .toBe(true);
        expect(await other.get(key)).toBe(undefined);
        expect(await other.latestRevision()).toBe(before);
      }));

    it(
      "no write is lost, doubled or unknown, and no event missed, while the database is killed",
      { timeout: 60_000 },
      async () => {
        const name = schema();
        const [store, other] = [await open(name), await open(name)];
        const start = await store.latestRevision();
        const recorders = [record(store, "/", start).recorder, record(other, "/", start).recorder];
        let stopped = false;
        const write = async (
          writer: PostgresStore,
          one: string,
        ): Promise<{ revision: Revision; count: number }> => {
          let revision = await create(writer, one, "0");
          let count = 0;
          while (!stopped) {
            try {
              // A conflict would mean that a write without an answer was executed and repeated.
              revision = await update(writer, one, revision, String(count + 1));
              count++;
            } catch (error) {
              if (!(error instanceof StoreUnavailableError) || /isn't known/.test(error.message)) throw error;
              await new Promise((resolve) => setTimeout(resolve, 5));
            }
          }
          return { revision, count };
        };
        const keys = ["a", "b", "c", "d"].map((one) => `/g/r/n/${one}`);
        let failure: unknown;
        const writing = Promise.all(keys.map((one, index) => write(index % 2 === 0 ? store : other, one)));
        writing.catch((error: unknown) => (failure = error));
        for (let kill = 0; kill < 4; kill++) {
          const before = recorders[0]!.heard.length;
          await until(
            () => failure !== undefined || recorders[0]!.heard.length > before + 20,
            "writes go on",
            20_000,
          );
          expect(failure).toBe(undefined);
          await server.kill();
          await server.run();
        }
        stopped = true;
        const written = await writing;
        for (const [index, { revision, count }] of written.entries()) {
          const entry = await store.get(keys[index]!);
          expect([entry?.revision, textOf(entry)]).toEqual([revision, String(count)]);
        }
        const latest = await store.latestRevision();
        const all = Array.from({ length: latest - start }, (_, index) => start + index + 1);
        const missing = (revisions: readonly number[]) => all.filter((one) => !revisions.includes(one));
        await until(
          () => recorders.every(({ upTo, endings }) => upTo >= latest || endings.length > 0),
          "all arrives",
        );
        for (const { endings, revisions } of recorders) {
          expect(endings).toEqual([]);
          expect(missing(revisions)).toEqual([]);
        }
        expect(await store.check()).toEqual([]);
        await Promise.all([store.close(), other.close()]);
      },
    );

    it("a database that lost writes, as by a failover, continues above them, and watches start again", async () => {
      const store = await open(schema(), { timeoutMs: 3000 });
      const old = await create(store, key, "1");
      await server.stop();
      const copy = `${server.dataDir}-copy`;
      cpSync(server.dataDir, copy, { recursive: true });
      server.own(copy);
      await server.run();
      const { recorder } = record(store, "/", old);
      const lost = await update(store, key, old, "lost");
      await server.stop();
      rmSync(server.dataDir, { recursive: true });
      cpSync(copy, server.dataDir, { recursive: true });
      server.own(server.dataDir);
      await server.run();
      await until(() => recorder.endings.length === 1, "the watch ends");
      expect(recorder.endings[0]).toBeInstanceOf(RevisionCompactedError);
      expect(textOf(await store.get(key))).toBe("1");
      expect(await update(store, key, old, "2")).toBeGreaterThan(lost);
      await expect(store.get(key, lost)).rejects.toThrow(RevisionCompactedError);
      expect(warnings.filter((one) => one.includes("lost writes"))).toHaveLength(1);
      expect(await store.check()).toEqual([]);
      await store.close();
    });

    it("a full disk, a held lock and a read-only database have clear errors, and nothing is written", async () => {
      const name = schema();
      const store = await open(name, { timeoutMs: 600 });
      const before = await store.latestRevision();
      server.sql(`create function ${name}.full() returns trigger language plpgsql as
      'begin raise exception using errcode = ''53100'', message = ''no space left''; end';
      create trigger full_disk before insert on ${name}.entries execute function ${name}.full()`);
      await expect(create(store, key, "1")).rejects.toThrow(StoreFullError);
      expect(await store.writeObstacle()).toBeInstanceOf(StoreFullError);
      server.sql(`drop trigger full_disk on ${name}.entries`);
      expect(await store.latestRevision()).toBe(before);
      const revision = await create(store, key, "1");
      expect(await store.writeObstacle()).toBe(undefined);
      const holder = server.hold(`select 1 from ${name}.line for update`);
      await holder.held;
      const attempt = store.commit({ kind: "update", key, expected: revision, draft: draft("2") });
      await expect(attempt).rejects.toThrow(StoreTimeoutError);
      await holder.release();
      await store.close();
      server.sql("alter database postgres set default_transaction_read_only = on");
      await expect(open(name)).rejects.toThrow(/standby or read-only/);
      server.sql("set transaction read write; alter database postgres reset default_transaction_read_only");
    });

    it("values are read and written for a role with bytea_output=escape and messages in another language", () =>
      behindProxy(async (proxy, store) => {
        await store.close();
        server.sql("alter role plinth set bytea_output = escape");
        proxy.translates = true;
        try {
          // A reserved word.
          const translated = await open("user", { url: url("sslmode=disable", proxy.port) });
          await create(translated, key, "a\\b\u{1f600}");
          const { entries } = await translated.range({ prefix: "/" });
          expect(entries.map((entry) => [entry.key, textOf(entry)])).toEqual([[key, "a\\b\u{1f600}"]]);
          await translated.close();
        } finally {
          server.sql("alter role plinth reset bytea_output");
        }
      }));

    it("a store closes at once while the database doesn't answer", () =>
      behindProxy(async (proxy) => {
        const patient = { url: url("sslmode=disable", proxy.port), timeoutMs: 60_000 };
        const store = await open(schema(), patient);
        // So that some reads have a session and others are opening one.
        await store.range({ prefix: "/" });
        proxy.stalls = true;
        const reads = [1, 2, 3, 4, 5, 6].map(() => store.range({ prefix: "/" }));
        const rejected = Promise.all(
          reads.map((read) => expect(read).rejects.toThrow(StoreUnavailableError)),
        );
        await store.close();
        await rejected;
        proxy.stalls = false;
      }));

    it("certificates are verified, and connections that aren't encrypted refused by default", async () => {
      const name = schema();
      await expect(open(name, { url: url("sslmode=disable") })).rejects.toThrow(/no encryption/);
      const store = await open(name, { url: `${server.url}?sslmode=require` });
      await store.close();
      await expect(open(name, { url: `${server.url}?sslmode=verify-full` })).rejects.toThrow(/certificate/);
      await expect(open(name, { url: url().replace("127.0.0.1", "localhost") })).rejects.toThrow(/altnames/);
      const unnamed = url("sslmode=verify-ca").replace("127.0.0.1", "localhost");
      await (await open(name, { url: unnamed })).close();
    });
  },
);
