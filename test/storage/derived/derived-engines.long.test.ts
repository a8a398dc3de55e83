import { afterAll, beforeAll, describe } from "vitest";
import { derivedStore } from "../../../src/storage/derived/derived-store.ts";
import { connectEtcdStore } from "../../../src/storage/etcd/etcd-store.ts";
import { keepHistory } from "../../../src/storage/history/history-store.ts";
import { keyspace } from "../../../src/storage/keyspaces/keyspace-store.ts";
import { connectPostgresStore } from "../../../src/storage/postgres/postgres-store.ts";
import type { Revision, Store } from "../../../src/storage/store.ts";
import { EtcdServer, etcdMissing } from "../etcd-server.ts";
import { describeModel } from "../model.ts";
import { postgresMissing, PostgresServer } from "../postgres-server.ts";
import { describeConformance, type ManualClock, multipleStoreCases, openSubject } from "../support.ts";

let stores = 0;

/** Stamps belong to a whole store. */
const stampCases = multipleStoreCases.slice(-5);

/** Opens a store that is derived from an empty one; both are keyspaces of a store with pins. */
async function openDerived(connect: (clock: ManualClock) => Promise<Store>) {
  let at: Revision | undefined;
  const { stamped: _, ...subject } = await openSubject(async ({ clock }) => {
    const store = await keepHistory(await connect(clock), {
      clock,
      collections: new Map(),
      pins: true,
      drops: true,
      failed: (error) => {
        throw error;
      },
    });
    at ??= (await store.history!.pins!.add("start")).revision;
    const derived = derivedStore({ own: keyspace(store, "own"), base: keyspace(store, "base"), at });
    const close = derived.close.bind(derived);
    derived.close = async () => {
      await close();
      await store.close();
    };
    return derived;
  });
  return subject;
}

describe.skipIf(etcdMissing !== undefined)(`etcd (${etcdMissing ?? "single member"})`, () => {
  let server: EtcdServer;
  beforeAll(async () => {
    server = await EtcdServer.start();
  });
  afterAll(() => server?.dispose());

  const open = () => {
    const prefix = `/derived-${stores++}`;
    return openDerived((clock) => connectEtcdStore({ endpoints: [server.endpoint], prefix, clock }));
  };
  describeConformance("a derived store over etcd", open, stampCases);
  describeModel("a derived store over etcd", open, { runs: 10 });
});

describe.skipIf(postgresMissing !== undefined)(`PostgreSQL (${postgresMissing ?? "one server"})`, () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(() => server?.dispose());

  const open = () => {
    const schema = `derived_${stores++}`;
    return openDerived((clock) => connectPostgresStore({ url: server.url, schema, clock }));
  };
  describeConformance("a derived store over PostgreSQL", open, stampCases);
  describeModel("a derived store over PostgreSQL", open, { runs: 10 });
});
