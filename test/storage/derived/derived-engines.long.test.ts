import { afterAll, beforeAll, describe } from "vitest";
import { connectEtcdStore } from "../../../src/storage/etcd/etcd-store.ts";
import { connectPostgresStore } from "../../../src/storage/postgres/postgres-store.ts";
import { EtcdServer, etcdMissing } from "../etcd-server.ts";
import { describeModel } from "../model.ts";
import { postgresMissing, PostgresServer } from "../postgres-server.ts";
import { describeConformance, openSubject, stampCases, withoutStamps } from "../support.ts";
import { derivedOver } from "./derived-subjects.ts";

let stores = 0;

describe.skipIf(etcdMissing !== undefined)(`etcd (${etcdMissing ?? "single member"})`, () => {
  let server: EtcdServer;
  beforeAll(async () => {
    server = await EtcdServer.start();
  });
  afterAll(() => server?.dispose());

  const open = withoutStamps(() => {
    const prefix = `/derived-${stores++}`;
    const derived = derivedOver();
    return openSubject(async ({ clock }) =>
      derived(await connectEtcdStore({ endpoints: [server.endpoint], prefix, clock }), clock),
    );
  });
  describeConformance("a derived store over etcd", open, stampCases);
  describeModel("a derived store over etcd", open, { runs: 10 });
});

describe.skipIf(postgresMissing !== undefined)(`PostgreSQL (${postgresMissing ?? "one server"})`, () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(() => server?.dispose());

  const open = withoutStamps(() => {
    const schema = `derived_${stores++}`;
    const derived = derivedOver();
    return openSubject(async ({ clock }) =>
      derived(await connectPostgresStore({ url: server.url, schema, clock }), clock),
    );
  });
  describeConformance("a derived store over PostgreSQL", open, stampCases);
  describeModel("a derived store over PostgreSQL", open, { runs: 10 });
});
