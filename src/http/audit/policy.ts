import type { Attributes, ResourceAttributes } from "../../authorization/authorizer.ts";

/** How much of a request is recorded; each level takes in those before it. */
export const auditLevels = ["None", "Metadata", "Request", "RequestResponse"] as const;
export type AuditLevel = (typeof auditLevels)[number];

/** The points of a request's life at which an event may be recorded. */
export const auditStages = ["RequestReceived", "ResponseStarted", "ResponseComplete", "Panic"] as const;
export type AuditStage = (typeof auditStages)[number];

/** Resource types of one group in a rule. */
export interface AuditedResources {
  /** Full name; empty for the core group. */
  readonly group: string;
  // `pods`, `pods/log`, `pods/*`, any type's subresource (`*/scale`), `*`; empty: all of the group.
  readonly resources: readonly string[];
  /** Empty: all names. */
  readonly resourceNames: readonly string[];
}

/** One rule: what it is about, and how it is recorded. An empty list says nothing about its matter. */
export interface AuditRule {
  readonly level: AuditLevel;
  readonly users: readonly string[];
  readonly userGroups: readonly string[];
  readonly verbs: readonly string[];
  readonly resources: readonly AuditedResources[];
  /** The empty string stands for what lies in no namespace. */
  readonly namespaces: readonly string[];
  readonly nonResourceURLs: readonly string[];
  readonly omitStages: readonly AuditStage[];
  /** Undefined: as the policy says. */
  readonly omitManagedFields: boolean | undefined;
}

/** What is recorded of which requests: the first rule that is about a request decides. */
export interface AuditPolicy {
  readonly rules: readonly AuditRule[];
  /** Left out whatever a rule says. */
  readonly omitStages: readonly AuditStage[];
  readonly omitManagedFields: boolean;
}

/** What a policy says of one request. */
export interface AuditTerms {
  readonly level: AuditLevel;
  readonly omitStages: ReadonlySet<AuditStage>;
  readonly omitManagedFields: boolean;
}

const nothing: AuditTerms = { level: "None", omitStages: new Set(), omitManagedFields: false };

/** Answers for a policy, rule by rule. */
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

  /** The terms of the first rule that is about the request; level None when there is none. */
  termsFor(request: Attributes): AuditTerms {
    for (const { rule, terms } of this.rules) if (isAbout(rule, request)) return terms;
    return nothing;
  }
}

function isAbout(rule: AuditRule, request: Attributes): boolean {
  const { user } = request;
  if (rule.users.length > 0 && !rule.users.includes(user.name)) return false;
  if (rule.userGroups.length > 0 && !user.groups.some((group) => rule.userGroups.includes(group)))
    return false;
  if (rule.verbs.length > 0 && !rule.verbs.includes(request.verb)) return false;
  if (rule.namespaces.length > 0 || rule.resources.length > 0) {
    return request.kind === "resource" && coversResource(rule, request);
  }
  if (rule.nonResourceURLs.length === 0) return true;
  return request.kind === "nonResource" && rule.nonResourceURLs.some((one) => coversPath(one, request.path));
}

function coversResource(rule: AuditRule, request: ResourceAttributes): boolean {
  if (rule.namespaces.length > 0 && !rule.namespaces.includes(request.namespace)) return false;
  if (rule.resources.length === 0) return true;
  return rule.resources.some((one) => one.group === request.group && coversType(one, request));
}

function coversType({ resources, resourceNames }: AuditedResources, request: ResourceAttributes): boolean {
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

function coversPath(pattern: string, path: string): boolean {
  return pattern === path || (pattern.endsWith("*") && path.startsWith(pattern.slice(0, -1)));
}
