import type { ApiObject } from "../../../src/schema/kind.ts";
import type { ApiClient } from "../clients/api-client.ts";
import type { World } from "../world.ts";

interface ClusterRole extends ApiObject {
  readonly rules?: readonly object[] | null;
}

/** Default roles whose rules are aggregated from other roles. */
const aggregatedRoles = ["admin", "edit", "view"];
const rolePrefix = "/rbac.authorization.k8s.io/clusterroles/";
/** Pause between questions, in milliseconds: short while the servers start for the first time. */
const readyPauseMs = 20_000;
const startPauseMs = 50;
const startMs = 60_000;

/** Asks each server again and again whether it is ready: until the roles are stored and aggregated, none may say so. */
export async function watchReadiness(client: ApiClient): Promise<never> {
  const { world } = client;
  for (;;) {
    for (const server of world.servers) {
      const answer = await client.request("GET", "/readyz", { server });
      if (answer?.status === 200) checkRoles(world, server.name);
    }
    await client.sleep(world.scheduler.nowMs < startMs ? startPauseMs : readyPauseMs);
  }
}

function checkRoles({ history, violations }: World, server: string): void {
  for (const name of aggregatedRoles) {
    const role = history.at(`${rolePrefix}/${name}`, history.revision)?.object as ClusterRole | undefined;
    if ((role?.rules?.length ?? 0) > 0) continue;
    const state = role === undefined ? "doesn't exist" : "has no rules";
    violations.add(
      "roles are aggregated before a server is ready",
      `${server} is ready, but ${name} ${state}`,
    );
  }
}

/** Checks that each server answers that it is ready, once faults have ended. */
export async function checkReady(client: ApiClient): Promise<void> {
  for (const server of client.world.servers) {
    const answer = await client.request("GET", "/readyz?verbose=true", { server });
    if (answer?.status === 200) continue;
    const failed = answer?.text.split("\n").filter((line) => line.startsWith("[-]"));
    client.world.violations.add(
      "servers recover",
      `${server.name} isn't ready: ${failed?.join("; ") ?? "no answer"}`,
    );
  }
}
