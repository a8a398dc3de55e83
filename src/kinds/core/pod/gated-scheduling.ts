import { applies, gate, since } from "../../../base/release-rows.ts";
import type { KindContext } from "../../../schema/context.ts";
import type { FieldReport } from "../../../schema/faults.ts";
import { same } from "../../checks/values.ts";
import type { PodSpec } from "./spec-fields.ts";

const mayChangeGated = applies(since("1.27", gate("PodSchedulingReadiness")));

/**
 * Checks changes of the node selector and the node affinity of a pod with scheduling gates (release 1.27 on): both may become
 * stricter. Returns the new spec with the live values of both; of a pod without gates, the new spec itself.
 */
export function checkGatedScheduling(
  now: PodSpec,
  before: PodSpec,
  report: FieldReport,
  context: KindContext,
): PodSpec {
  const isGated = (before.schedulingGates ?? []).length > 0;
  if (!isGated || !mayChangeGated(context)) return now;
  checkNodeSelector(now.nodeSelector ?? {}, before.nodeSelector ?? {}, report.at("nodeSelector"));
  const affinityReport = report.at("affinity", "nodeAffinity");
  checkNodeAffinity(now.affinity?.nodeAffinity, before.affinity?.nodeAffinity, affinityReport);
  const { nodeSelector: _, affinity: __, ...rest } = now;
  const affinity = withLiveNodeAffinity(now.affinity, before.affinity);
  return {
    ...rest,
    ...(before.nodeSelector === undefined ? {} : { nodeSelector: before.nodeSelector }),
    ...(affinity === undefined ? {} : { affinity }),
  } as PodSpec;
}

/** Allows to add labels only. */
function checkNodeSelector(
  now: Readonly<Record<string, string>>,
  before: Readonly<Record<string, string>>,
  report: FieldReport,
): void {
  if (Object.entries(before).every(([key, value]) => Object.hasOwn(now, key) && now[key] === value)) return;
  report.invalid(now, "only additions to spec.nodeSelector are allowed (no mutations or deletions)");
}

type Affinity = NonNullable<PodSpec["affinity"]>;
type NodeAffinity = Affinity["nodeAffinity"];

/** Allows to set absent terms; existing ones may get further requirements only. */
function checkNodeAffinity(now: NodeAffinity, before: NodeAffinity, report: FieldReport): void {
  const termsNow = termsOf(now);
  const termsBefore = termsOf(before);
  if (termsBefore.length === 0) return;
  const at = report.at("requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms");
  if (termsNow.length !== termsBefore.length) {
    return at.invalid(termsNow, "no additions/deletions to non-empty NodeSelectorTerms list are allowed");
  }
  for (const [index, term] of termsBefore.entries()) {
    if (report.full) return;
    if (!hasOnlyAdditions(termsNow[index]!, term))
      at.at(index).invalid(termsNow[index], "only additions are allowed (no mutations or deletions)");
  }
}

type Term = NonNullable<
  NonNullable<
    NonNullable<NodeAffinity>["requiredDuringSchedulingIgnoredDuringExecution"]
  >["nodeSelectorTerms"]
>[number];

function termsOf(affinity: NodeAffinity): readonly Term[] {
  return affinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
}

/** Whether a term has all requirements of another first. A term without requirements matches nothing, and may not change. */
function hasOnlyAdditions(now: Term, before: Term): boolean {
  const lists = ["matchExpressions", "matchFields"] as const;
  if (lists.every((list) => (before[list] ?? []).length === 0))
    return lists.every((list) => (now[list] ?? []).length === 0);
  return lists.every((list) => {
    const required = before[list] ?? [];
    return same((now[list] ?? []).slice(0, required.length), required);
  });
}

/** Returns the affinity with the live node affinity; undefined if then nothing is left of a new one. */
function withLiveNodeAffinity(now: PodSpec["affinity"], before: PodSpec["affinity"]): PodSpec["affinity"] {
  const live = before?.nodeAffinity;
  if (now === undefined) return live === undefined ? undefined : { nodeAffinity: live };
  const { nodeAffinity: _, ...others } = now;
  if (before === undefined && Object.keys(others).length === 0) return undefined;
  return live === undefined ? others : { ...others, nodeAffinity: live };
}
