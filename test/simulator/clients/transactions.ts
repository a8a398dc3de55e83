import { acknowledge } from "../laws/reads.ts";
import { jointName, type Transactions } from "../laws/transactions.ts";
import type { ApiClient } from "./api-client.ts";
import { roleUpdate } from "./views.ts";
import { teamLabel, workNamespace, workPrefix } from "./writer.ts";

/** Number of these objects. */
const jointObjects = 6;

const url = "/apis/transactions.k8s.io/v1alpha1/transactions";

/**
 * Writes several objects in each transaction, which other clients write too, and checks each answer.
 *
 * @param names number of the names that a changed role may grant.
 */
export async function runTransactions(
  client: ApiClient,
  transactions: Transactions,
  names: number,
  meanPauseMs: number,
): Promise<void> {
  const { world, dice } = client;
  for (let count = 0; world.isActive; count++) {
    const token = `${client.actor}-${count}`;
    const chosen = new Set(Array.from({ length: dice.pick([2, 3, 5]) }, () => dice.below(jointObjects)));
    const objects = [...chosen].map((index) => `${jointName}${index}`);
    const operations: object[] = objects.map((name) => operationOn(client, name, token));
    // Grants and objects change at the same revision.
    if (dice.chance(0.3)) operations.push(roleUpdate(client, names));
    transactions.sent(token, objects.length);
    const body = { apiVersion: "transactions.k8s.io/v1alpha1", kind: "Transaction", spec: { operations } };
    const answer = await client.request("POST", url, { body, once: true });
    if (answer?.status === 201) {
      const { status } = JSON.parse(answer.text) as { status: { resourceVersion?: string } };
      const revision = acknowledge(world, status.resourceVersion);
      const keys = objects.map((name) => `${workPrefix}${name}`);
      transactions.acknowledged(token, keys, revision, answer.server.name);
    }
    await client.pause(meanPauseMs);
  }
}

function operationOn({ dice, world }: ApiClient, name: string, token: string): object {
  const exists = world.history.at(`${workPrefix}${name}`, world.history.revision) !== undefined;
  const named = { apiVersion: "v1", kind: "ConfigMap" };
  const metadata = { name, namespace: workNamespace, labels: { [teamLabel]: dice.pick(["a", "b"]) } };
  const object = { ...named, metadata, data: { transaction: token } };
  if (!exists) return { verb: "create", object };
  if (dice.chance(0.2)) return { verb: "delete", ...named, namespace: workNamespace, name };
  const patch = { metadata: { labels: metadata.labels }, data: { transaction: token } };
  return dice.chance(0.5)
    ? { verb: "update", object }
    : {
        verb: "patch",
        ...named,
        namespace: workNamespace,
        name,
        patchType: "application/merge-patch+json",
        patch,
      };
}
