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
export function checkQuotaAmounts(
  amounts: Amounts | undefined,
  report: FieldReport,
  context: KindContext,
): void {
  for (const [name, amount] of Object.entries(amounts ?? {})) {
    if (report.full) return;
    quotaResourceName(name, report.key(name));
    checkAmount(name, amount, report.key(name), context);
  }
}

/** Requires known scopes that don't conflict, and that apply to the limited resources. */
export function checkScopes(spec: QuotaSpec, report: FieldReport): void {
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
export function checkScopeSelector(spec: QuotaSpec, report: FieldReport): void {
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
export function checkScopesUnchanged(
  scopes: readonly string[] | undefined,
  live: readonly string[] | undefined,
  report: FieldReport,
): void {
  const now = new Set(scopes);
  const before = new Set(live);
  const same = now.size === before.size && [...now].every((scope) => before.has(scope));
  if (!same) report.invalid(scopes, "field is immutable");
}
