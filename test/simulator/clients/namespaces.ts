import type { World } from "../world.ts";
import type { ApiClient } from "./api-client.ts";

/** Prefix of the names of namespaces that are created and deleted. */
const namePrefix = "temporary-";

/** Creates namespaces with objects that own each other, and deletes owners and namespaces. */
export async function runNamespaceUser(client: ApiClient, meanPauseMs: number): Promise<void> {
  const { world, dice } = client;
  for (let count = 0; world.isActive; count++) {
    const name = `${namePrefix}${count}`;
    if ((await createOwned(client, name)) === undefined) {
      await client.pause(5000);
      const propagationPolicy = dice.pick(["Background", "Foreground", "Orphan"]);
      const body = { apiVersion: "v1", kind: "DeleteOptions", propagationPolicy };
      await client.request("DELETE", `/api/v1/namespaces/${name}/configmaps/owner`, { body });
      await client.pause(5000);
      if (dice.chance(0.7)) await deleteUntilAnswered(client, `/api/v1/namespaces/${name}`);
    }
    await client.pause(meanPauseMs);
  }
}

/**
 * Creates a namespace with an object, and others that it owns.
 *
 * @returns why an object couldn't be created; undefined if all were.
 */
export async function createOwned(client: ApiClient, name: string): Promise<string | undefined> {
  const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name } };
  const made = await client.request("POST", "/api/v1/namespaces", { body: namespace });
  if (made?.status !== 201) return `${made?.status} for a namespace`;
  const url = `/api/v1/namespaces/${name}/configmaps`;
  const owner = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "owner" } };
  const answer = await client.request("POST", url, { body: owner });
  if (answer?.status !== 201) return `${answer?.status} for an owner`;
  const { uid } = (JSON.parse(answer.text) as { metadata: { uid: string } }).metadata;
  const ownerReferences = [
    { apiVersion: "v1", kind: "ConfigMap", name: "owner", uid, blockOwnerDeletion: true },
  ];
  for (const dependent of ["first", "second"]) {
    const metadata = { name: dependent, ownerReferences };
    const body = { apiVersion: "v1", kind: "ConfigMap", metadata };
    const owned = await client.request("POST", url, { body });
    if (owned?.status !== 201) return `${owned?.status} for a dependent`;
  }
  return undefined;
}

async function deleteUntilAnswered(client: ApiClient, url: string): Promise<void> {
  for (let attempt = 0; attempt < 20; attempt++) {
    const answer = await client.request("DELETE", url);
    if (answer !== undefined && answer.status < 500 && answer.status !== 429) return;
    await client.sleep(2000);
  }
}

/** Checks that controllers have reached their fixed point: nothing terminates, and dependents of deleted owners are gone. */
export function checkNamespaces({ history, violations }: World): void {
  const namespaces = history.present("/core/namespaces/");
  const names = new Set(namespaces.map(({ metadata }) => metadata.name));
  for (const { metadata } of namespaces) {
    if (metadata.deletionTimestamp !== undefined)
      violations.add("controllers reach the fixed point", `namespace ${metadata.name!} still terminates`);
  }
  const objects = history.present("/core/configmaps/");
  const uids = new Set(objects.map(({ metadata }) => metadata.uid));
  for (const { metadata } of objects) {
    const where = `configmap ${metadata.namespace!}/${metadata.name!}`;
    if (!names.has(metadata.namespace!))
      violations.add("controllers reach the fixed point", `${where} is in a namespace that was removed`);
    if (metadata.deletionTimestamp !== undefined)
      violations.add("controllers reach the fixed point", `${where} still terminates`);
    const owners = metadata.ownerReferences ?? [];
    if (owners.length > 0 && !owners.some(({ uid }) => uids.has(uid)))
      violations.add("controllers reach the fixed point", `${where} has lost its owner`);
  }
}
