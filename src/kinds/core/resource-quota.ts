import { since, until } from "../../base/release-rows.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import { roundUpToMilli } from "../quantities.ts";
import { atomicStruct, kind, struct } from "./v1.ts";
import type { ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field, list, map, quantity, string } from "../../schema/types.ts";
import type { KindContext } from "../../schema/context.ts";
import type { FieldReport } from "../../schema/faults.ts";
import { checkAmount, quotaResourceName } from "./resource-names.ts";
import { isQuotaResource } from "./standard-resources.ts";

type Amounts = Readonly<Record<string, string>>;

interface ScopeCondition {
  readonly scopeName: string;
  readonly operator: string;
  readonly values?: readonly string[] | undefined;
}

interface QuotaSpec {
  readonly hard?: Amounts | undefined;
  readonly scopes?: readonly string[] | undefined;
  readonly scopeSelector?: { readonly matchExpressions?: readonly ScopeCondition[] | undefined } | undefined;
}

const podCount = new Set(["pods"]);
const podUse = new Set([
  "pods",
  "cpu",
  "memory",
  "limits.cpu",
  "limits.memory",
  "requests.cpu",
  "requests.memory",
]);
/** Resources that can be limited within each scope. */
const inScope: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ["BestEffort", podCount],
  ["NotBestEffort", podUse],
  ["Terminating", podUse],
  ["NotTerminating", podUse],
  ["PriorityClass", podUse],
  ["CrossNamespacePodAffinity", podUse],
]);
const opposites = [
  ["BestEffort", "NotBestEffort"],
  ["Terminating", "NotTerminating"],
] as const;

/** Checks names and amounts of a quota. */
function checkQuotaAmounts(amounts: Amounts | undefined, report: FieldReport, context: KindContext): void {
  for (const [name, amount] of Object.entries(amounts ?? {})) {
    if (report.full) return;
    quotaResourceName(name, report.key(name));
    checkAmount(name, amount, report.key(name), context);
  }
}

/** Requires known scopes that don't conflict, and that apply to the limited resources. */
function checkScopes(spec: QuotaSpec, report: FieldReport): void {
  const { scopes = [] } = spec;
  const here = report.at("scopes");
  const distinct = new Set(scopes);
  for (const scope of distinct) {
    if (report.full) return;
    checkScope(scope, spec, scopes, here, here);
  }
  checkOpposites(distinct, scopes, here);
}

/** As {@link checkScopes}, for the terms of the scope selector. */
function checkScopeSelector(spec: QuotaSpec, report: FieldReport): void {
  const conditions = spec.scopeSelector?.matchExpressions ?? [];
  const here = report.at("scopeSelector", "matchExpressions");
  const seen = new Set<string>();
  for (const condition of conditions) {
    if (report.full) return;
    if (!seen.has(condition.scopeName)) {
      checkScope(condition.scopeName, spec, spec.scopeSelector, here, here.at("scopeName"));
    }
    seen.add(condition.scopeName);
    checkCondition(condition, here);
  }
  checkOpposites(seen, spec.scopes, here);
}

function checkScope(
  scope: string,
  spec: QuotaSpec,
  reportedValue: unknown,
  report: FieldReport,
  nameReport: FieldReport,
): void {
  const allowed = inScope.get(scope);
  if (allowed === undefined)
    return nameReport.invalid(report === nameReport ? reportedValue : scope, "unsupported scope");
  const fits = Object.keys(spec.hard ?? {}).every((name) => !isQuotaResource(name) || allowed.has(name));
  if (!fits) report.invalid(reportedValue, "unsupported scope applied to resource");
}

function checkOpposites(scopes: ReadonlySet<string>, reportedValue: unknown, report: FieldReport): void {
  for (const pair of opposites) {
    if (pair.every((scope) => scopes.has(scope))) report.invalid(reportedValue, "conflicting scopes");
  }
}

/** As in the reference, paths lack the index of the term. */
function checkCondition({ scopeName, operator, values = [] }: ScopeCondition, report: FieldReport): void {
  if (inScope.has(scopeName) && scopeName !== "PriorityClass" && operator !== "Exists") {
    report.at("operator").invalid(operator, `must be 'Exists' for the scope ${scopeName}`);
  }
  switch (operator) {
    case "In":
    case "NotIn":
      if (values.length === 0) {
        report.at("values").required("must be at least one value when `operator` is 'In' or 'NotIn'");
      }
      return;
    case "Exists":
    case "DoesNotExist":
      if (values.length > 0) {
        report.at("values").invalid(values, "must be no value when `operator` is 'Exists' or 'DoesNotExist'");
      }
      return;
    default:
      report.at("operator").invalid(operator, "not a valid selector operator");
  }
}

/** Rejects changes of the scopes. */
function checkScopesUnchanged(
  scopes: readonly string[] | undefined,
  live: readonly string[] | undefined,
  report: FieldReport,
): void {
  const now = new Set(scopes);
  const before = new Set(live);
  const same = now.size === before.size && [...now].every((scope) => before.has(scope));
  if (!same) report.invalid(scopes, "field is immutable");
}

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
