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
  place: FieldReport,
  context: KindContext,
): void {
  for (const [name, amount] of Object.entries(amounts ?? {})) {
    if (place.full) return;
    quotaResourceName(name, place.key(name));
    checkAmount(name, amount, place.key(name), context);
  }
}

/** Requires known scopes that don't conflict, and that apply to the limited resources. */
export function checkScopes(spec: QuotaSpec, place: FieldReport): void {
  const { scopes = [] } = spec;
  const here = place.at("scopes");
  const distinct = new Set(scopes);
  for (const scope of distinct) {
    if (place.full) return;
    checkScope(scope, spec, scopes, here, here);
  }
  checkOpposites(distinct, scopes, here);
}

/** As {@link checkScopes}, for the terms of the scope selector. */
export function checkScopeSelector(spec: QuotaSpec, place: FieldReport): void {
  const conditions = spec.scopeSelector?.matchExpressions ?? [];
  const here = place.at("scopeSelector", "matchExpressions");
  const seen = new Set<string>();
  for (const condition of conditions) {
    if (place.full) return;
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
  shown: unknown,
  place: FieldReport,
  namePlace: FieldReport,
): void {
  const allowed = inScope.get(scope);
  if (allowed === undefined)
    return namePlace.invalid(place === namePlace ? shown : scope, "unsupported scope");
  const fits = Object.keys(spec.hard ?? {}).every((name) => !isQuotaResource(name) || allowed.has(name));
  if (!fits) place.invalid(shown, "unsupported scope applied to resource");
}

function checkOpposites(given: ReadonlySet<string>, shown: unknown, place: FieldReport): void {
  for (const pair of opposites) {
    if (pair.every((scope) => given.has(scope))) place.invalid(shown, "conflicting scopes");
  }
}

/** As in the reference, paths lack the index of the term. */
function checkCondition({ scopeName, operator, values = [] }: ScopeCondition, place: FieldReport): void {
  if (inScope.has(scopeName) && scopeName !== "PriorityClass" && operator !== "Exists") {
    place.at("operator").invalid(operator, `must be 'Exists' for the scope ${scopeName}`);
  }
  switch (operator) {
    case "In":
    case "NotIn":
      if (values.length === 0) {
        place.at("values").required("must be at least one value when `operator` is 'In' or 'NotIn'");
      }
      return;
    case "Exists":
    case "DoesNotExist":
      if (values.length > 0) {
        place.at("values").invalid(values, "must be no value when `operator` is 'Exists' or 'DoesNotExist'");
      }
      return;
    default:
      place.at("operator").invalid(operator, "not a valid selector operator");
  }
}

/** Rejects changes of the scopes. */
export function checkScopesUnchanged(
  scopes: readonly string[] | undefined,
  live: readonly string[] | undefined,
  place: FieldReport,
): void {
  const now = new Set(scopes);
  const before = new Set(live);
  const same = now.size === before.size && [...now].every((scope) => before.has(scope));
  if (!same) place.invalid(scopes, "field is immutable");
}
