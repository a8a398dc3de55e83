import type { LabelSelectorObject } from "../../base/label-selector.ts";

/** A rule as a Role or ClusterRole holds it; absent and null lists are empty (spec: access review 2.4). */
export interface PolicyRule {
  readonly verbs: readonly string[] | null | undefined;
  readonly apiGroups?: readonly string[] | null | undefined;
  readonly resources?: readonly string[] | null | undefined;
  readonly resourceNames?: readonly string[] | null | undefined;
  readonly nonResourceURLs?: readonly string[] | null | undefined;
}

/** The part of a Role or ClusterRole that decides. */
export interface RoleObject {
  readonly rules?: readonly PolicyRule[] | null | undefined;
}

/** As {@link RoleObject}, with what tells where the rules of a ClusterRole come from. */
export interface StoredRole extends RoleObject {
  readonly metadata?: { readonly labels?: Readonly<Record<string, string>> | null | undefined } | undefined;
  readonly aggregationRule?:
    { readonly clusterRoleSelectors?: readonly LabelSelectorObject[] | null | undefined } | null | undefined;
}

/** Somebody whom a binding grants a role to. */
export interface Subject {
  /** `User`, `Group` or `ServiceAccount`; any other kind is an evaluation error. */
  readonly kind: string;
  readonly apiGroup?: string | undefined;
  readonly name: string;
  /** Of a service account; in a RoleBinding it defaults to the binding's namespace. */
  readonly namespace?: string | undefined;
}

/** Names the role that a binding grants. */
export interface RoleRef {
  readonly apiGroup?: string | undefined;
  /** `ClusterRole`, or `Role` for one in the binding's namespace. */
  readonly kind: string;
  readonly name: string;
}

/** The part of a RoleBinding or ClusterRoleBinding that decides. */
export interface BindingObject {
  readonly roleRef: RoleRef;
  readonly subjects?: readonly Subject[] | null | undefined;
}

/** A rule with every list present. */
export interface Rule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames: readonly string[];
  readonly nonResourceURLs: readonly string[];
}

const none: readonly string[] = [];

/** The same rules with every list present. */
export function completeRules(rules: readonly PolicyRule[] | null | undefined): Rule[] {
  return (rules ?? []).map((rule) => ({
    verbs: rule.verbs ?? none,
    apiGroups: rule.apiGroups ?? none,
    resources: rule.resources ?? none,
    resourceNames: rule.resourceNames ?? none,
    nonResourceURLs: rule.nonResourceURLs ?? none,
  }));
}
