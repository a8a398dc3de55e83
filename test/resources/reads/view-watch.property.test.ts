import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../../src/base/time/clock.ts";
import { connectEtcdStore } from "../../../src/storage/etcd/etcd-store.ts";
import { openLmdbStore } from "../../../src/storage/lmdb/lmdb-store.ts";
import { createMemoryStore } from "../../../src/storage/memory/memory-store.ts";
import { EtcdServer, etcdMissing } from "../../storage/etcd-server.ts";
import { temporaryFolder } from "../../storage/support.ts";
import { Dice } from "../../support/dice.ts";
import { runWorld } from "./view-watch-world.ts";
import { effort } from "../../support/effort.ts";

const everyKind = ["ADDED", "DELETED", "MODIFIED", "resumed"];

describe("a watch of a view results in the objects that a get of each allows, at every revision that it reports", () => {
  test("in memory", { timeout: 120_000 }, async () => {
    const received = new Set<string>();
    for (let seed = 0; seed < effort(3, 16); seed++) {
      const kinds = await runWorld(createMemoryStore({ clock: systemClock }), new Dice(seed), 40);
      for (const kind of kinds) received.add(kind);
    }
    expect([...received].toSorted()).toEqual(everyKind);
  });

  test("over LMDB", { timeout: 60_000 }, async () => {
    const folder = temporaryFolder();
    const store = openLmdbStore({ dir: folder.path, clock: systemClock });
    expect([...(await runWorld(store, new Dice(7), 40))].toSorted()).toEqual(everyKind);
    folder.remove();
  });

  describe.skipIf(etcdMissing !== undefined)("over etcd", () => {
    let server: EtcdServer;
    beforeAll(async () => {
      server = await EtcdServer.start();
    });
    afterAll(() => server?.dispose());

    test("one member", { timeout: 120_000 }, async () => {
      const store = await connectEtcdStore({
        endpoints: [server.endpoint],
        prefix: "/views",
        clock: systemClock,
      });
      expect([...(await runWorld(store, new Dice(11), 25))].toSorted()).toEqual(everyKind);
    });
  });
});
