import type { KindContext } from "../../../schema/context.ts";
import type { FieldReport } from "../../../schema/faults.ts";
import { same } from "../../checks/values.ts";
import { checkPodAnnotationsKept, mirrorAnnotation } from "./annotation-rules.ts";
import type { PodShape } from "./pod-shape.ts";
import type { PodSpec } from "./spec-fields.ts";
import { applies, gate, since } from "../../../base/release-rows.ts";

/** Rejects changes of a pod except of images, deadlines, added tolerations and removed scheduling gates. */
export function checkPodUpdate(
  pod: PodShape,
  live: PodShape,
  report: FieldReport,
  context: KindContext,
): void {
  checkPodAnnotationsKept(pod, live, report, context);
  const { spec: now } = pod;
  const { spec: before } = live;
  if (now === undefined || before === undefined) return;
  const specReport = report.at("spec");
  for (const list of ["containers", "initContainers"] as const) {
    if ((now[list] ?? []).length !== (before[list] ?? []).length) {
      specReport.at(list).forbidden("pod updates may not add or remove containers");
      return;
    }
  }
  if (!checkDeadline(now.activeDeadlineSeconds, before.activeDeadlineSeconds, specReport)) return;
  checkTolerations(now.tolerations ?? [], before.tolerations ?? [], specReport.at("tolerations"));
  checkGates(now.schedulingGates ?? [], before.schedulingGates ?? [], specReport.at("schedulingGates"));
  const compared = checkGatedScheduling(now, before, specReport, context);
  if (!same(withLiveParts(compared, before), before)) {
    specReport.forbidden(
      "pod updates may not change fields other than `spec.containers[*].image`, " +
        "`spec.initContainers[*].image`, `spec.activeDeadlineSeconds`, `spec.tolerations` (only additions) " +
        "and `spec.terminationGracePeriodSeconds` (from a negative value to 1)",
    );
  }
}

/** Allows to set a deadline, or to shorten it. */
function checkDeadline(
  now: number | bigint | undefined,
  before: number | bigint | undefined,
  report: FieldReport,
): boolean {
  const at = report.at("activeDeadlineSeconds");
  if (before === undefined) return true;
  if (now === undefined) {
    at.invalid(undefined, "must not update from a positive integer to nil value");
  } else if (now > before) {
    at.invalid(now, "must be less than or equal to previous value");
    return false;
  }
  return true;
}

type Tolerations = NonNullable<PodSpec["tolerations"]>;

/** Allows to add tolerations; existing ones may change only in their duration. */
function checkTolerations(now: Tolerations, before: Tolerations, report: FieldReport): void {
  const remaining = new Set(now.map(tolerationKey));
  if (before.every((toleration) => remaining.has(tolerationKey(toleration)))) return;
  report.forbidden("existing toleration can not be modified except its tolerationSeconds");
}

function tolerationKey({ key, operator, value, effect }: Tolerations[number]): string {
  return JSON.stringify([key ?? "", operator ?? "", value ?? "", effect ?? ""]);
}

type Gates = NonNullable<PodSpec["schedulingGates"]>;

/** Allows to remove scheduling gates only. */
function checkGates(now: Gates, before: Gates, report: FieldReport): void {
  const previousGates = new Set(before.map(({ name }) => name));
  for (const [index, { name }] of now.entries()) {
    if (report.full) return;
    if (previousGates.has(name)) continue;
    report.at(index, "name").forbidden(`only deletion is allowed, but found new scheduling gate '${name}'`);
  }
}

type Containers = PodSpec["containers"] | undefined;

/** Returns the new spec with the live values of all members that may change. */
function withLiveParts(now: PodSpec, before: PodSpec): PodSpec {
  const copy = { ...now };
  const restore = (name: keyof PodSpec) => {
    if (before[name] === undefined) delete copy[name];
    else Object.assign(copy, { [name]: before[name] });
  };
  restore("activeDeadlineSeconds");
  restore("tolerations");
  restore("schedulingGates");
  if ((before.terminationGracePeriodSeconds ?? 0) < 0 && now.terminationGracePeriodSeconds === 1) {
    restore("terminationGracePeriodSeconds");
  }
  if (now.containers !== undefined) copy.containers = withLiveImages(now.containers, before.containers);
  if (now.initContainers !== undefined) {
    copy.initContainers = withLiveImages(now.initContainers, before.initContainers);
  }
  return copy;
}

function withLiveImages(now: PodSpec["containers"], before: Containers): PodSpec["containers"] {
  return (now ?? []).map((container, index) => {
    const image = before?.[index]?.image;
    if (image !== undefined) return { ...container, image };
    const { image: _, ...rest } = container;
    return rest;
  });
}

/** Allows to add ephemeral containers; existing ones are immutable. */
export function checkAddedContainers(
  pod: PodShape,
  live: PodShape,
  report: FieldReport,
  context: KindContext,
): void {
  if (live.metadata.annotations?.[mirrorAnnotation(context)] !== undefined) {
    report.forbidden("static pods do not support ephemeral containers");
  }
  const ephemeralContainersReport = report.at("spec", "ephemeralContainers");
  const now = new Map((pod.spec?.ephemeralContainers ?? []).map((container) => [container.name, container]));
  for (const container of live.spec?.ephemeralContainers ?? []) {
    if (ephemeralContainersReport.full) return;
    const remaining = now.get(container.name);
    const which = `existing ephemeral containers ${JSON.stringify(container.name)}`;
    if (remaining === undefined) ephemeralContainersReport.forbidden(`${which} may not be removed`);
    else if (!same(remaining, container)) ephemeralContainersReport.forbidden(`${which} may not be changed`);
  }
}

const mayChangeGated = applies(since("1.27", gate("PodSchedulingReadiness")));

/**
 * Checks changes of the node selector and the node affinity of a pod with scheduling gates (release 1.27 on): both may become
 * stricter. Returns the new spec with the live values of both; of a pod without gates, the new spec itself.
 */
function checkGatedScheduling(
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
