import { since, until } from "../../base/release-rows.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import { roundUpToMilli } from "../quantities.ts";
import {
  checkQuotaAmounts,
  checkScopes,
  checkScopeSelector,
  checkScopesUnchanged,
} from "./resource-quota-rules.ts";
import { atomicStruct, kind, struct } from "./v1.ts";
import { type ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field, list, map, quantity, string } from "../../schema/types.ts";

const ScopedResourceSelectorRequirement = struct(
  "ScopedResourceSelectorRequirement",
  "A requirement on the scope of counted objects.",
  {
    scopeName: field(1, string, "Name of the scope, such as BestEffort or PriorityClass.")
      .declaredRequired()
      .oneOf(
        "BestEffort",
        "CrossNamespacePodAffinity",
        "NotBestEffort",
        "NotTerminating",
        "PriorityClass",
        "Terminating",
      ),
    operator: field(2, string, "Operator: In, NotIn, Exists or DoesNotExist.")
      .declaredRequired()
      .oneOf("DoesNotExist", "Exists", "In", "NotIn"),
    values: field(3, list(string), "Values for In and NotIn; empty for the others.").atomic(),
  },
);

const ScopeSelector = atomicStruct(
  "ScopeSelector",
  "Scopes of counted objects; all requirements must match.",
  {
    matchExpressions: field(
      1,
      list(ScopedResourceSelectorRequirement),
      "Requirements on the scope.",
    ).atomic(),
  },
);

const ResourceQuotaSpec = struct(
  "ResourceQuotaSpec",
  "Resource limits of a namespace.",
  {
    hard: field(1, map(quantity), "Limit of each resource."),
    scopes: field(2, list(string), "Scopes that objects must match to be counted, such as BestEffort.")
      .atomic()
      .oneOf(
        "BestEffort",
        "CrossNamespacePodAffinity",
        "NotBestEffort",
        "NotTerminating",
        "PriorityClass",
        "Terminating",
      ),
    scopeSelector: field(
      3,
      ScopeSelector,
      "Further requirements on the scope of counted objects.",
    ).nullable(),
  },
  {
    fill: (spec) => roundUpToMilli(spec.hard),
  },
);

const ResourceQuotaStatus = struct(
  "ResourceQuotaStatus",
  "Enforced limits and current usage.",
  {
    hard: field(1, map(quantity), "Enforced limit of each resource."),
    used: field(2, map(quantity), "Current usage of each resource."),
  },
  {
    fill(status) {
      roundUpToMilli(status.hard);
      roundUpToMilli(status.used);
    },
  },
);

export const ResourceQuota = kind({
  name: "ResourceQuota",
  resource: "resourcequotas",
  singular: "resourcequota",
  shortNames: ["quota"],
  scope: "Namespaced",
  returnsDeletedObject: true,
  doc: "Limits on the total resources of a namespace.",
  effect: {
    enforced: "the admission plugin ResourceQuota rejects what would exceed it",
    acts: "the controller `resourcequota` keeps `status`",
  },
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the quota.").emitEmpty(),
    // Scopes have their own rules, which report the faults as the reference does.
    spec: field(2, ResourceQuotaSpec, "Resource limits of the namespace.").emitEmpty().unchecked(),
    status: field(3, ResourceQuotaStatus, "Enforced limits and current usage.").emitEmpty(),
  },
  validate({ spec = {}, status }, report, context) {
    const specReport = report.at("spec");
    checkQuotaAmounts(spec.hard, specReport.at("hard"), context);
    checkScopes(spec, specReport);
    checkScopeSelector(spec, specReport);
    checkQuotaAmounts(status?.hard, report.at("status", "hard"), context);
    checkQuotaAmounts(status?.used, report.at("status", "used"), context);
  },
  validateUpdate(quota, live, report) {
    checkScopesUnchanged(quota.spec?.scopes, live.spec?.scopes, report.at("spec", "scopes"));
  },
  status: {
    initial: () => ({}),
  },
  columns: [
    nameColumn,
    until("1.33", ageColumn),
    {
      name: "Request",
      type: "string",
      doc: "Usage and hard limit of resource requests and object counts.",
      cell: ({ status }) => usesText(status, (name) => !name.startsWith("limits.")),
    },
    {
      name: "Limit",
      type: "string",
      doc: "Usage and hard limit of resource limits.",
      cell: ({ status }) => usesText(status, (name) => name.startsWith("limits.")),
    },
    since("1.33", ageColumn),
  ],
});
export type ResourceQuota = ObjectFor<typeof ResourceQuota>;

interface Uses {
  readonly hard?: Readonly<Record<string, string>> | undefined;
  readonly used?: Readonly<Record<string, string>> | undefined;
}

/** Formats resources as `pods: 1/10, cpu: 500m/2`. */
function usesText({ hard = {}, used = {} }: Uses = {}, isShown: (name: string) => boolean): string {
  return Object.keys(hard)
    .filter(isShown)
    .toSorted()
    .map((name) => `${name}: ${Object.hasOwn(used, name) ? used[name] : "0"}/${hard[name]}`)
    .join(", ");
}
