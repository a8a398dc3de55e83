import type { LabelSelectorObject } from "../../base/selectors/label-selector.ts";

/** A rule in a Role or ClusterRole. Absent and null lists are empty (spec: access review 2.4). */
export interface PolicyRule {
  readonly verbs: readonly string[] | null | undefined;
  readonly apiGroups?: readonly string[] | null | undefined;
  readonly resources?: readonly string[] | null | undefined;
  readonly resourceNames?: readonly string[] | null | undefined;
  readonly nonResourceURLs?: readonly string[] | null | undefined;
}

/** The fields of a Role or ClusterRole that authorization uses. */
export interface RoleObject {
  readonly rules?: readonly PolicyRule[] | null | undefined;
}

/** A {@link RoleObject} with the labels and the aggregation rule of a ClusterRole. */
export interface StoredRole extends RoleObject {
  readonly metadata?: { readonly labels?: Readonly<Record<string, string>> | null | undefined } | undefined;
  readonly aggregationRule?:
    { readonly clusterRoleSelectors?: readonly LabelSelectorObject[] | null | undefined } | null | undefined;
}

/** A subject of a binding. */
export interface Subject {
  /** `User`, `Group` or `ServiceAccount`; any other kind is an evaluation error. */
  readonly kind: string;
  readonly apiGroup?: string | undefined;
  readonly name: string;
  /** Namespace of a service account; defaults to the namespace of a RoleBinding. */
  readonly namespace?: string | undefined;
}

/** Reference to the role of a binding. */
export interface RoleRef {
  readonly apiGroup?: string | undefined;
  /** `ClusterRole`, or `Role` in the namespace of the binding. */
  readonly kind: string;
  readonly name: string;
}

/** The fields of a RoleBinding or ClusterRoleBinding that authorization uses. */
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

/** Replaces absent and null lists by empty ones. */
export function completeRules(rules: readonly PolicyRule[] | null | undefined): Rule[] {
  return (rules ?? []).map((rule) => ({
    verbs: rule.verbs ?? none,
    apiGroups: rule.apiGroups ?? none,
    resources: rule.resources ?? none,
    resourceNames: rule.resourceNames ?? none,
    nonResourceURLs: rule.nonResourceURLs ?? none,
  }));
}
