import { StatusError } from "../base/status-error.ts";
import { defaultPolicy } from "../authorization/rbac/default-roles/default-policy.ts";
import { reconcileBinding, reconcileRole } from "../authorization/rbac/default-roles/reconcile.ts";
import type { Client, NewObject, ObjectReference } from "../resources/client.ts";
import type { ApiObject } from "../schema/kind.ts";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";

/** Creates the namespaces that a server always has. */
export async function ensureSystemNamespaces(client: Client, vocabulary: Vocabulary): Promise<void> {
  const names = ["default", vocabulary.systemNamespace, vocabulary.publicNamespace];
  await Promise.all(names.map((name) => createUnlessThere(client, namespaceNamed(name))));
}

function namespaceNamed(name: string): NewObject {
  return { apiVersion: "v1", kind: "Namespace", metadata: { name } };
}

async function createUnlessThere(client: Client, object: NewObject): Promise<void> {
  try {
    await client.create(object);
  } catch (error) {
    if (!(error instanceof StatusError) || error.reason !== "AlreadyExists") throw error;
  }
}

/**
 * Brings the default roles and bindings to what this release gives them, adding what is missing and taking nothing
 * away; those that an administrator marked to be kept are left alone.
 */
export async function reconcileDefaultPolicy(client: Client, vocabulary: Vocabulary): Promise<void> {
  const { clusterRoles, clusterRoleBindings, roles, roleBindings } = defaultPolicy(vocabulary);
  const one = (expected: ApiObject, reconcile: Reconcile) => reconcileOne(client, expected, reconcile);
  await Promise.all([...clusterRoles, ...roles].map((role) => one(role, reconcileRole as Reconcile)));
  await Promise.all(
    [...clusterRoleBindings, ...roleBindings].map((binding) => one(binding, reconcileBinding as Reconcile)),
  );
}

/** What has to be done to an existing object. */
type Reconcile = (
  expected: ApiObject,
  existing: ApiObject,
) => { readonly object: ApiObject; readonly recreate: boolean } | undefined;

/** How often an object is tried again that another server reconciles at the same time. */
const attempts = 5;

async function reconcileOne(client: Client, expected: ApiObject, reconcile: Reconcile): Promise<void> {
  const { apiVersion, kind, metadata } = expected;
  const reference: ObjectReference = {
    apiVersion,
    kind,
    name: metadata.name!,
    ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
  };
  for (let attempt = 1; ; attempt++) {
    try {
      return await bring(client, reference, expected, reconcile);
    } catch (error) {
      const raced = error instanceof StatusError && ["AlreadyExists", "Conflict", "NotFound"].includes(error.reason);
      if (!raced || attempt === attempts) throw error;
    }
  }
}

async function bring(
  client: Client,
  reference: ObjectReference,
  expected: ApiObject,
  reconcile: Reconcile,
): Promise<void> {
  const existing = await client.find(reference);
  if (existing === undefined) return void (await client.create(expected as unknown as NewObject));
  const change = reconcile(expected, existing);
  if (change === undefined) return;
  if (!change.recreate) return void (await client.update(change.object as unknown as NewObject));
  await client.delete(reference, { uid: existing.metadata.uid! });
  await client.create(change.object as unknown as NewObject);
}
