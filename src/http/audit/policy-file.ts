import { groupVersion } from "../../vocabulary/names.ts";
import { dnsSubdomainFaults } from "../../base/names.ts";
import { readConfiguration, assertNoFaults } from "../../schema/configuration.ts";
import { FieldReport } from "../../schema/faults.ts";
import { struct } from "../../schema/meta.ts";
import { bool, field, list, object, string, type Static } from "../../schema/types.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { auditLevels, auditStages, type AuditPolicy, type AuditRule, type AuditStage } from "./policy.ts";

const GroupResources = struct("GroupResources", "Resource types of one group.", {
  group: field(1, string, "Name of the group; empty for the core group."),
  resources: field(2, list(string), "Resource types; `pods/log`, `pods/*`, `*` and the like."),
  resourceNames: field(3, list(string), "Names of the objects."),
});

const PolicyRule = struct("PolicyRule", "Matched requests and their audit level.", {
  level: field(1, string, "Audit level of the requests.").required(),
  users: field(2, list(string), "Names of users."),
  userGroups: field(3, list(string), "Groups of users."),
  verbs: field(4, list(string), "Verbs of requests."),
  resources: field(5, list(GroupResources), "Resource types."),
  namespaces: field(6, list(string), "Namespaces; the empty string is none."),
  nonResourceURLs: field(7, list(string), "Paths outside the resources."),
  omitStages: field(8, list(string), "Stages that aren't recorded."),
  omitManagedFields: field(9, bool, "Whether managed fields are left out of recorded objects.").nullable(),
});

const Policy = struct("Policy", "An audit policy.", {
  kind: field(undefined, string, "Policy."),
  apiVersion: field(undefined, string, "API version of the policy."),
  metadata: field(1, object, "Ignored."),
  rules: field(2, list(PolicyRule), "Rules; the first one that matches a request decides.").required(),
  omitStages: field(3, list(string), "Stages that aren't recorded, whatever the rule."),
  omitManagedFields: field(4, bool, "Whether managed fields are left out of recorded objects."),
});
type PolicyRule = Static<typeof PolicyRule>;

/** A policy, and warnings about ineffective parts of its file. */
export interface ReadPolicy {
  readonly policy: AuditPolicy;
  readonly warnings: readonly string[];
}

/** Returns the apiVersion of the audit group. */
export function auditVersion({ groupSuffix }: Vocabulary): string {
  return groupVersion(groupSuffix, "audit", "v1");
}

/**
 * Reads a policy: one document of kind Policy in YAML or JSON.
 *
 * @throws {ConfigurationError} the policy is invalid; the message names rule and field.
 */
export async function readPolicy(bytes: Uint8Array, vocabulary: Vocabulary): Promise<ReadPolicy> {
  // As in the reference: a policy of a later version, with fields that this one lacks, must still record something.
  const form = { type: Policy, kind: "Policy", apiVersions: [auditVersion(vocabulary)], lenient: true };
  const { value: policy, warnings } = await readConfiguration(bytes, form);
  const report = FieldReport.start();
  checkStages(policy.omitStages, report.at("omitStages"));
  if ((policy.rules ?? []).length === 0) report.at("rules").required("a policy needs at least one rule");
  policy.rules?.forEach((rule, index) => checkRule(rule, report.at("rules", index)));
  assertNoFaults(report);
  return {
    policy: {
      rules: (policy.rules ?? []).map(ruleOf),
      omitStages: (policy.omitStages ?? []) as AuditStage[],
      omitManagedFields: policy.omitManagedFields ?? false,
    },
    warnings,
  };
}

function checkRule(rule: PolicyRule, report: FieldReport): void {
  const { level = "", nonResourceURLs = [], resources = [], namespaces = [] } = rule;
  if (level === "") report.at("level").required();
  else if (!auditLevels.some((one) => one === level)) report.at("level").notSupported(level, auditLevels);
  nonResourceURLs.forEach((url, index) => checkUrl(url, report.at("nonResourceURLs", index)));
  resources.forEach(({ group = "", resources: types = [], resourceNames = [] }, index) => {
    const at = report.at("resources", index);
    if (group !== "" && dnsSubdomainFaults(group).length > 0)
      at.at("group").invalid(group, "must be the name of a group");
    if (resourceNames.length > 0 && types.length === 0) {
      at.at("resourceNames").invalid(resourceNames, "using resourceNames requires at least one resource");
    }
  });
  checkStages(rule.omitStages, report.at("omitStages"));
  if (nonResourceURLs.length > 0 && (resources.length > 0 || namespaces.length > 0)) {
    report
      .at("nonResourceURLs")
      .invalid(nonResourceURLs, "rules cannot apply to both regular resources and non-resource URLs");
  }
}

function checkUrl(url: string, report: FieldReport): void {
  if (url === "*") return;
  if (!url.startsWith("/")) report.invalid(url, "must begin with a '/'");
  if (url.slice(0, -1).includes("*")) report.invalid(url, "a '*' can only be the last character");
}

function checkStages(stages: readonly string[] | undefined, report: FieldReport): void {
  stages?.forEach((stage, index) => {
    if (!auditStages.some((one) => one === stage)) report.at(index).notSupported(stage, auditStages);
  });
}

function ruleOf(rule: PolicyRule): AuditRule {
  return {
    level: rule.level as AuditRule["level"],
    users: rule.users ?? [],
    userGroups: rule.userGroups ?? [],
    verbs: rule.verbs ?? [],
    resources: (rule.resources ?? []).map(({ group = "", resources = [], resourceNames = [] }) => ({
      group,
      resources,
      resourceNames,
    })),
    namespaces: rule.namespaces ?? [],
    nonResourceURLs: rule.nonResourceURLs ?? [],
    omitStages: (rule.omitStages ?? []) as AuditStage[],
    omitManagedFields: rule.omitManagedFields ?? undefined,
  };
}
