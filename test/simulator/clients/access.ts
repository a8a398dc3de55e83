import type { ApiClient } from "./api-client.ts";
import { workNamespace } from "./writer.ts";

const group = "rbac.authorization.k8s.io";
const url = `/apis/${group}/v1/namespaces/${workNamespace}/rolebindings`;

/** Name of the role that is granted. */
export const readerRole = "simulated-reader";

/** Grants and withdraws access, and asks a server after each: an acknowledged grant holds at once, on each server. */
export async function runAccessUser(client: ApiClient, meanPauseMs: number): Promise<void> {
  const { world } = client;
  for (let count = 0; world.isActive; count++) {
    const user = `${client.actor}-${count}`;
    const body = {
      apiVersion: `${group}/v1`,
      kind: "RoleBinding",
      metadata: { name: user },
      subjects: [{ kind: "User", apiGroup: group, name: user }],
      roleRef: { apiGroup: group, kind: "ClusterRole", name: readerRole },
    };
    const granted = await client.request("POST", url, { body, once: true });
    if (granted?.status === 201) {
      await expectAccess(client, user, true);
      const withdrawn = await client.request("DELETE", `${url}/${user}`);
      if (withdrawn?.status === 200) await expectAccess(client, user, false);
    }
    await client.pause(meanPauseMs);
  }
}

async function expectAccess(client: ApiClient, user: string, expected: boolean): Promise<void> {
  const resourceAttributes = { namespace: workNamespace, verb: "get", resource: "configmaps" };
  const body = {
    apiVersion: "authorization.k8s.io/v1",
    kind: "SubjectAccessReview",
    spec: { user, resourceAttributes },
  };
  const reviews = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
  const answer = await client.request("POST", reviews, { body });
  if (answer?.status !== 201) return;
  const { status } = JSON.parse(answer.text) as { status: { allowed: boolean; evaluationError?: string } };
  if (status.allowed === expected || status.evaluationError !== undefined) return;
  client.world.violations.add(
    "grants hold at once",
    `${answer.server.name} answers ${status.allowed} for ${user} after ${expected ? "the grant" : "the withdrawal"}`,
  );
}
