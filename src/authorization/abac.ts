import type { UserInfo } from "../base/user-info.ts";
import type {
  Attributes,
  Authorizer,
  Decision,
  NonResourceRule,
  ResourceRule,
  RuleList,
  RuleResolver,
} from "./authorizer.ts";

/** What one line of a policy file allows to whom; what is empty isn't said. */
export interface AbacPolicy {
  readonly user: string;
  readonly group: string;
  /** Whether only get, list and watch are allowed. */
  readonly readonly: boolean;
  /** `*`: any. Empty: what lies in no namespace. */
  readonly namespace: string;
  /** `*`: any. Empty: none. */
  readonly resource: string;
  /** `*`: any. Empty: the core group. */
  readonly apiGroup: string;
  /** Paths outside the resources; a `*` at the end stands for any rest. Empty: none. */
  readonly nonResourcePath: string;
}

const readVerbs = ["get", "list", "watch"];
const allowed: Decision = { verdict: "allow", reason: "", evaluationError: "" };
const unmatched: Decision = { verdict: "noOpinion", reason: "No policy matched.", evaluationError: "" };

/** Allows what a list of policies allows, and has no opinion on anything else (mode ABAC). */
export class AbacAuthorizer implements Authorizer, RuleResolver {
  constructor(private readonly policies: readonly AbacPolicy[]) {}

  authorize(attributes: Attributes): Decision {
    return this.policies.some((policy) => allows(policy, attributes)) ? allowed : unmatched;
  }

  /** Every rule can be listed, as each policy is one. */
  rulesFor(user: UserInfo, namespace: string): RuleList {
    const resourceRules: ResourceRule[] = [];
    const nonResourceRules: NonResourceRule[] = [];
    for (const policy of this.policies) {
      if (!isFor(policy, user)) continue;
      const verbs = policy.readonly ? readVerbs : ["*"];
      const { apiGroup, resource, nonResourcePath } = policy;
      if (resource !== "" && covers(policy.namespace, namespace))
        resourceRules.push({ verbs, apiGroups: [apiGroup], resources: [resource], resourceNames: [] });
      if (nonResourcePath !== "") nonResourceRules.push({ verbs, nonResourceURLs: [nonResourcePath] });
    }
    return { resourceRules, nonResourceRules, incomplete: false, evaluationError: "" };
  }
}

function allows(policy: AbacPolicy, attributes: Attributes): boolean {
  if (!isFor(policy, attributes.user)) return false;
  if (policy.readonly && !readVerbs.includes(attributes.verb)) return false;
  if (attributes.kind === "nonResource") return coversPath(policy.nonResourcePath, attributes.path);
  const { namespace, resource, group } = attributes;
  return (
    covers(policy.namespace, namespace) && covers(policy.resource, resource) && covers(policy.apiGroup, group)
  );
}

/** Whoever is named must fit, and somebody must be named. */
function isFor({ user, group }: AbacPolicy, { name, groups }: UserInfo): boolean {
  if (user === "" && group === "") return false;
  return (user === "" || user === name) && (group === "" || groups.includes(group));
}

function covers(pattern: string, value: string): boolean {
  return pattern === "*" || pattern === value;
}

function coversPath(pattern: string, path: string): boolean {
  return pattern === path || (pattern.endsWith("*") && path.startsWith(pattern.slice(0, -1)));
}
