import { labelValueFaults, qualifiedNameFaults } from "../../../base/names.ts";
import type { FieldReport } from "../../../schema/faults.ts";

interface Toleration {
  readonly key?: string | undefined;
  readonly operator?: string | undefined;
  readonly value?: string | undefined;
  readonly effect?: string | undefined;
  readonly tolerationSeconds?: number | bigint | undefined;
}

/** Checks key, operator, value and effect of a toleration against each other. */
export function checkToleration(toleration: Toleration, report: FieldReport): void {
  const { key = "", operator = "", value = "", effect = "" } = toleration;
  if (key === "" && operator !== "Exists") {
    report.at("operator").invalid(operator, "must be Exists when `key` is empty, which matches every taint");
  }
  if (toleration.tolerationSeconds !== undefined && effect !== "NoExecute") {
    report.at("effect").invalid(effect, "must be 'NoExecute' when `tolerationSeconds` is set");
  }
  if (operator === "Exists") {
    if (value !== "")
      report.at("operator").invalid(toleration, "value must be empty when `operator` is 'Exists'");
  } else if (operator === "" || operator === "Equal") {
    for (const message of labelValueFaults(value)) report.at("operator").invalid(value, message);
  }
}

interface Constraint {
  readonly topologyKey: string;
  readonly whenUnsatisfiable: string;
  readonly minDomains?: number | undefined;
  readonly matchLabelKeys?: readonly string[] | undefined;
  readonly labelSelector?:
    | {
        readonly matchLabels?: Readonly<Record<string, string>> | undefined;
        readonly matchExpressions?: readonly { readonly key: string }[] | undefined;
      }
    | undefined;
}

/** Allows `minDomains` only if `whenUnsatisfiable` is DoNotSchedule. */
export function checkMinDomains(constraint: Constraint, report: FieldReport): void {
  if (constraint.minDomains === undefined || constraint.whenUnsatisfiable === "DoNotSchedule") return;
  report.invalid(constraint.minDomains, "can only be used with whenUnsatisfiable=DoNotSchedule");
}

/** Rejects `matchLabelKeys` that are also in the selector. */
export function checkMatchLabelKeys(constraint: Constraint, report: FieldReport): void {
  const { matchLabelKeys = [], labelSelector } = constraint;
  if (matchLabelKeys.length === 0) return;
  if (labelSelector === undefined) {
    report.forbidden("must not be specified when labelSelector is not set");
    return;
  }
  const selected = new Set([
    ...Object.keys(labelSelector.matchLabels ?? {}),
    ...(labelSelector.matchExpressions ?? []).map(({ key }) => key),
  ]);
  for (const [index, key] of matchLabelKeys.entries()) {
    if (report.full) return;
    for (const message of qualifiedNameFaults(key)) report.at(index).invalid(key, message);
    if (selected.has(key)) report.at(index).invalid(key, "stands in both matchLabelKeys and labelSelector");
  }
}

/** Requires unique pairs of topology key and `whenUnsatisfiable`; the earlier one is reported, as in the reference. */
export function uniqueConstraints(constraints: readonly Constraint[], report: FieldReport): void {
  const later = new Set<string>();
  for (const [index, { topologyKey, whenUnsatisfiable }] of [...constraints.entries()].toReversed()) {
    if (report.full) return;
    const pair = `{${topologyKey}, ${whenUnsatisfiable}}`;
    if (later.has(pair)) report.at(index, "{topologyKey, whenUnsatisfiable}").duplicate(pair);
    later.add(pair);
  }
}

/** Requires unique qualified names. */
export function schedulingGates(gates: readonly { readonly name: string }[], report: FieldReport): void {
  const seen = new Set<string>();
  for (const [index, { name }] of gates.entries()) {
    if (report.full) return;
    for (const message of qualifiedNameFaults(name)) report.at(index).invalid(name, message);
    if (seen.has(name)) report.at(index).duplicate(name);
    seen.add(name);
  }
}

/** Requires qualified names as condition types. */
export function readinessGates(
  gates: readonly { readonly conditionType: string }[],
  report: FieldReport,
): void {
  for (const [index, { conditionType }] of gates.entries()) {
    if (report.full) return;
    for (const message of qualifiedNameFaults(conditionType)) {
      report.at(index, "conditionType").invalid(conditionType, message);
    }
  }
}

const preemptionPolicies = ["Never", "PreemptLowerPriority"];

/** Requires a valid preemption policy. */
export function preemptionPolicy(policy: string, report: FieldReport): void {
  if (policy === "") report.required();
  else if (!preemptionPolicies.includes(policy)) report.notSupported(policy, preemptionPolicies);
}
