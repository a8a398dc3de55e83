import type { UserInfo } from "../base/user-info.ts";
import type { YieldIfDue } from "../base/turns/yielding.ts";
import { AccessScopes } from "./access-scopes.ts";
import type {
  Attributes,
  Authorizer,
  Decision,
  NonResourceRule,
  ResourceAttributes,
  ResourceRule,
  RuleList,
  RuleResolver,
  FixedScopeResolver,
} from "./authorizer.ts";

/** One line of a policy file. An empty field matches nothing, except where its comment says otherwise. */
export interface AbacPolicy {
  readonly user: string;
  readonly group: string;
  /** Whether only get, list and watch are allowed. */
  readonly readonly: boolean;
  /** `*`: any. Empty: cluster-scoped objects. */
  readonly namespace: string;
  /** `*`: any. Empty: none. */
  readonly resource: string;
  /** `*`: any. Empty: the core group. */
  readonly apiGroup: string;
  /** Paths outside the resources; a trailing `*` matches any suffix. Empty: none. */
  readonly nonResourcePath: string;
}

const readVerbs = ["get", "list", "watch"];
const allowed: Decision = { verdict: "allow", reason: "", evaluationError: "" };
const unmatched: Decision = { verdict: "noOpinion", reason: "No policy matched.", evaluationError: "" };

/** Allows a request that a policy matches, and has no opinion on others (mode ABAC). */
export class AbacAuthorizer implements Authorizer, RuleResolver, FixedScopeResolver {
  constructor(private readonly policies: readonly AbacPolicy[]) {}

  authorize(attributes: Attributes): Decision {
    return this.policies.some((policy) => allows(policy, attributes)) ? allowed : unmatched;
  }

  /** Returns the matching policies as rules; the list is always complete. */
  rulesFor(user: UserInfo, namespace: string): RuleList {
    const resourceRules: ResourceRule[] = [];
    const nonResourceRules: NonResourceRule[] = [];
    for (const policy of this.policies) {
      if (!appliesTo(policy, user)) continue;
      const verbs = policy.readonly ? readVerbs : ["*"];
      const { apiGroup, resource, nonResourcePath } = policy;
      if (resource !== "" && matchesPattern(policy.namespace, namespace))
        resourceRules.push({ verbs, apiGroups: [apiGroup], resources: [resource], resourceNames: [] });
      if (nonResourcePath !== "") nonResourceRules.push({ verbs, nonResourceURLs: [nonResourcePath] });
    }
    return { resourceRules, nonResourceRules, incomplete: false, evaluationError: "" };
  }

  /** Returns the namespaces of the matching policies. */
  async scopesFor(attributes: ResourceAttributes, yieldIfDue: YieldIfDue): Promise<AccessScopes> {
    const scopes = new AccessScopes();
    for (const policy of this.policies) {
      const { namespace } = policy;
      if (allows(policy, { ...attributes, namespace })) {
        if (namespace === "*") scopes.allowEverywhere();
        else scopes.allowIn(namespace);
      }
      await yieldIfDue();
    }
    return scopes;
  }
}

function allows(policy: AbacPolicy, attributes: Attributes): boolean {
  if (!appliesTo(policy, attributes.user)) return false;
  if (policy.readonly && !readVerbs.includes(attributes.verb)) return false;
  if (attributes.kind === "nonResource") return matchesPathPattern(policy.nonResourcePath, attributes.path);
  const { namespace, resource, group } = attributes;
  return (
    matchesPattern(policy.namespace, namespace) &&
    matchesPattern(policy.resource, resource) &&
    matchesPattern(policy.apiGroup, group)
  );
}

/** Whether the policy applies to the user. A policy with both user and group requires both; one with neither applies to nobody. */
function appliesTo({ user, group }: AbacPolicy, { name, groups }: UserInfo): boolean {
  if (user === "" && group === "") return false;
  return (user === "" || user === name) && (group === "" || groups.includes(group));
}

function matchesPattern(pattern: string, value: string): boolean {
  return pattern === "*" || pattern === value;
}

function matchesPathPattern(pattern: string, path: string): boolean {
  return pattern === path || (pattern.endsWith("*") && path.startsWith(pattern.slice(0, -1)));
}
