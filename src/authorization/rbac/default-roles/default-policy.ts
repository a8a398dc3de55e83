import type { Vocabulary } from "../../../vocabulary/vocabulary.ts";
import type { PolicyRule, Rule, RoleRef, Subject } from "../policy.ts";
import { componentBindings, componentRoles } from "./component-roles.ts";
import { controllerBindings, controllerRoles } from "./controller-roles.ts";
import {
  policyNames,
  type BindingDeclaration,
  type ChangeDeclarations,
  type PolicyNames,
  type RoleDeclaration,
  allow,
  read,
  recordEvents,
} from "./declare.ts";
import { userBindings, userRoles, type UserRoleOptions } from "./user-roles.ts";

/** The metadata of a role or binding that reconciliation reads and writes. */
export interface PolicyMetadata {
  readonly name: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

/** A ClusterRole or Role. */
export interface RoleManifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: PolicyMetadata;
  readonly rules?: readonly PolicyRule[] | null | undefined;
  readonly aggregationRule?: AggregationRule | null | undefined;
}

/** The aggregation rule of a ClusterRole. */
export interface AggregationRule {
  readonly clusterRoleSelectors?: readonly object[] | null | undefined;
}

/** A ClusterRoleBinding or RoleBinding. */
export interface BindingManifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: PolicyMetadata;
  readonly subjects?: readonly Subject[] | null | undefined;
  readonly roleRef: RoleRef;
}

/** The default roles and bindings. */
export interface DefaultPolicy {
  readonly clusterRoles: readonly RoleManifest[];
  readonly clusterRoleBindings: readonly BindingManifest[];
  readonly roles: readonly RoleManifest[];
  readonly roleBindings: readonly BindingManifest[];
}

/** Cache by vocabulary and by {@link UserRoleOptions.selfSubjectReviews}. */
const cachedPolicies = new WeakMap<Vocabulary, Map<boolean, DefaultPolicy>>();

/** Options of {@link defaultPolicy}. */
export interface PolicyOptions extends UserRoleOptions {
  /** Undefined for the reference release. */
  readonly change?: ChangeDeclarations | undefined;
}

/**
 * Returns the default roles and bindings, by default those of the reference release. They have the bootstrapping label, and the auto-update annotation:
 * the server reconciles them at startup unless its value is "false".
 */
export function defaultPolicy(
  vocabulary: Vocabulary,
  options: PolicyOptions = { selfSubjectReviews: false },
): DefaultPolicy {
  if (options.change !== undefined) return buildPolicy(vocabulary, options);
  const byOption = cachedPolicies.get(vocabulary) ?? new Map<boolean, DefaultPolicy>();
  cachedPolicies.set(vocabulary, byOption);
  let policy = byOption.get(options.selfSubjectReviews);
  if (policy === undefined)
    byOption.set(options.selfSubjectReviews, (policy = buildPolicy(vocabulary, options)));
  return policy;
}

function buildPolicy(vocabulary: Vocabulary, options: PolicyOptions): DefaultPolicy {
  const names = policyNames(vocabulary);
  const reference = {
    roles: [...userRoles(names, options), ...componentRoles(names), ...controllerRoles(names)],
    bindings: [...userBindings(names), ...componentBindings(names), ...controllerBindings(names)],
  };
  const { change } = options;
  const { roles: clusterRoles, bindings } =
    change === undefined ? reference : change(reference, "cluster", names);
  const namespaced = namespacePolicies(names).map((policy) =>
    change === undefined || policy.namespace !== vocabulary.systemNamespace
      ? policy
      : { ...policy, ...change(policy, "system namespace", names) },
  );
  return {
    clusterRoles: clusterRoles.map((role) => roleManifest(role, "", names)),
    clusterRoleBindings: bindings.map((binding) => bindingManifest(binding, "", names)),
    roles: namespaced.flatMap(({ namespace, roles }) =>
      roles.map((role) => roleManifest(role, namespace, names)),
    ),
    roleBindings: namespaced.flatMap(({ namespace, bindings: namespaceBindings }) =>
      namespaceBindings.map((binding) => bindingManifest(binding, namespace, names)),
    ),
  };
}

