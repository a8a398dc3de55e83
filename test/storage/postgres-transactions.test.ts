import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../src/base/time/clock.ts";
import { create, draft, record, textOf, until, update } from "../../src/storage/conformance/support.ts";
import { parseAddress } from "../../src/storage/postgres/address.ts";
import { Connection } from "../../src/storage/postgres/connection.ts";
import { connectPostgresStore, type PostgresStore } from "../../src/storage/postgres/postgres-store.ts";
import { assertComplete, logPartOf } from "../../src/storage/postgres/rows.ts";
import { statementsOf } from "../../src/storage/postgres/statements.ts";
import {
  type Revision,
  type Store,
  StoreDamagedError,
  StoreTimeoutError,
  StoreUnavailableError,
  type Write,
} from "../../src/storage/store.ts";
import { DatabaseProxy } from "./database-proxy.ts";
import { postgresMissing, PostgresServer } from "./postgres-server.ts";

const prefix = "/g/r/n/";
let server: PostgresServer;
let schemas = 0;

const creation = (name: string, text = name): Write => ({
  kind: "create",
  key: prefix + name,
  draft: draft(text),
});

/** Executes a transaction, and returns its revision. */
async function transact(store: Store, writes: readonly Write[]): Promise<Revision> {
  const result = await store.transact(writes);
  if (!result.ok) throw new Error(`write ${result.failedWrite} of the transaction met a conflict`);
  return result.revision;
}

const pair = (...names: string[]): Write[] => names.map((name) => creation(name, "0"));

