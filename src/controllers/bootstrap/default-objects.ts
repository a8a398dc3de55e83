import { objectAs } from "../../schema/api-object.ts";
import { groupVersion } from "../../vocabulary/names.ts";
import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import { StatusError } from "../../base/status-error.ts";
import {
  defaultPolicy,
  type PolicyOptions,
  type BindingManifest,
  type RoleManifest,
} from "../../authorization/rbac/default-roles/default-policy.ts";
import {
  createSplitBinding,
  reconcileBinding,
  reconcileClusterRole,
  type Reconciliation,
} from "../../authorization/rbac/reconcile.ts";
import type { PolicyRule } from "../../kinds/rbac/policy-rule.ts";
import type { ClusterRole } from "../../kinds/rbac/roles.ts";
import { systemClasses } from "../../kinds/scheduling/priority-class.ts";
import type { Client, NewObject, ObjectReference } from "../../resources/clients/client.ts";
import { aggregate } from "../cluster-role-aggregation.ts";
import { retryRaced } from "../create-or-update.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";

/**
 * Creates the system namespaces.
 *
 * @param limits resolves when the LimitRange of the namespace `default` exists, if it is to have one.
 */
export async function ensureSystemNamespaces(
  client: Client,
  { systemNamespace, publicNamespace, nodeLeaseNamespace }: Vocabulary,
  limits: Promise<void>,
): Promise<void> {
  const create = (name: string) => createIfAbsent(client, namespaceNamed(name));
  const others = [systemNamespace, publicNamespace, nodeLeaseNamespace];
  await Promise.all([limits.then(() => create("default")), ...others.map(create)]);
}

/**
 * Creates the LimitRange by which containers in the namespace `default` request 0.1 CPU (spec: conventions 4.13), if
 * the namespace doesn't exist yet. The namespace is created afterwards: if the server ends in between, its next start
 * creates both, and a LimitRange that a user deletes isn't created again.
 */
export async function ensureDefaultCpuRequest(client: Client): Promise<void> {
  const namespace = "default";
  if ((await client.find({ apiVersion: "v1", kind: "Namespace", name: namespace })) !== undefined) return;
  await createIfAbsent(client, {
    apiVersion: "v1",
    kind: "LimitRange",
    metadata: { name: "limits", namespace },
    spec: { limits: [{ type: "Container", defaultRequest: { cpu: "100m" } }] },
  });
}

/** Creates the priority classes of system pods. */
export async function ensurePriorityClasses(client: Client, { groupSuffix }: Vocabulary): Promise<void> {
  const classes = [...systemClasses].map(([name, value]) => ({
    apiVersion: groupVersion(groupSuffix, "scheduling", "v1"),
    kind: "PriorityClass",
    metadata: { name },
    value,
    description:
      name === "system-node-critical"
        ? "For pods of the system that must stay on their node."
        : "For pods of the system that must run, on one node or another.",
  }));
  await Promise.all(classes.map((one) => createIfAbsent(client, one)));
}

/** Returns the manifest of a namespace. */
export function namespaceNamed(name: string): NewObject {
  return { apiVersion: "v1", kind: "Namespace", metadata: { name } };
}

/** Creates an object unless an object with its name exists. */
export async function createIfAbsent(client: Client, object: NewObject): Promise<void> {
  try {
    await client.add(object);
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    if (error.reason === "AlreadyExists") return;
    // Admission may reject the creation of an object that already exists.
    const { apiVersion, kind, metadata } = object;
    const { name = "", namespace = "" } = metadata as { name?: string; namespace?: string };
    const existing =
      error.reason === "Forbidden" && (await client.find({ apiVersion, kind, name, namespace }));
    if (existing === false || existing === undefined) throw error;
  }
}

/**
 * Adds what is missing in the default roles and bindings of this release, and removes nothing. Objects whose
 * auto-update annotation is `false` aren't changed.
 *
 * @param namespaces resolves when the system namespaces exist.
 */
export async function reconcileDefaultPolicy(
  client: Client,
  vocabulary: Vocabulary,
  { namespaces, ...options }: PolicyOptions & { readonly namespaces: Promise<void> },
): Promise<void> {
  const policy = defaultPolicy(vocabulary, options);
  let aggregated: ReadonlyMap<string, PolicyRule[]> | undefined;
  // A new aggregated role is created with its rules, so that the default roles grant their permissions as soon as the
  // server is ready.
  const rulesOf = ({ metadata }: RoleManifest) =>
    (aggregated ??= aggregatedRules(policy.clusterRoles)).get(metadata.name)!;
  const role = (expected: RoleManifest) =>
    reconcileObject<RoleManifest>(client, expected, (existing) =>
      existing === undefined && expected.aggregationRule !== undefined
        ? { action: "create", object: { ...expected, rules: rulesOf(expected) } }
        : reconcileClusterRole(expected, existing, vocabulary),
    );
  const { systemPrefix } = vocabulary;
  // The role public-info-viewer was a part of the role discovery.
  const split = `${systemPrefix}public-info-viewer`;
  const binding = (expected: BindingManifest) =>
    reconcileObject<BindingManifest>(client, expected, async (existing) => {
      if (existing === undefined && expected.metadata.name === split) {
        const source = await client.find({ ...expected, name: `${systemPrefix}discovery`, namespace: "" });
        if (source !== undefined)
          return createSplitBinding(expected, objectAs<BindingManifest>(source), vocabulary);
      }
      return reconcileBinding(expected, existing, vocabulary);
    });
  await Promise.all([
    ...policy.clusterRoles.map(role),
    ...policy.clusterRoleBindings.map(binding),
    namespaces.then(() => Promise.all([...policy.roles.map(role), ...policy.roleBindings.map(binding)])),
  ]);
}

/** Returns the rules that the controller `clusterrole-aggregation` would give to the aggregated roles, by role name. */
function aggregatedRules(roles: readonly RoleManifest[]): ReadonlyMap<string, PolicyRule[]> {
  let current = objectAs<readonly ClusterRole[]>(roles);
  // An aggregated role may select another aggregated role, whose rules are complete one round earlier.
  for (let before = ""; before !== JSON.stringify(current);) {
    before = JSON.stringify(current);
    const all = current;
    current = all.map((one) =>
      one.aggregationRule === undefined ? one : { ...one, rules: aggregate(one, all) },
    );
  }
  return new Map(current.map(({ metadata, rules = [] }) => [metadata.name!, rules]));
}

/** The number of attempts for an object if other servers reconcile it at the same time. */
const maxAttempts = 5;

/** The reference of an object in the manifests of roles and bindings. */
interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

/** Writes the change that `reconcile` returns, if any. */
async function reconcileObject<M extends Manifest>(
  client: Client,
  expected: M,
  reconcile: (existing: M | undefined) => MaybePromise<Reconciliation<M> | undefined>,
): Promise<void> {
  const { apiVersion, kind, metadata } = expected;
  const { name, namespace = "" } = metadata;
  const reference: ObjectReference = { apiVersion, kind, name, namespace };
  await retryRaced(maxAttempts, async () => {
    const existing = await client.find(reference);
    const change = await reconcile(existing as M | undefined);
    if (change === undefined) return;
    await write(client, reference, change as Reconciliation<unknown>, existing?.metadata.uid);
  });
}

async function write(
  client: Client,
  reference: ObjectReference,
  { action, object }: Reconciliation<unknown>,
  uid: string | undefined,
): Promise<void> {
  const manifest = object as NewObject;
  if (action === "update") return void (await client.update(manifest));
  if (action === "recreate") await client.delete(reference, uid === undefined ? {} : { uid });
  await client.add(manifest);
}
