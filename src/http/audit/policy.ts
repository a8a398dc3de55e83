import type { Attributes, ResourceAttributes } from "../../authorization/authorizer.ts";

/** Audit levels; each includes the content of the previous ones. */
export const auditLevels = ["None", "Metadata", "Request", "RequestResponse"] as const;
export type AuditLevel = (typeof auditLevels)[number];

/** Stages of a request at which an event can be recorded. */
export const auditStages = ["RequestReceived", "ResponseStarted", "ResponseComplete", "Panic"] as const;
export type AuditStage = (typeof auditStages)[number];

/** Resource types of one group in a rule. */
export interface AuditedResources {
  /** Full name; empty for the core group. */
  readonly group: string;
  // `pods`, `pods/log`, `pods/*`, any type's subresource (`*/scale`), `*`; empty: all of the group.
  readonly resources: readonly string[];
  /** Names of objects; empty for all names. */
  readonly resourceNames: readonly string[];
}

/** A rule: the requests that it matches, and how they are recorded. An empty list matches everything. */
export interface AuditRule {
  readonly level: AuditLevel;
  readonly users: readonly string[];
  readonly userGroups: readonly string[];
  readonly verbs: readonly string[];
  readonly resources: readonly AuditedResources[];
  /** The empty string matches requests without a namespace. */
  readonly namespaces: readonly string[];
  readonly nonResourceURLs: readonly string[];
  readonly omitStages: readonly AuditStage[];
  /** Undefined for the value of the policy. */
  readonly omitManagedFields: boolean | undefined;
}

/** An audit policy: the first matching rule decides. */
export interface AuditPolicy {
  readonly rules: readonly AuditRule[];
  /** Stages that are never recorded, in addition to those of a rule. */
  readonly omitStages: readonly AuditStage[];
  readonly omitManagedFields: boolean;
}

/** The decision of a policy for one request. */
export interface AuditTerms {
  readonly level: AuditLevel;
  readonly omitStages: ReadonlySet<AuditStage>;
  readonly omitManagedFields: boolean;
}

const nothing: AuditTerms = { level: "None", omitStages: new Set(), omitManagedFields: false };

/** Evaluates a policy, rule by rule. */
export class AuditRules {
  private readonly rules: readonly { readonly rule: AuditRule; readonly terms: AuditTerms }[];

  constructor(policy: AuditPolicy) {
    this.rules = policy.rules.map((rule) => ({
      rule,
      terms: {
        level: rule.level,
        omitStages: new Set([...policy.omitStages, ...rule.omitStages]),
        omitManagedFields: rule.omitManagedFields ?? policy.omitManagedFields,
      },
    }));
  }

  /** Returns the terms of the first matching rule; level None without one. */
  termsFor(request: Attributes): AuditTerms {
    for (const { rule, terms } of this.rules) if (matches(rule, request)) return terms;
    return nothing;
  }
}

function matches(rule: AuditRule, request: Attributes): boolean {
  const { user } = request;
  if (rule.users.length > 0 && !rule.users.includes(user.name)) return false;
  if (rule.userGroups.length > 0 && !user.groups.some((group) => rule.userGroups.includes(group)))
    return false;
  if (rule.verbs.length > 0 && !rule.verbs.includes(request.verb)) return false;
  if (rule.namespaces.length > 0 || rule.resources.length > 0) {
    return request.kind === "resource" && matchesResource(rule, request);
  }
  if (rule.nonResourceURLs.length === 0) return true;
  return request.kind === "nonResource" && rule.nonResourceURLs.some((one) => matchesPath(one, request.path));
}

function matchesResource(rule: AuditRule, request: ResourceAttributes): boolean {
  if (rule.namespaces.length > 0 && !rule.namespaces.includes(request.namespace)) return false;
  if (rule.resources.length === 0) return true;
  return rule.resources.some((one) => one.group === request.group && matchesType(one, request));
}

function matchesType({ resources, resourceNames }: AuditedResources, request: ResourceAttributes): boolean {
  if (resources.length === 0) return true;
  if (resourceNames.length > 0 && !resourceNames.includes(request.name)) return false;
  const { resource, subresource } = request;
  const type = subresource === "" ? resource : `${resource}/${subresource}`;
  return resources.some(
    (one) =>
      one === "*" ||
      one === type ||
      one === `${resource}/*` ||
      (subresource !== "" && one === `*/${subresource}`),
  );
}

function matchesPath(pattern: string, path: string): boolean {
  return pattern === path || (pattern.endsWith("*") && path.startsWith(pattern.slice(0, -1)));
}