describe.skipIf(postgresMissing !== undefined)(
  `transactions over PostgreSQL (${postgresMissing ?? "one server"})`,
  () => {
    const stores: PostgresStore[] = [];
    let schema: string;
    beforeAll(async () => {
      server = await PostgresServer.start();
    });
    afterAll(() => server?.dispose());

    async function open(port = server.port, timeoutMs = 10_000): Promise<PostgresStore> {
      const url = `${server.url.replace(String(server.port), String(port))}?sslmode=disable`;
      const store = await connectPostgresStore({ url, schema, clock: systemClock, timeoutMs });
      stores.push(store);
      return store;
    }

    /** Runs a test with a schema of its own. */
    const within =
      (work: () => Promise<void>): (() => Promise<void>) =>
      async () => {
        schema = `transactions_${schemas++}`;
        try {
          await work();
        } finally {
          await Promise.all(stores.splice(0).map((store) => store.close()));
        }
      };

    /** Runs a test with a store behind a proxy, and one beside it. */
    const behindProxy = (
      work: (proxy: DatabaseProxy, store: PostgresStore, other: PostgresStore) => Promise<void>,
    ): (() => Promise<void>) =>
      within(async () => {
        const other = await open();
        await transact(other, [creation("old"), creation("gone")]);
        const proxy = await DatabaseProxy.start(server.port);
        try {
          await work(proxy, await open(proxy.port, 1000), other);
        } finally {
          await Promise.all(stores.splice(0).map((store) => store.close()));
          await proxy.close();
        }
      });

    const version = (): string => server.sql(`select version from ${schema}.line`).trim();
    const uniqueIndexes = (): string =>
      server
        .sql(
          `select indexname from pg_indexes where schemaname = '${schema}' and tablename = 'entries'
             and indexdef like 'CREATE UNIQUE%' order by 1`,
        )
        .trim();

    it(
      "a store stays in version 1 until its first transaction of several writes, which servers may execute at once",
      within(async () => {
        const [first, second] = [await open(), await open()];
        const a = await create(first, `${prefix}a`, "1");
        await transact(first, [{ kind: "update", key: `${prefix}a`, expected: a, draft: draft("2") }]);
        expect([version(), uniqueIndexes().split("\n").length]).toEqual(["1", 4]);
        const { recorder, subscription } = record(second, "/", a);
        const both = await Promise.all(
          [first, second].map((store, n) => transact(store, [creation(`b${n}`), creation(`c${n}`)])),
        );
        expect(both.toSorted((x, y) => x - y)).toEqual([a + 3, a + 5]);
        expect([version(), uniqueIndexes().split("\n")]).toEqual(["2", ["entries_current", "entries_pkey"]]);
        const late = await open();
        await create(late, `${prefix}d`, "1");
        // The replaced values aren't cached.
        const result = await late.transact([
          { kind: "delete", key: `${prefix}b0`, expected: both[0]! },
          { kind: "update", key: `${prefix}c0`, expected: both[0]!, draft: draft("c0x") },
        ]);
        expect(result.ok && result.entries.map((entry) => textOf(entry))).toEqual(["b0", "c0x"]);
        await subscription.sync();
        expect(recorder.revisions.map((revision) => revision - a)).toEqual([1, 3, 3, 5, 5, 6, 8, 8]);
        expect(await first.check()).toEqual([]);
      }),
    );

    it(
      "a transaction that can't change the version of the store in time writes nothing",
      within(async () => {
        const store = await open(server.port, 500);
        const before = await store.latestRevision();
        const holder = server.hold(`select 1 from ${schema}.line for update`);
        await holder.held;
        await expect(transact(store, [creation("a"), creation("b")])).rejects.toThrow(StoreTimeoutError);
        await holder.release();
        expect([version(), await store.latestRevision()]).toEqual(["1", before]);
        expect(await transact(store, [creation("a"), creation("b")])).toBe(before + 2);
      }),
    );

    it(
      "a transaction whose answer is lost is found by its id, and takes effect once",
      behindProxy(async (proxy, store, other) => {
        // From its second transaction on, a store doesn't ask for the version first.
        const start = await transact(store, [creation("single"), creation("second")]);
        const { recorder, subscription } = record(other, "/", start);
        const own = record(store, "/", start);
        const current = await store.get(`${prefix}old`);
        proxy.fates.push("loseAnswer");
        // A batch of a transaction, a single write and a transaction that fails.
        const [mixed, single, failed] = await Promise.all([
          store.transact([
            creation("new"),
            { kind: "delete", key: `${prefix}gone`, expected: current!.revision },
            { kind: "update", key: `${prefix}old`, expected: current!.revision, draft: draft("old2") },
          ]),
          create(store, `${prefix}other`, "1"),
          store.transact([creation("x"), creation("single")]),
        ]);
        expect(proxy.fates).toEqual([]);
        if (!mixed.ok) throw new Error("the transaction failed");
        expect([single, mixed.revision]).toEqual([start + 1, start + 4]);
        expect(mixed.entries.map((entry) => textOf(entry))).toEqual(["new", "gone", "old2"]);
        expect(failed).toMatchObject({ ok: false, failedWrite: 1, current: { revision: start } });
        await Promise.all([subscription.sync(), own.subscription.sync()]);
        for (const { lines, revisions } of [recorder, own.recorder]) {
          expect(revisions.map((revision) => revision - start)).toEqual([1, 4, 4, 4]);
          expect(lines.slice(1).toSorted()).toEqual(
            [`create ${prefix}new new`, `delete ${prefix}gone gone`, `update ${prefix}old old2`].toSorted(),
          );
        }
        proxy.fates.push("loseAnswer");
        expect(await transact(store, [creation("p"), creation("q")])).toBe(start + 6);
        await Promise.all([subscription.sync(), own.subscription.sync()]);
        for (const { revisions, endings } of [recorder, own.recorder])
          expect([revisions.length, endings]).toEqual([6, []]);
        expect(await other.check()).toEqual([]);
      }),
    );

    it(
      "a transaction that arrives after it was given up has no effect",
      behindProxy(async (proxy, store, other) => {
        const before = await other.latestRevision();
        const delayed = new Promise<void>((resolve) => (proxy.met = resolve));
        proxy.fates.push("delayRequest");
        const given = transact(store, [creation("a"), creation("b")]);
        await delayed;
        await expect(given).rejects.toThrow(/nothing was written/);
        proxy.release();
        await expect
          .poll(() => server.log.includes("duplicate key value violates unique constraint"), {
            timeout: 10_000,
          })
          .toBe(true);
        expect(await other.latestRevision()).toBe(before);
        expect(await other.count(prefix)).toBe(2);
      }),
    );

    it(
      "a part of the log ends with a whole transaction",
      within(async () => {
        const store = await open();
        const start = await store.latestRevision();
        const count = 450;
        let revision = start;
        for (let n = 0; n < 6; n++)
          revision = await transact(
            store,
            Array.from({ length: count }, (_, index) => creation(`${n}-${index}`)),
          );
        // The recorder refuses events of a revision that it has passed.
        const { recorder } = record(await open(), prefix, (revision - 3 * count) as Revision);
        await until(() => recorder.upTo >= revision, "the history is delivered");
        expect([recorder.heard.length, new Set(recorder.revisions).size]).toEqual([3 * count, 3]);
        const connection = new Connection({ address: parseAddress(`${server.url}?sslmode=disable`) });
        const reached: Revision[] = [start];
        for (let after = start; after < revision; after = reached.at(-1)!) {
          const values = [after, Number.MAX_SAFE_INTEGER, randomUUID(), after];
          const part = logPartOf(await connection.read({ ...statementsOf(schema).log, values }), after);
          assertComplete(part, after);
          reached.push(part.reached);
        }
        await connection.close();
        expect(reached.map((one) => (one - start) / count)).toEqual([0, 5, 6]);
        expect(await store.check()).toEqual([]);
      }),
    );

    it(
      "half of a transaction in the database is found by the check and by servers that follow the log",
      within(async () => {
        const [store, other] = [await open(), await open()];
        await create(store, `${prefix}x`, "1");
        await other.latestRevision();
        // Other servers see neither the transaction nor its notification before it is torn.
        server.sql(`create function ${schema}.tear() returns trigger language plpgsql as
          'begin if convert_from(new.key, ''utf8'') like ''%b'' then return null; end if; return new; end';
          create trigger tear before insert on ${schema}.entries for each row execute function ${schema}.tear()`);
        await transact(store, [creation("a"), creation("b"), creation("c")]);
        await expect(other.latestRevision()).rejects.toThrow(
          new StoreDamagedError("the log has 2 changes from revision 3 to 5, not 3"),
        );
        expect(await other.check()).toEqual(["the log lacks 1 of the revisions after 1"]);
      }),
    );

    it(
      "no transaction is torn, lost, doubled or unknown while the database is killed",
      { timeout: 60_000 },
      within(async () => {
        const [store, other] = [await open(), await open()];
        const start = await store.latestRevision();
        const recorders = [record(store, "/", start).recorder, record(other, "/", start).recorder];
        let stopped = false;
        /** Updates a pair of keys in transactions, with equal values. */
        const write = async (writer: PostgresStore, names: readonly string[], created: Revision) => {
          let [revision, count] = [created, 0];
          while (!stopped) {
            const next = names.map((name): Write => ({
              kind: "update",
              key: prefix + name,
              expected: revision,
              draft: draft(String(count + 1)),
            }));
            try {
              revision = await transact(writer, next);
              count++;
            } catch (error) {
              if (!(error instanceof StoreUnavailableError) || /isn't known/.test(error.message)) throw error;
              await new Promise((resolve) => setTimeout(resolve, 5));
            }
          }
          return { names, revision, count };
        };
        // Before the first kill: a first transaction that finds no database is rejected, and the writers don't repeat it.
        const [first, second] = [
          await transact(store, pair("a", "b")),
          await transact(other, pair("c", "d")),
        ];
        let single: Revision = await create(other, `${prefix}single`, "0");
        const singles = async (): Promise<void> => {
          for (let count = 1; !stopped; count++) {
            try {
              single = await update(other, `${prefix}single`, single, String(count));
            } catch (error) {
              if (!(error instanceof StoreUnavailableError) || /isn't known/.test(error.message)) throw error;
            }
          }
        };
        let failure: unknown;
        const writing = Promise.all([write(store, ["a", "b"], first), write(other, ["c", "d"], second)]);
        const beside = singles();
        for (const work of [writing, beside]) work.catch((error: unknown) => (failure = error));
        for (let kill = 0; kill < 3; kill++) {
          const before = recorders[0]!.heard.length;
          await until(
            () => failure !== undefined || recorders[0]!.heard.length > before + 30,
            "transactions go on",
            20_000,
          );
          expect(failure).toBe(undefined);
          await server.kill();
          await server.run();
        }
        stopped = true;
        await beside;
        for (const { names, revision, count } of await writing) {
          for (const name of names) {
            const entry = await store.get(prefix + name);
            expect([entry?.revision, textOf(entry)]).toEqual([revision, String(count)]);
          }
        }
        const latest = await store.latestRevision();
        await until(() => recorders.every(({ upTo }) => upTo >= latest), "all arrives");
        for (const { endings, heard } of recorders) {
          expect(endings).toEqual([]);
          // Each change takes a revision of the line.
          expect(heard.length).toBe(latest - start);
          const changes = new Map<number, number>();
          for (const { key, revision } of heard)
            if (!key.endsWith("single")) changes.set(revision, (changes.get(revision) ?? 0) + 1);
          expect([...changes.values()].filter((count) => count !== 2)).toEqual([]);
        }
        expect(await store.check()).toEqual([]);
      }),
    );
  },
);
