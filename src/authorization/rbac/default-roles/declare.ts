import { apiGroup, labelKey } from "../../../vocabulary/names.ts";
import type { Vocabulary } from "../../../vocabulary/vocabulary.ts";
import type { Rule, Subject } from "../policy.ts";

/** Declaration of a default ClusterRole or Role. */
export interface RoleDeclaration {
  readonly name: string;
  readonly rules: readonly Rule[];
  readonly labels?: Readonly<Record<string, string>>;
  /** Key of the label (value `true`) of the roles that are aggregated into this one; `rules` is then empty. */
  readonly aggregatesLabel?: string;
}

/** Declaration of a default ClusterRoleBinding or RoleBinding to the role with the name `role`. */
export interface BindingDeclaration {
  readonly name: string;
  readonly role: string;
  readonly subjects: readonly Subject[];
}

/** Declarations of roles and of the bindings to them. */
export interface Declarations {
  readonly roles: readonly RoleDeclaration[];
  readonly bindings: readonly BindingDeclaration[];
}

/** Where roles are declared: ClusterRoles, or Roles of the system namespace. */
export type RoleScope = "cluster" | "system namespace";

/** Changes the declarations of the reference release to those of a later release. */
export type ChangeDeclarations = (
  declarations: Declarations,
  scope: RoleScope,
  names: PolicyNames,
) => Declarations;

/** The API groups and the names of system users in a vocabulary. */
export type PolicyNames = ReturnType<typeof policyNames>;

/** Read-only verbs. */
export const read = "get list watch";
/** Modifying verbs. */
export const write = "create delete deletecollection patch update";

/** Returns the names that the declarations of default roles use. */
export function policyNames(vocabulary: Vocabulary) {
  const { groupSuffix, systemPrefix, systemNamespace } = vocabulary;
  const rbacGroup = apiGroup(groupSuffix, "rbac.authorization");
  return {
    vocabulary,
    ...vocabulary.components,
    prefix: systemPrefix,
    core: "",
    apps: "apps",
    autoscaling: "autoscaling",
    batch: "batch",
    extensions: "extensions",
    policy: "policy",
    authentication: apiGroup(groupSuffix, "authentication"),
    authorization: apiGroup(groupSuffix, "authorization"),
    certificates: apiGroup(groupSuffix, "certificates"),
    coordination: apiGroup(groupSuffix, "coordination"),
    discovery: apiGroup(groupSuffix, "discovery"),
    events: apiGroup(groupSuffix, "events"),
    insight: apiGroup(groupSuffix, "insight"),
    networking: apiGroup(groupSuffix, "networking"),
    node: apiGroup(groupSuffix, "node"),
    resource: apiGroup(groupSuffix, "resource"),
    registration: apiGroup(groupSuffix, "admissionregistration"),
    extensionsApi: apiGroup(groupSuffix, "apiextensions"),
    migration: apiGroup(groupSuffix, "storagemigration"),
    rbac: rbacGroup,
    storage: apiGroup(groupSuffix, "storage"),
    metrics: apiGroup(groupSuffix, "metrics"),
    customMetrics: apiGroup(groupSuffix, "custom.metrics"),
    externalMetrics: apiGroup(groupSuffix, "external.metrics"),
    user: (name: string): Subject => ({ kind: "User", apiGroup: rbacGroup, name: systemPrefix + name }),
    group: (name: string): Subject => ({ kind: "Group", apiGroup: rbacGroup, name: systemPrefix + name }),
    /** A service account in the system namespace. */
    account: (name: string): Subject => ({ kind: "ServiceAccount", name, namespace: systemNamespace }),
    signer: (name: string): string => labelKey(vocabulary.domain, name),
  } as const;
}

/** Returns a rule for resources. `verbs` and `resources` are separated by spaces. */
export function allow(
  verbs: string,
  groups: string | readonly string[],
  resources: string,
  resourceNames: readonly string[] = [],
): Rule {
  return {
    verbs: splitAndSort(verbs),
    apiGroups: typeof groups === "string" ? [groups] : groups.toSorted(),
    resources: splitAndSort(resources),
    resourceNames: resourceNames.toSorted(),
    nonResourceURLs: [],
  };
}

/** Returns a rule for URL paths. `verbs` and `paths` are separated by spaces. */
export function allowPaths(verbs: string, paths: string): Rule {
  const nonResourceURLs = splitAndSort(paths);
  return { verbs: splitAndSort(verbs), apiGroups: [], resources: [], resourceNames: [], nonResourceURLs };
}

/** Returns the rule that allows a component to record events. */
export function recordEvents({ core, events }: PolicyNames): Rule {
  return allow("create patch update", [core, events], "events");
}

function splitAndSort(text: string): string[] {
  return text.split(" ").toSorted();
}
