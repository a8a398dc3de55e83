import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe } from "vitest";
import { aesGcm } from "../../../src/storage/encryption/local-ciphers.ts";
import { EncryptedStore } from "../../../src/storage/encryption/encrypted-store.ts";
import { connectEtcdStore } from "../../../src/storage/etcd/etcd-store.ts";
import { keepHistory } from "../../../src/storage/history/history-store.ts";
import { createMemoryStore } from "../../../src/storage/memory/memory-store.ts";
import { connectPostgresStore } from "../../../src/storage/postgres/postgres-store.ts";
import { EtcdServer, etcdMissing } from "../etcd-server.ts";
import { describeModel } from "../model.ts";
import { postgresMissing, PostgresServer } from "../postgres-server.ts";
import { describeConformance, ManualClock, openSubject } from "../support.ts";
import { ForgetfulStore } from "./forgetful-store.ts";
import { endings, keeping, ofOneStore } from "./kept-subjects.ts";

let stores = 0;

describe.skipIf(etcdMissing !== undefined)(`etcd (${etcdMissing ?? "single member"})`, () => {
  let server: EtcdServer;
  beforeAll(async () => {
    server = await EtcdServer.start();
  });
  afterAll(() => server?.dispose());

  const open = () => {
    const prefix = `/history-${stores++}`;
    return openSubject(async (options) =>
      keepHistory(await connectEtcdStore({ endpoints: [server.endpoint], prefix, ...options }), {
        clock: options.clock,
        ...keeping,
      }),
    );
  };
  describeConformance("etcd with kept history", open, endings);
  describeModel("etcd with kept history", open, { runs: 10 });
});

describe.skipIf(postgresMissing !== undefined)(`PostgreSQL (${postgresMissing ?? "one server"})`, () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(() => server?.dispose());

  const open = () => {
    const schema = `history_${stores++}`;
    return openSubject(async (options) =>
      keepHistory(await connectPostgresStore({ url: server.url, schema, ...options }), {
        clock: options.clock,
        ...keeping,
      }),
    );
  };
  describeConformance("PostgreSQL with kept history", open, endings);
  describeModel("PostgreSQL with kept history", open, { runs: 10 });
});

const cipher = aesGcm("aesgcm:v1:key1", randomBytes(32));
const ciphers = () => ({ writer: cipher, readers: [cipher], readsPlain: false });

async function encrypted() {
  const clock = new ManualClock();
  const inner = new ForgetfulStore(createMemoryStore({ clock }));
  const store = new EncryptedStore(await keepHistory(inner, { clock, ...keeping }), ciphers);
  return {
    store,
    advance: (ms: number) => clock.advance(ms),
    now: () => clock.now(),
    dispose: () => store.close(),
  };
}

describeConformance("kept history, encrypted", encrypted, ofOneStore);
describeModel("kept history, encrypted", encrypted, { runs: 200 });
