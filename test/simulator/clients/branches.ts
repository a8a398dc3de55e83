import { checkBranchList, checkStart, type Branch } from "../laws/branches.ts";
import type { ApiClient } from "./api-client.ts";
import { workNamespace, workPrefix } from "./writer.ts";

const workspaces = "/apis/tenancy.k8s.io/v1alpha1/workspaces";
/** Number of requests in one branch: it is in use for longer than history is retained. */
const requests = 30;

interface Workspace {
  readonly metadata: { readonly uid: string };
  readonly status: { readonly bases: readonly { readonly resourceVersion: string }[] };
}

/** Works in one branch after the other, and checks each list against the state of the base and the own writes. */
export async function runBranchUser(client: ApiClient, names: number, meanPauseMs: number): Promise<void> {
  const { world } = client;
  for (let count = 0; world.isActive; count++) {
    const branch = await create(client, `branch-${count}`);
    for (let at = 0; branch !== undefined && at < requests && world.isActive; at++) {
      await requestIn(client, branch, names);
      await client.pause(meanPauseMs);
    }
    await client.request("DELETE", `${workspaces}/branch-${count}`);
    await client.pause(meanPauseMs);
  }
}

async function create(client: ApiClient, name: string): Promise<Branch | undefined> {
  const body = { metadata: { name }, spec: { from: {} } };
  const answer = await client.request("POST", workspaces, { body, once: true });
  if (answer?.status !== 201) return undefined;
  const { metadata, status } = JSON.parse(answer.text) as Workspace;
  const branch = { name, uid: metadata.uid, start: Number(status.bases[0]!.resourceVersion) };
  checkStart(client.world, branch, answer);
  return branch;
}

async function requestIn(client: ApiClient, branch: Branch, names: number): Promise<void> {
  const { world, dice } = client;
  const collection = `/clusters/${branch.name}/api/v1/namespaces/${workNamespace}/configmaps`;
  const name = `object-${dice.below(names)}`;
  const url = `${collection}/${name}`;
  const metadata = { name };
  const data = { token: `${client.actor} ${world.history.revision}` };
  const contentType = "application/merge-patch+json";
  switch (dice.below(6)) {
    case 0:
      await client.request("POST", collection, { body: { metadata, data } });
      return;
    case 1:
      await client.request("PATCH", url, { body: { data }, contentType });
      return;
    case 2:
      await client.request("DELETE", url);
      return;
    default:
      checkBranchList(world, branch, workPrefix, await client.request("GET", collection));
  }
}
