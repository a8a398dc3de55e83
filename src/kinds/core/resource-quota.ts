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
  "One condition on the scope of the objects that a quota counts.",
  {
    scopeName: field(1, string, "Scope that the condition is about.")
      .declaredRequired()
      .oneOf(
        "BestEffort",
        "CrossNamespacePodAffinity",
        "NotBestEffort",
        "NotTerminating",
        "PriorityClass",
        "Terminating",
      ),
    operator: field(2, string, "Relation of the scope to the values.")
      .declaredRequired()
      .oneOf("DoesNotExist", "Exists", "In", "NotIn"),
    values: field(3, list(string), "Values for In and NotIn; empty for the others.").atomic(),
  },
);

const ScopeSelector = atomicStruct(
  "ScopeSelector",
  "Scopes whose objects a quota counts; all conditions must hold.",
  {
    matchExpressions: field(1, list(ScopedResourceSelectorRequirement), "The conditions.").atomic(),
  },
);

const ResourceQuotaSpec = struct(
  "ResourceQuotaSpec",
  "What a namespace may use at most.",
  {
    hard: field(1, map(quantity), "The limit of each resource."),
    scopes: field(2, list(string), "Scopes to which an object must belong to be counted.")
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
      "Further conditions on the scope of the counted objects.",
    ).nullable(),
  },
  {
    fill: (spec) => roundUpToMilli(spec.hard),
  },
);

const ResourceQuotaStatus = struct(
  "ResourceQuotaStatus",
  "What is enforced and used.",
  {
    hard: field(1, map(quantity), "The limits that are enforced."),
    used: field(2, map(quantity), "What is in use of each."),
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
  doc: "Limits on what all objects of a namespace may use together.",
  effect: {
    enforced: "the admission plugin ResourceQuota rejects what would exceed it",
    acts: "the controller `resourcequota` keeps `status`",
  },
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the quota.").emitEmpty(),
    // Scopes have their own rules, which report the faults as the reference does.
    spec: field(2, ResourceQuotaSpec, "What the namespace may use at most.").emitEmpty().unchecked(),
    status: field(3, ResourceQuotaStatus, "What is enforced and used.").emitEmpty(),
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
    ageColumn,
    {
      name: "Request",
      type: "string",
      doc: "Use and limit of each resource that is requested or counted.",
      cell: ({ status }) => usesText(status, (name) => !name.startsWith("limits.")),
    },
    {
      name: "Limit",
      type: "string",
      doc: "Use and limit of each resource whose limits are added up.",
      cell: ({ status }) => usesText(status, (name) => name.startsWith("limits.")),
    },
  ],
  laterColumns: [
    { since: "1.33", removed: "Age" },
    { since: "1.33", after: "Limit", column: ageColumn },
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
