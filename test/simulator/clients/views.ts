import type { ApiObject } from "../../../src/schema/kind.ts";
import { checkWrite } from "../laws/writes.ts";
import type { World } from "../world.ts";
import { ApiClient } from "./api-client.ts";
import { Cache, type CacheSource } from "./cache.ts";
import { workNamespace, workPrefix } from "./writer.ts";

const group = "rbac.authorization.k8s.io";
const groupUrl = `/apis/${group}/v1/namespaces/${workNamespace}`;
const roleName = "viewed";
const roleKey = `/${group}/roles/${workNamespace}/${roleName}`;
const bindingKey = `/${group}/rolebindings/${workNamespace}/${roleName}`;

/** The user whose views are followed; its only rights are those of the role. */
const viewer = "viewer";

interface Role extends ApiObject {
  readonly rules:
    | null
    | readonly {
        readonly verbs: readonly string[];
        readonly resourceNames?: readonly string[];
      }[];
}

/** Changes what the viewer may get: names and all objects by a role, everything at once by its binding. */
export async function runGranter(client: ApiClient, names: number, meanPauseMs: number): Promise<void> {
  const { world, dice } = client;
  for (; world.isActive; await client.pause(meanPauseMs)) {
    if (dice.chance(0.3)) await toggleBinding(client);
    else await changeRole(client, names);
  }
}

/** An operation of a transaction that changes the names that the viewer may get, if the role exists. */
export function roleUpdate(client: ApiClient, names: number): object {
  const object = newRole(client, names);
  return {
    verb: "update",
    object: { ...object, metadata: { ...object.metadata, namespace: workNamespace } },
  };
}

/** The role with random rules. */
function newRole({ dice }: ApiClient, names: number) {
  const all = Array.from({ length: names }, (_, index) => `object-${index}`);
  const resourceNames = all.filter(() => dice.chance(0.5));
  const rule = { apiGroups: [""], resources: ["configmaps"] };
  const rules = dice.chance(0.3)
    ? [{ ...rule, verbs: ["list"] }]
    : resourceNames.length === 0
      ? []
      : [{ ...rule, verbs: ["get"], resourceNames }];
  return { apiVersion: `${group}/v1`, kind: "Role", metadata: { name: roleName }, rules };
}

async function changeRole(client: ApiClient, names: number): Promise<void> {
  const { world } = client;
  const body = newRole(client, names);
  const isThere = world.history.at(roleKey, world.history.revision) !== undefined;
  const answer = isThere
    ? await client.request("PUT", `${groupUrl}/roles/${roleName}`, { body })
    : await client.request("POST", `${groupUrl}/roles`, { body });
  checkWrite(world, roleKey, answer);
}

async function toggleBinding(client: ApiClient): Promise<void> {
  const { world } = client;
  const url = `${groupUrl}/rolebindings`;
  if (world.history.at(bindingKey, world.history.revision) !== undefined) {
    await client.request("DELETE", `${url}/${roleName}`);
    return;
  }
  const body = {
    apiVersion: `${group}/v1`,
    kind: "RoleBinding",
    metadata: { name: roleName },
    subjects: [{ kind: "User", apiGroup: group, name: viewer }],
    roleRef: { apiGroup: group, kind: "Role", name: roleName },
  };
  checkWrite(world, bindingKey, await client.request("POST", url, { body }));
}

const collection = `/api/v1/namespaces/${workNamespace}/configmaps?view=mine`;

const viewWatch: Omit<CacheSource, "check"> = {
  listUrl: collection,
  streamUrl: (position) => `${collection}&watch=true&allowWatchBookmarks=true&resourceVersion=${position}`,
};

const watched = ["configmaps", "secrets"].map(
  (resource) => `watch=${encodeURIComponent(`${resource}?namespace=${workNamespace}`)}`,
);

const viewSubscription: Omit<CacheSource, "check"> = {
  streamUrl: (position = "0") => `/subscriptions?${watched.join("&")}&view=mine&resourceVersion=${position}`,
};

/** Creates the clients that follow the view of the user, by a watch and by a subscription. */
export function viewCaches(world: World): readonly Cache[] {
  return [viewWatch, viewSubscription, viewWatch, viewSubscription].map(
    (source, index) =>
      new Cache(new ApiClient(world, `viewer-${index}`, viewer), {
        ...source,
        check: (cache, revision) => checkView(world, cache, revision),
      }),
  );
}

/** Checks that a cache has the objects that the user may get at a revision, each in its state then. */
function checkView(world: World, cache: Cache, at: number): void {
  const expected = [...world.history.stateAt(workPrefix, at).values()]
    .filter(({ object }) => isGranted(world, object.metadata.name!, at))
    .map(({ object, revision }) => `${object.metadata.name}@${revision}`)
    .toSorted();
  const present = [...cache.objects.values()].map(
    ({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`,
  );
  const actual = present.toSorted();
  if (actual.join() === expected.join()) return;
  world.violations.add(
    "views are complete",
    `${cache.name} has at ${at} ${actual.join()} instead of ${expected.join()}`,
  );
}

function isGranted({ history }: World, name: string, at: number): boolean {
  const role = history.at(roleKey, at)?.object as Role | undefined;
  const rules = history.at(bindingKey, at) === undefined ? [] : (role?.rules ?? []);
  return rules.some(
    ({ verbs, resourceNames }) => verbs.includes("list") || resourceNames?.includes(name) === true,
  );
}
