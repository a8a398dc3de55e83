import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { create, record, remove, update } from "../../src/storage/conformance/support.ts";
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
});
