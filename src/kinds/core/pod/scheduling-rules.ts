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
export function checkToleration(toleration: Toleration, place: FieldReport): void {
  const { key = "", operator = "", value = "", effect = "" } = toleration;
  if (key === "" && operator !== "Exists") {
    place.at("operator").invalid(operator, "must be Exists when `key` is empty, which matches every taint");
  }
  if (toleration.tolerationSeconds !== undefined && effect !== "NoExecute") {
    place.at("effect").invalid(effect, "must be 'NoExecute' when `tolerationSeconds` is set");
  }
  if (operator === "Exists") {
    if (value !== "")
      place.at("operator").invalid(toleration, "value must be empty when `operator` is 'Exists'");
  } else if (operator === "" || operator === "Equal") {
    for (const message of labelValueFaults(value)) place.at("operator").invalid(value, message);
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
export function checkMinDomains(constraint: Constraint, place: FieldReport): void {
  if (constraint.minDomains === undefined || constraint.whenUnsatisfiable === "DoNotSchedule") return;
  place.invalid(constraint.minDomains, "can only be used with whenUnsatisfiable=DoNotSchedule");
}

/** Rejects `matchLabelKeys` that are also in the selector. */
export function checkMatchLabelKeys(constraint: Constraint, place: FieldReport): void {
  const { matchLabelKeys = [], labelSelector } = constraint;
  if (matchLabelKeys.length === 0) return;
  if (labelSelector === undefined) {
    place.forbidden("must not be specified when labelSelector is not set");
    return;
  }
  const selected = new Set([
    ...Object.keys(labelSelector.matchLabels ?? {}),
    ...(labelSelector.matchExpressions ?? []).map(({ key }) => key),
  ]);
  for (const [index, key] of matchLabelKeys.entries()) {
    if (place.full) return;
    for (const message of qualifiedNameFaults(key)) place.at(index).invalid(key, message);
    if (selected.has(key)) place.at(index).invalid(key, "stands in both matchLabelKeys and labelSelector");
  }
}

/** Requires unique pairs of topology key and `whenUnsatisfiable`; the earlier one is reported, as in the reference. */
export function uniqueConstraints(constraints: readonly Constraint[], place: FieldReport): void {
  const later = new Set<string>();
  for (const [index, { topologyKey, whenUnsatisfiable }] of [...constraints.entries()].toReversed()) {
    if (place.full) return;
    const pair = `{${topologyKey}, ${whenUnsatisfiable}}`;
    if (later.has(pair)) place.at(index, "{topologyKey, whenUnsatisfiable}").duplicate(pair);
    later.add(pair);
  }
}

/** Requires unique qualified names. */
export function schedulingGates(gates: readonly { readonly name: string }[], place: FieldReport): void {
  const seen = new Set<string>();
  for (const [index, { name }] of gates.entries()) {
    if (place.full) return;
    for (const message of qualifiedNameFaults(name)) place.at(index).invalid(name, message);
    if (seen.has(name)) place.at(index).duplicate(name);
    seen.add(name);
  }
}

/** Requires qualified names as condition types. */
export function readinessGates(
  gates: readonly { readonly conditionType: string }[],
  place: FieldReport,
): void {
  for (const [index, { conditionType }] of gates.entries()) {
    if (place.full) return;
    for (const message of qualifiedNameFaults(conditionType)) {
      place.at(index, "conditionType").invalid(conditionType, message);
    }
  }
}

const preemptionPolicies = ["Never", "PreemptLowerPriority"];

/** Requires a valid preemption policy. */
export function preemptionPolicy(policy: string, place: FieldReport): void {
  if (policy === "") place.required();
  else if (!preemptionPolicies.includes(policy)) place.notSupported(policy, preemptionPolicies);
}
