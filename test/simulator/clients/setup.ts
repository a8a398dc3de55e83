import type { ApiClient } from "./api-client.ts";
import { maxPods, podNamespace } from "./pods.ts";
import { readerRole } from "./access.ts";
import { workNamespace } from "./writer.ts";

/** A user who may read the objects of writers. */
export const plainUser = "plain";

/** Creates what the clients need, and waits until controllers have prepared it. */
export async function prepareObjects(client: ApiClient): Promise<void> {
  for (const name of [workNamespace, podNamespace])
    await create(client, "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  const rules = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get", "list"] }];
  await create(client, "/apis/rbac.authorization.k8s.io/v1/clusterroles", {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    // Aggregated roles get its rules too.
    metadata: { name: readerRole, labels: { "rbac.authorization.k8s.io/aggregate-to-view": "true" } },
    rules,
  });
  const group = "rbac.authorization.k8s.io";
  await create(client, `/apis/${group}/v1/namespaces/${workNamespace}/rolebindings`, {
    apiVersion: `${group}/v1`,
    kind: "RoleBinding",
    metadata: { name: "readers" },
    subjects: [{ kind: "User", apiGroup: group, name: plainUser }],
    roleRef: { apiGroup: group, kind: "ClusterRole", name: readerRole },
  });
  const namespace = `/api/v1/namespaces/${podNamespace}`;
  await create(client, `${namespace}/resourcequotas`, {
    apiVersion: "v1",
    kind: "ResourceQuota",
    metadata: { name: "limits" },
    spec: { hard: { pods: String(maxPods) } },
  });
  await until(client, `${namespace}/serviceaccounts/default`, () => true);
  await until(client, `${namespace}/resourcequotas/limits`, (text) => text.includes('"used"'));
}

/** Creates an object; again until a server answers that it exists. */
async function create(client: ApiClient, url: string, body: object): Promise<void> {
  for (;;) {
    const answer = await client.request("POST", url, { body });
    if (answer?.status === 201 || answer?.status === 409) return;
    await client.sleep(1000);
  }
}

/** Reads an object until it fulfills a condition. */
async function until(client: ApiClient, url: string, condition: (text: string) => boolean): Promise<void> {
  for (;;) {
    const answer = await client.request("GET", url);
    if (answer?.status === 200 && condition(answer.text)) return;
    await client.sleep(1000);
  }
}
