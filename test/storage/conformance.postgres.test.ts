import { afterAll, beforeAll, describe } from "vitest";
import { connectPostgresStore } from "../../src/storage/postgres/postgres-store.ts";
import type { RequestedStamp } from "../../src/storage/stamp.ts";
import type { Store } from "../../src/storage/store.ts";
import { describeModel } from "./model.ts";
import { postgresMissing, PostgresServer } from "./postgres-server.ts";
import { describeConformance, ManualClock } from "./support.ts";

let server: PostgresServer;
let stores = 0;

async function open() {
  const clock = new ManualClock();
  const schema = `test_${stores++}`;
  const opened: Store[] = [];
  const stamped = async (stamp?: RequestedStamp): Promise<Store> => {
    const store = await connectPostgresStore({ url: server.url, schema, clock, stamp });
    opened.push(store);
    return store;
  };
  const another = () => stamped();
  return {
    store: await another(),
    another,
    stamped,
    advance: (ms: number) => clock.advance(ms),
    now: () => clock.now(),
    async dispose() {
      for (const store of opened) await store.close();
    },
  };
}

describe.skipIf(postgresMissing !== undefined)(`PostgreSQL (${postgresMissing ?? "one server"})`, () => {
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(() => server?.dispose());

  describeConformance("PostgreSQL", open);
  describeModel("PostgreSQL", open, { runs: 10 });
});
