import type { ApiObject } from "../../../src/schema/kind.ts";
import { checkList } from "../laws/reads.ts";
import { checkDelete, checkWrite } from "../laws/writes.ts";
import type { World } from "../world.ts";
import type { Answer, ApiClient } from "./api-client.ts";

/** Namespace with a quota of pods. */
export const podNamespace = "pods";
/** The store's prefix of the pods. */
const podPrefix = `/core/pods/${podNamespace}/`;
/** Maximum number of pods by the quota. */
export const maxPods = 3;

const url = `/api/v1/namespaces/${podNamespace}/pods`;
const node = "node-0";

/** A pod with the fields that the simulation reads. */
interface Pod extends ApiObject {
  readonly status?: { readonly phase?: string };
}

/** The pods whose removal the node agent has requested, by uid: nothing else may remove a pod of its node. */
export type FinalDeletes = Set<string>;

/** Creates pods, often several at a time through different servers, and deletes them with a grace period. */
export async function runPodUser(client: ApiClient, meanPauseMs: number): Promise<void> {
  const { world, dice } = client;
  for (let count = 0; world.isActive; count++) {
    if (dice.chance(0.5)) {
      const burst = Array.from({ length: dice.pick([1, 2, 5]) }, (_, index) =>
        createPod(client, `${client.actor}-${count}-${index}`),
      );
      await Promise.all(burst);
    } else {
      const list = checkList(world, podPrefix, await client.request("GET", url));
      const running = (list?.items ?? []).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
      if (running.length > 0) await deletePod(client, dice.pick(running));
    }
    await client.pause(meanPauseMs);
  }
}

/** Creates a pod, and checks the answer. */
export async function createPod(client: ApiClient, name: string): Promise<Answer | undefined> {
  const spec = {
    nodeName: node,
    automountServiceAccountToken: false,
    containers: [{ name: "main", image: "image" }],
  };
  const body = { apiVersion: "v1", kind: "Pod", metadata: { name }, spec };
  const answer = await client.request("POST", url, { body });
  checkWrite(client.world, `${podPrefix}${name}`, answer);
  return answer;
}

async function deletePod(client: ApiClient, { metadata }: ApiObject): Promise<void> {
  const gracePeriodSeconds = client.dice.pick([5, 30]);
  const body = {
    apiVersion: "v1",
    kind: "DeleteOptions",
    gracePeriodSeconds,
    // A pod that has ended would be removed at once.
    preconditions: { uid: metadata.uid, resourceVersion: metadata.resourceVersion },
  };
  const answer = await client.request("DELETE", `${url}/${metadata.name!}`, { body });
  checkDelete(client.world, `${podPrefix}${metadata.name!}`, metadata.uid!, answer);
}

/** Does what the agent of a node does: reports that pods run, that terminating ones have ended, and then removes them. */
export async function runNodeAgent(client: ApiClient, finalDeletes: FinalDeletes): Promise<never> {
  const { world } = client;
  for (;;) {
    const answer = await client.request("GET", `${url}?fieldSelector=spec.nodeName%3D${node}`);
    const list = checkList(world, podPrefix, answer);
    for (const pod of (list?.items ?? []) as Pod[]) await advance(client, pod, finalDeletes);
    await client.pause(10_000);
  }
}

async function advance(client: ApiClient, pod: Pod, finalDeletes: FinalDeletes): Promise<void> {
  const { metadata, status } = pod;
  const path = `${url}/${metadata.name!}`;
  const key = `${podPrefix}${metadata.name!}`;
  const phase = metadata.deletionTimestamp === undefined ? "Running" : "Succeeded";
  if (status?.phase !== phase) {
    const body = { ...pod, status: { phase } };
    checkWrite(client.world, key, await client.request("PUT", `${path}/status`, { body }));
    return;
  }
  if (phase === "Running") return;
  finalDeletes.add(metadata.uid!);
  const preconditions = { uid: metadata.uid };
  const body = { apiVersion: "v1", kind: "DeleteOptions", gracePeriodSeconds: 0, preconditions };
  checkDelete(client.world, key, metadata.uid!, await client.request("DELETE", path, { body }));
}

/** Watches every change of pods: the quota holds at each revision, and only the node agent removes pods. */
export function checkPods(world: World, finalDeletes: FinalDeletes): void {
  let count = 0;
  // A terminating pod stops counting when its grace period is over by the clock of a server, which may jump.
  const counts = ({ object }: { readonly object: ApiObject }): boolean =>
    (object as Pod).status?.phase !== "Succeeded" && object.metadata.deletionTimestamp === undefined;
  world.history.listen((change) => {
    if (!change.key.startsWith(podPrefix)) return;
    const isCounted = !change.isDeletion && counts(change);
    const wasCounted = change.before !== undefined && counts(change.before);
    count += Number(isCounted) - Number(wasCounted);
    if (isCounted && !wasCounted && count > maxPods)
      world.violations.add(
        "quotas hold",
        `${change.key} at ${change.revision} is pod ${count} of ${maxPods}`,
      );
    if (change.isDeletion && !finalDeletes.has(change.object.metadata.uid!))
      world.violations.add(
        "terminating pods remain until their node agent removes them",
        `${change.key} was removed at ${change.revision}`,
      );
  });
}
