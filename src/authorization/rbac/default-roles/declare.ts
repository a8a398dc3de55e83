import type { Vocabulary } from "../../../vocabulary/vocabulary.ts";
import type { Rule, Subject } from "../policy.ts";

/** A default ClusterRole or Role as its declaration says it. */
export interface RoleDeclaration {
  readonly name: string;
  readonly rules: readonly Rule[];
  readonly labels?: Readonly<Record<string, string>>;
  /** Label, with value `true`, of the roles that are aggregated into this one; `rules` then stay empty. */
  readonly aggregatesLabel?: string;
}

/** A default binding as its declaration says it: who has a role, and in `Role`s' case of which kind. */
export interface BindingDeclaration {
  readonly name: string;
  readonly role: string;
  readonly subjects: readonly Subject[];
}

/** What declarations are written with: the API groups and the names of the system's users, in one vocabulary. */
export type Words = ReturnType<typeof wordsOf>;

/** Verbs that only look. */
export const read = "get list watch";
/** Verbs that change. */
export const write = "create delete deletecollection patch update";

/** The words of a vocabulary that declarations use. */
export function wordsOf(vocabulary: Vocabulary) {
  const { groupSuffix, systemPrefix, systemNamespace } = vocabulary;
  const rbacGroup = `rbac.authorization.${groupSuffix}`;
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
    authentication: `authentication.${groupSuffix}`,
    authorization: `authorization.${groupSuffix}`,
    certificates: `certificates.${groupSuffix}`,
    coordination: `coordination.${groupSuffix}`,
    discovery: `discovery.${groupSuffix}`,
    events: `events.${groupSuffix}`,
    insight: `insight.${groupSuffix}`,
    networking: `networking.${groupSuffix}`,
    node: `node.${groupSuffix}`,
    rbac: rbacGroup,
    storage: `storage.${groupSuffix}`,
    metrics: `metrics.${groupSuffix}`,
    customMetrics: `custom.metrics.${groupSuffix}`,
    externalMetrics: `external.metrics.${groupSuffix}`,
    user: (name: string): Subject => ({ kind: "User", apiGroup: rbacGroup, name: systemPrefix + name }),
    group: (name: string): Subject => ({ kind: "Group", apiGroup: rbacGroup, name: systemPrefix + name }),
    /** A service account of the system's own namespace. */
    account: (name: string): Subject => ({ kind: "ServiceAccount", name, namespace: systemNamespace }),
    signer: (name: string): string => `${vocabulary.domain}/${name}`,
  } as const;
}

/** A rule about resources; verbs, and resources of one or several groups, are separated by spaces. */
export function allow(
  verbs: string,
  groups: string | readonly string[],
  resources: string,
  resourceNames: readonly string[] = [],
): Rule {
  return {
    verbs: sortedWords(verbs),
    apiGroups: typeof groups === "string" ? [groups] : groups.toSorted(),
    resources: sortedWords(resources),
    resourceNames: resourceNames.toSorted(),
    nonResourceURLs: [],
  };
}

/** A rule about URL paths; verbs and paths are separated by spaces. */
export function allowPaths(verbs: string, paths: string): Rule {
  const nonResourceURLs = sortedWords(paths);
  return { verbs: sortedWords(verbs), apiGroups: [], resources: [], resourceNames: [], nonResourceURLs };
}

/** The right to record events, which almost every component has. */
export function recordEvents({ core, events }: Words): Rule {
  return allow("create patch update", [core, events], "events");
}

function sortedWords(text: string): string[] {
  return text.split(" ").toSorted();
}