function roleManifest(declaration: RoleDeclaration, namespace: string, names: PolicyNames): RoleManifest {
  const { name, rules, labels, aggregatesLabel } = declaration;
  const manifest = {
    apiVersion: `${names.rbac}/v1`,
    kind: namespace === "" ? "ClusterRole" : "Role",
    metadata: metadataOf(name, namespace, labels ?? {}, names),
    rules: rules.map(withoutEmptyLists),
  };
  if (aggregatesLabel === undefined) return manifest;
  return {
    ...manifest,
    aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [aggregatesLabel]: "true" } }] },
  };
}

function bindingManifest(
  declaration: BindingDeclaration,
  namespace: string,
  names: PolicyNames,
): BindingManifest {
  const { name, role, subjects } = declaration;
  const manifest = {
    apiVersion: `${names.rbac}/v1`,
    kind: namespace === "" ? "ClusterRoleBinding" : "RoleBinding",
    metadata: metadataOf(name, namespace, {}, names),
    roleRef: { apiGroup: names.rbac, kind: namespace === "" ? "ClusterRole" : "Role", name: role },
  };
  return subjects.length === 0
    ? manifest
    : { ...manifest, subjects: subjects.map((subject) => ({ ...subject })) };
}

function metadataOf(
  name: string,
  namespace: string,
  labels: Readonly<Record<string, string>>,
  { vocabulary }: PolicyNames,
): PolicyMetadata {
  return {
    name,
    ...(namespace === "" ? {} : { namespace }),
    labels: { [vocabulary.bootstrappingLabel]: "rbac-defaults", ...labels },
    annotations: { [vocabulary.autoUpdateAnnotation]: "true" },
  };
}

/** Returns the stored form of a rule, without empty lists. */
function withoutEmptyLists(rule: Rule): PolicyRule {
  const { verbs, ...rest } = rule;
  const nonEmpty = Object.entries(rest).filter(([, list]) => list.length > 0);
  return { verbs: [...verbs], ...Object.fromEntries(nonEmpty.map(([name, list]) => [name, [...list]])) };
}

/** The default Roles and RoleBindings of one namespace. */
interface NamespacePolicy {
  readonly namespace: string;
  readonly roles: readonly RoleDeclaration[];
  readonly bindings: readonly BindingDeclaration[];
}

/** Returns the default Roles and RoleBindings of the system namespace and the public namespace. */
function namespacePolicies(names: PolicyNames): NamespacePolicy[] {
  return [systemNamespace(names), publicNamespace(names)];
}

function systemNamespace(names: PolicyNames): NamespacePolicy {
  const { prefix, core, user, account, vocabulary } = names;
  const reader = "extension-apiserver-authentication-reader";
  const controller = (name: string): string => `${prefix}controller:${name}`;
  const lockRole = (component: string): string => `${prefix}:leader-locking-${component}`;
  const leaderElected = [names.controllerManager, names.scheduler];
  const bindToAccount = (name: string): BindingDeclaration => ({
    name: controller(name),
    role: controller(name),
    subjects: [account(name)],
  });
  return {
    namespace: vocabulary.systemNamespace,
    roles: [
      { name: reader, rules: [allow(read, core, "configmaps", ["extension-apiserver-authentication"])] },
      { name: controller("bootstrap-signer"), rules: [allow(read, core, "secrets")] },
      { name: controller("cloud-provider"), rules: [allow(`create ${read}`, core, "configmaps")] },
      {
        name: controller("token-cleaner"),
        rules: [allow(`${read} delete`, core, "secrets"), recordEvents(names)],
      },
      ...leaderElected.map((component) => ({
        name: lockRole(component),
        rules: [allow("watch", core, "configmaps"), allow("get update", core, "configmaps", [component])],
      })),
    ],
    bindings: [
      { name: `${prefix}:${reader}`, role: reader, subjects: leaderElected.map(user) },
      ...leaderElected.map((component) => ({
        name: lockRole(component),
        role: lockRole(component),
        subjects: [user(component), account(component)],
      })),
      bindToAccount("bootstrap-signer"),
      bindToAccount("cloud-provider"),
      bindToAccount("token-cleaner"),
    ],
  };
}

function publicNamespace(names: PolicyNames): NamespacePolicy {
  const { prefix, core, account, vocabulary } = names;
  const signer = `${prefix}controller:bootstrap-signer`;
  return {
    namespace: vocabulary.publicNamespace,
    roles: [
      {
        name: signer,
        rules: [
          allow(read, core, "configmaps"),
          allow("update", core, "configmaps", ["cluster-info"]),
          recordEvents(names),
        ],
      },
    ],
    bindings: [{ name: signer, role: signer, subjects: [account("bootstrap-signer")] }],
  };
}
