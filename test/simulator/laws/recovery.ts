import { createOwned } from "../clients/namespaces.ts";
import { createPod } from "../clients/pods.ts";
import { ApiClient } from "../clients/api-client.ts";
import { plainUser } from "../clients/setup.ts";
import { workNamespace } from "../clients/writer.ts";
import type { World } from "../world.ts";
import { checkReady } from "./readiness.ts";
import { checkList } from "./reads.ts";

/** Lists whose answers must equal the state in the end. */
const finalLists = [
  ["/api/v1/configmaps", "/core/configmaps/"],
  ["/api/v1/pods", "/core/pods/"],
  ["/api/v1/namespaces", "/core/namespaces/"],
  ["/apis/rbac.authorization.k8s.io/v1/clusterroles", "/rbac.authorization.k8s.io/clusterroles/"],
] as const;

/**
 * Writes through each server after the faults: all authorize, admit and store, which needs the present state of roles, namespaces, quotas and
 * service accounts. Leaves objects without owners and a terminating namespace for the controllers.
 */
export async function checkWrites(world: World): Promise<void> {
  for (const server of world.servers) {
    const admin = new ApiClient(world, `last-writer-${server.name}`, undefined, server);
    const refused = await createOwned(admin, `last-${server.name}`);
    if (refused !== undefined) fail(world, server.name, refused);
    const pod = await createPod(admin, `last-${server.name}`);
    if (pod?.status !== 201 && pod?.status !== 403) fail(world, server.name, `${pod?.status} for a pod`);
    await admin.request("DELETE", `/api/v1/namespaces/last-${server.name}/configmaps/owner`);
  }
}

/** Reads from each server after the faults: all answer, also to a user with few rights, and lists equal the state. */
export async function checkReads(world: World): Promise<void> {
  await checkReady(new ApiClient(world, "last-prober"));
  for (const server of world.servers) {
    const admin = new ApiClient(world, `last-reader-${server.name}`, undefined, server);
    for (const [url, prefix] of finalLists) {
      const answer = await admin.request("GET", url);
      if (checkList(world, prefix, answer) === undefined)
        fail(world, server.name, `${answer?.status} for ${url}`);
    }
    const user = new ApiClient(world, `last-user-${server.name}`, plainUser, server);
    const url = `/api/v1/namespaces/${workNamespace}/configmaps`;
    const answer = await user.request("GET", url);
    if (answer?.status !== 200) fail(world, server.name, `${answer?.status} for ${url} of a user`);
  }
}

function fail({ violations }: World, server: string, text: string): void {
  violations.add("servers recover", `${server} answers ${text}`);
}
