import type { Vocabulary } from "../../../vocabulary/vocabulary.ts";
import type { PolicyRule, Rule, RoleRef, Subject } from "../policy.ts";
import { componentBindings, componentRoles } from "./component-roles.ts";
import { controllerBindings, controllerRoles } from "./controller-roles.ts";
import { wordsOf, type BindingDeclaration, type RoleDeclaration, type Words } from "./declare.ts";
import { namespacePolicies } from "./namespace-roles.ts";
import { userBindings, userRoles, type UserRoleOptions } from "./user-roles.ts";

/** Metadata of a role or binding, as far as defaults and their upkeep read and write it. */
export interface PolicyMetadata {
  readonly name: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

/** A whole ClusterRole or Role. */
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

/** A whole ClusterRoleBinding or RoleBinding. */
export interface BindingManifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: PolicyMetadata;
  readonly subjects?: readonly Subject[] | null | undefined;
  readonly roleRef: RoleRef;
}

/** Everything that is granted before anybody grants anything. */
export interface DefaultPolicy {
  readonly clusterRoles: readonly RoleManifest[];
  readonly clusterRoleBindings: readonly BindingManifest[];
  readonly roles: readonly RoleManifest[];
  readonly roleBindings: readonly BindingManifest[];
}

/** What was made before, by vocabulary, without and with the alpha review. */
const made = new WeakMap<Vocabulary, Map<boolean, DefaultPolicy>>();

/**
 * The roles and bindings that a new cluster starts with, those of the reference release. Each is marked by the
 * bootstrapping label, and by an annotation that has it completed at every start until its value is set to "false".
 */
export function defaultPolicy(
  vocabulary: Vocabulary,
  options: UserRoleOptions = { selfSubjectReviews: false },
): DefaultPolicy {
  const known = made.get(vocabulary) ?? new Map<boolean, DefaultPolicy>();
  made.set(vocabulary, known);
  let policy = known.get(options.selfSubjectReviews);
  if (policy === undefined) known.set(options.selfSubjectReviews, (policy = makePolicy(vocabulary, options)));
  return policy;
}

function makePolicy(vocabulary: Vocabulary, options: UserRoleOptions): DefaultPolicy {
  const words = wordsOf(vocabulary);
  const clusterRoles = [...userRoles(words, options), ...componentRoles(words), ...controllerRoles(words)];
  const bindings = [...userBindings(words), ...componentBindings(words), ...controllerBindings(words)];
  const namespaced = namespacePolicies(words);
  return {
    clusterRoles: clusterRoles.map((role) => roleManifest(role, "", words)),
    clusterRoleBindings: bindings.map((binding) => bindingManifest(binding, "", words)),
    roles: namespaced.flatMap(({ namespace, roles }) =>
      roles.map((role) => roleManifest(role, namespace, words)),
    ),
    roleBindings: namespaced.flatMap(({ namespace, bindings: own }) =>
      own.map((binding) => bindingManifest(binding, namespace, words)),
    ),
  };
}

function roleManifest(declaration: RoleDeclaration, namespace: string, words: Words): RoleManifest {
  const { name, rules, labels, aggregatesLabel } = declaration;
  const manifest = {
    apiVersion: `${words.rbac}/v1`,
    kind: namespace === "" ? "ClusterRole" : "Role",
    metadata: metadataOf(name, namespace, labels ?? {}, words),
    rules: rules.map(withoutEmptyLists),
  };
  if (aggregatesLabel === undefined) return manifest;
  return {
    ...manifest,
    aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [aggregatesLabel]: "true" } }] },
  };
}

function bindingManifest(declaration: BindingDeclaration, namespace: string, words: Words): BindingManifest {
  const { name, role, subjects } = declaration;
  const manifest = {
    apiVersion: `${words.rbac}/v1`,
    kind: namespace === "" ? "ClusterRoleBinding" : "RoleBinding",
    metadata: metadataOf(name, namespace, {}, words),
    roleRef: { apiGroup: words.rbac, kind: namespace === "" ? "ClusterRole" : "Role", name: role },
  };
  return subjects.length === 0
    ? manifest
    : { ...manifest, subjects: subjects.map((subject) => ({ ...subject })) };
}

function metadataOf(
  name: string,
  namespace: string,
  labels: Readonly<Record<string, string>>,
  { vocabulary }: Words,
): PolicyMetadata {
  return {
    name,
    ...(namespace === "" ? {} : { namespace }),
    labels: { [vocabulary.bootstrappingLabel]: "rbac-defaults", ...labels },
    annotations: { [vocabulary.autoUpdateAnnotation]: "true" },
  };
}

/** A rule as it is stored: lists that say nothing are left out. */
function withoutEmptyLists(rule: Rule): PolicyRule {
  const { verbs, ...rest } = rule;
  const given = Object.entries(rest).filter(([, list]) => list.length > 0);
  return { verbs: [...verbs], ...Object.fromEntries(given.map(([name, list]) => [name, [...list]])) };
}
