import { setTimeout } from "node:timers/promises";
import { systemClock } from "../../../src/base/time/clock.ts";
import { createMemoryStore } from "../../../src/storage/memory/memory-store.ts";
import type { Store } from "../../../src/storage/store.ts";
import { TestServer } from "../../support/api.ts";
import { Dice } from "../../support/dice.ts";
import type { History, Quota } from "../history.ts";
import { HttpClient } from "../recording/client.ts";
import { Fleet } from "../recording/fleet.ts";
import { Recorder } from "../recording/recorder.ts";
import { recordRound } from "../recording/round.ts";
import { configMapLimit, namespaces, users, type Focus } from "../recording/workload.ts";
import type { Engine } from "./engine.ts";
import { StoreClient } from "./store-client.ts";

/** Options of a history in this process. */
export interface LocalRunOptions {
  readonly seed: number;
  /** Number of requests of the clients. */
  readonly requests: number;
  /** Makes the store of both servers from a sound one; the sound one by default. */
  readonly engine?: Engine | undefined;
  readonly focus?: Focus | undefined;
}

const serverNames = ["server-0", "server-1"] as const;
const leaseMs = 80;
/** Time between compactions of a store, in milliseconds. */
const compactionMs = 100;

/** Records a history of clients that call one store in memory. It is compacted often. */
export async function recordStore({ seed, requests, engine, focus }: LocalRunOptions): Promise<History> {
  const sound = createMemoryStore({ clock: systemClock });
  const store = engine?.(sound) ?? sound;
  const fleet = newFleet([]);
  const { recorder } = fleet;
  const dice = new Dice(seed);
  for (const server of serverNames)
    fleet.add(server, (client) => new StoreClient({ client, server }, store, recorder, dice));
  const goesOn = () => recorder.recorded < requests;
  const beside = () => compactRepeatedly(sound, recorder, goesOn);
  try {
    const settleMs = settleMsOf(engine);
    return await recordRound({ fleet, clients: 8, seed, focus, leaseMs, settleMs, goesOn, beside });
  } finally {
    fleet.close();
    await sound.close();
  }
}

async function compactRepeatedly(store: Store, recorder: Recorder, goesOn: () => boolean): Promise<void> {
  while (goesOn()) {
    await setTimeout(compactionMs);
    const revision = await store.latestRevision();
    await recorder.record(
      { client: "compactor", server: serverNames[0] },
      { verb: "compact", revision },
      async () => {
        await store.compact(systemClock.now());
        return { outcome: "compacted" };
      },
    );
  }
}

/** Records a history of two servers in this process over one store in memory. */
export async function recordServers({ seed, requests, engine, focus }: LocalRunOptions): Promise<History> {
  const sound = createMemoryStore({ clock: systemClock });
  const fleet = newFleet([{ prefix: "/configmaps/limited/", limit: configMapLimit }]);
  const { recorder } = fleet;
  const servers: TestServer[] = [];
  try {
    for (const name of serverNames) {
      const server = await TestServer.start({
        storage: engine?.(sound) ?? sound,
        runtimeConfig: "transactions.platform.io/v1alpha1=true",
        serviceClusterIpRanges: ["10.0.0.0/27"],
        users: [{ name: "admin", groups: ["system:masters"] }, ...users.map((user) => ({ name: user }))],
      });
      servers.push(server);
      if (servers.length === 1) await prepare(server);
      const endpoint = { name, url: server.server.url!, ca: server.server.caCertificate! };
      fleet.add(
        name,
        (client, user, workspace) => new HttpClient(client, user, endpoint, recorder, 10_000, workspace),
      );
    }
    const goesOn = () => recorder.recorded < requests;
    const settleMs = settleMsOf(engine);
    return await recordRound({ fleet, clients: 6, seed, focus, leaseMs, settleMs, goesOn });
  } finally {
    fleet.close();
    for (const server of servers) await server.close();
    await sound.close();
  }
}

/** A broken store may never deliver the last events. */
function settleMsOf(engine: Engine | undefined): number {
  return engine === undefined ? 60_000 : 1000;
}

function newFleet(quotas: readonly Quota[]): Fleet {
  return new Fleet(new Recorder({ quotas, retentionNs: 300e9 }));
}

async function prepare({ admin }: TestServer): Promise<void> {
  for (const name of namespaces) await admin.post("/api/v1/namespaces", { metadata: { name } });
  const hard = { "count/configmaps": String(configMapLimit) };
  await admin.post("/api/v1/namespaces/limited/resourcequotas", {
    metadata: { name: "limit" },
    spec: { hard },
  });
}
