import type { KindContext } from "../../../schema/context.ts";
import type { FieldReport } from "../../../schema/faults.ts";
import { same } from "../../checks/values.ts";
import { checkPodAnnotationsKept, mirrorAnnotation } from "./annotation-rules.ts";
import type { PodShape } from "./pod-shape.ts";
import type { PodSpec } from "./spec-fields.ts";

/** What may change in a pod: images, deadlines, further tolerations and gates that are taken away. */
export function checkPodUpdate(
  pod: PodShape,
  live: PodShape,
  report: FieldReport,
  context: KindContext,
): void {
  checkPodAnnotationsKept(
    pod.metadata.annotations,
    live.metadata.annotations,
    report.at("metadata", "annotations"),
    context,
  );
  const { spec: now } = pod;
  const { spec: before } = live;
  if (now === undefined || before === undefined) return;
  const place = report.at("spec");
  for (const list of ["containers", "initContainers"] as const) {
    if ((now[list] ?? []).length !== (before[list] ?? []).length) {
      place.at(list).forbidden("pod updates may not add or remove containers");
      return;
    }
  }
  if (!checkDeadline(now.activeDeadlineSeconds, before.activeDeadlineSeconds, place)) return;
  checkTolerations(now.tolerations ?? [], before.tolerations ?? [], place.at("tolerations"));
  checkGates(now.schedulingGates ?? [], before.schedulingGates ?? [], place.at("schedulingGates"));
  if (!same(withLiveParts(now, before), before)) {
    place.forbidden(
      "pod updates may not change fields other than `spec.containers[*].image`, " +
        "`spec.initContainers[*].image`, `spec.activeDeadlineSeconds`, `spec.tolerations` (only additions) " +
        "and `spec.terminationGracePeriodSeconds` (from a negative value to 1)",
    );
  }
}

/** A deadline may be set, and moved closer. */
function checkDeadline(
  now: number | bigint | undefined,
  before: number | bigint | undefined,
  place: FieldReport,
): boolean {
  const at = place.at("activeDeadlineSeconds");
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

/** Old tolerations stay, but for how long they hold. */
function checkTolerations(now: Tolerations, before: Tolerations, place: FieldReport): void {
  const kept = new Set(now.map(tolerationKey));
  if (before.every((toleration) => kept.has(tolerationKey(toleration)))) return;
  place.forbidden("existing toleration can not be modified except its tolerationSeconds");
}

function tolerationKey({ key, operator, value, effect }: Tolerations[number]): string {
  return JSON.stringify([key ?? "", operator ?? "", value ?? "", effect ?? ""]);
}

type Gates = NonNullable<PodSpec["schedulingGates"]>;

/** Gates only go away. */
function checkGates(now: Gates, before: Gates, place: FieldReport): void {
  const known = new Set(before.map(({ name }) => name));
  for (const [index, { name }] of now.entries()) {
    if (place.full) return;
    if (known.has(name)) continue;
    place.at(index, "name").forbidden(`only deletion is allowed, but found new scheduling gate '${name}'`);
  }
}

type Containers = PodSpec["containers"] | undefined;

/** The written spec with the live one's value in each place that may change. */
function withLiveParts(now: PodSpec, before: PodSpec): PodSpec {
  const copy = { ...now };
  const take = (name: keyof PodSpec) => {
    if (before[name] === undefined) delete copy[name];
    else Object.assign(copy, { [name]: before[name] });
  };
  take("activeDeadlineSeconds");
  take("tolerations");
  take("schedulingGates");
  if ((before.terminationGracePeriodSeconds ?? 0) < 0 && now.terminationGracePeriodSeconds === 1) {
    take("terminationGracePeriodSeconds");
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

/** Temporary containers are added; those that are there stay as they are. */
export function checkAddedContainers(
  pod: PodShape,
  live: PodShape,
  report: FieldReport,
  context: KindContext,
): void {
  if (live.metadata.annotations?.[mirrorAnnotation(context)] !== undefined) {
    report.forbidden("static pods do not support ephemeral containers");
  }
  const place = report.at("spec", "ephemeralContainers");
  const now = new Map((pod.spec?.ephemeralContainers ?? []).map((container) => [container.name, container]));
  for (const container of live.spec?.ephemeralContainers ?? []) {
    if (place.full) return;
    const kept = now.get(container.name);
    const which = `existing ephemeral containers ${JSON.stringify(container.name)}`;
    if (kept === undefined) place.forbidden(`${which} may not be removed`);
    else if (!same(kept, container)) place.forbidden(`${which} may not be changed`);
  }
}
