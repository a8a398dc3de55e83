import { systemClock } from "../../../src/base/clock.ts";
import { createMemoryStore } from "../../../src/storage/memory/memory-store.ts";
import type { Store } from "../../../src/storage/store.ts";
import { TestServer } from "../../support/api.ts";
import type { History } from "../history.ts";
import { Fleet } from "../recording/fleet.ts";
import { Recorder } from "../recording/recorder.ts";
import { recordRound } from "../recording/round.ts";
import { configMapLimit, namespaces, users } from "../recording/workload.ts";

/** Options of {@link recordLocally}. */
export interface LocalRunOptions {
  readonly seed: number;
  /** Number of requests of the clients. */
  readonly requests: number;
  /** Returns the store that a server uses, given the sound store that all share. */
  readonly engine?: (store: Store, server: number) => Store;
}

/** Records a history of two servers in this process over one store in memory. */
export async function recordLocally({ seed, requests, engine }: LocalRunOptions): Promise<History> {
  const store = createMemoryStore({ clock: systemClock });
  const settings = {
    quotas: [{ prefix: "/configmaps/limited/", limit: configMapLimit }],
    retentionNs: 300e9,
  };
  const fleet = new Fleet(new Recorder(settings), 10_000);
  const servers: TestServer[] = [];
  try {
    for (const index of [0, 1]) {
      const storage = engine?.(store, index) ?? store;
      const server = await TestServer.start({
        storage,
        serviceClusterIpRanges: ["10.0.0.0/27"],
        users: [{ name: "admin", groups: ["system:masters"] }, ...users.map((name) => ({ name }))],
      });
      servers.push(server);
      if (index === 0) await prepare(server);
      fleet.add({ name: `server-${index}`, url: server.server.url!, ca: server.server.caCertificate! });
    }
    const { recorder } = fleet;
    return await recordRound({ fleet, clients: 6, seed, goesOn: () => recorder.recorded < requests });
  } finally {
    fleet.close();
    for (const server of servers) await server.close();
    await store.close();
  }
}

async function prepare({ admin }: TestServer): Promise<void> {
  for (const name of namespaces) await admin.post("/api/v1/namespaces", { metadata: { name } });
  const hard = { "count/configmaps": String(configMapLimit) };
  await admin.post("/api/v1/namespaces/limited/resourcequotas", {
    metadata: { name: "limit" },
    spec: { hard },
  });
}
