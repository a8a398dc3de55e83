import type { SimulatedServer } from "../servers/simulated-server.ts";
import type { World } from "../world.ts";

/** Ends all faults: afterwards everything runs, and messages arrive soon. */
export function heal(world: World): void {
  const { cluster, clusterNetwork, clientNetwork, servers } = world;
  world.isBusy = false;
  for (const network of [clusterNetwork, clientNetwork]) {
    network.meanMs = 1;
    network.eventMeanMs = undefined;
    network.loss = 0;
    network.repeats = 0;
  }
  cluster.full = false;
  cluster.setStates("up");
  for (const server of servers) restore(server);
}

function restore(server: SimulatedServer): void {
  server.clock?.thaw();
  server.start();
}
