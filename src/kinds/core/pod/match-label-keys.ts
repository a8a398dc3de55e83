import { applies, gate, since } from "../../../base/release-rows.ts";
import { qualifiedNameFaults } from "../../../base/names.ts";
import type { KindContext } from "../../../schema/context.ts";
import type { FieldReport } from "../../../schema/faults.ts";

const mergesIntoSelectors = applies(since("1.34", gate("MatchLabelKeysInPodTopologySpreadSelectorMerge")));
const mergesAffinityKeys = applies(since("1.29", gate("MatchLabelKeysInPodAffinity")));

interface Requirement {
  key: string;
  operator: string;
  values?: string[];
}

interface Selector {
  matchLabels?: Record<string, string>;
  matchExpressions?: Requirement[];
}

/** A term or constraint with keys of labels whose values of the new pod select or exclude other pods. */
interface Keyed {
  labelSelector?: Selector;
  matchLabelKeys?: string[];
  mismatchLabelKeys?: string[];
}

interface Affinity {
  readonly preferredDuringSchedulingIgnoredDuringExecution?:
    readonly { readonly podAffinityTerm: object }[] | undefined;
  readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly object[] | undefined;
}

interface ScheduledSpec {
  readonly affinity?:
    | { readonly podAffinity?: Affinity | undefined; readonly podAntiAffinity?: Affinity | undefined }
    | undefined;
  readonly topologySpreadConstraints?: readonly object[] | undefined;
}

/** Whether `matchLabelKeys` of topology spread constraints are merged into their selectors. */
export function mergesSpreadKeys(context: Pick<KindContext, "enabled" | "release">): boolean {
  return context.enabled("MatchLabelKeysInPodTopologySpread") && mergesIntoSelectors(context);
}

/** Adds the values of a new pod's labels to the selectors of terms and constraints that name the keys of these labels. */
export function mergeLabelKeys(
  spec: ScheduledSpec | undefined,
  labels: Readonly<Record<string, string>>,
  context: KindContext,
): void {
  if (spec === undefined) return;
  if (mergesAffinityKeys(context)) {
    for (const affinity of [spec.affinity?.podAffinity, spec.affinity?.podAntiAffinity]) {
      const preferred = affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
      const required = affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
      const terms = [...preferred.map(({ podAffinityTerm }) => podAffinityTerm), ...required];
      for (const term of terms) merge(term as Keyed, labels);
    }
  }
  if (mergesSpreadKeys(context))
    for (const constraint of spec.topologySpreadConstraints ?? []) merge(constraint as Keyed, labels);
}

/** A term without a selector matches no pod, also with keys. */
function merge(
  { labelSelector, matchLabelKeys = [], mismatchLabelKeys = [] }: Keyed,
  labels: Readonly<Record<string, string>>,
): void {
  if (labelSelector === undefined) return;
  const added = [
    ...matchLabelKeys.map((key) => ({ key, operator: "In" })),
    ...mismatchLabelKeys.map((key) => ({ key, operator: "NotIn" })),
  ].filter(({ key }) => Object.hasOwn(labels, key));
  if (added.length === 0) return;
  labelSelector.matchExpressions = [
    ...(labelSelector.matchExpressions ?? []),
    ...added.map((one) => ({ ...one, values: [labels[one.key]!] })),
  ];
}

/**
 * Checks keys of labels that were merged into the selector. A key of `matchLabelKeys` may be in the selector once; the place of this fault
 * is that of the reference.
 */
export function checkMergedKeys(term: object, report: FieldReport): void {
  const { labelSelector, matchLabelKeys = [], mismatchLabelKeys = [] } = term as Keyed;
  checkKeys(matchLabelKeys, labelSelector, report.at("matchLabelKeys"));
  checkKeys(mismatchLabelKeys, labelSelector, report.at("mismatchLabelKeys"));
  const selected = new Set(Object.keys(labelSelector?.matchLabels ?? {}));
  for (const { key } of labelSelector?.matchExpressions ?? []) {
    if (report.full) return;
    const index = matchLabelKeys.lastIndexOf(key);
    if (index !== -1 && selected.has(key))
      report.at(index).invalid(key, "exists in both matchLabelKeys and labelSelector");
    selected.add(key);
  }
  const mismatched = new Set(mismatchLabelKeys);
  for (const [index, key] of matchLabelKeys.entries()) {
    if (mismatched.has(key))
      report.at("matchLabelKeys", index).invalid(key, "exists in both matchLabelKeys and mismatchLabelKeys");
  }
}

function checkKeys(keys: readonly string[], selector: Selector | undefined, report: FieldReport): void {
  if (keys.length === 0) return;
  if (selector === undefined) return report.forbidden("must not be specified when labelSelector is not set");
  for (const [index, key] of keys.entries()) {
    if (report.full) return;
    for (const message of qualifiedNameFaults(key)) report.at(index).invalid(key, message);
  }
}
