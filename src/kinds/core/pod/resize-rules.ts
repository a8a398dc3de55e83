import { compareQuantities } from "../../../base/quantity.ts";
import { applies, gate, since, until } from "../../../base/release-rows.ts";
import type { KindContext } from "../../../schema/context.ts";
import type { FieldReport } from "../../../schema/faults.ts";
import { same } from "../../checks/values.ts";
import { quantityFrom } from "../../quantities.ts";
import { mirrorAnnotation } from "./annotation-rules.ts";
import type { PodShape } from "./pod-shape.ts";
import { fillAllPodResources, fillsLater } from "./pod-usage.ts";
import { countsPodResources, qualityOfService } from "./quality-of-service.ts";
import type { PodSpec } from "./spec-fields.ts";

const resizesPodResources = applies(since("1.35", gate("InPlacePodLevelResourcesVerticalScaling")));
const resizesInitContainers = applies(since("1.36", gate("InPlacePodVerticalScalingInitContainers")));

type Container = NonNullable<PodSpec["containers"]>[number];
type Amounts = Readonly<Record<string, string>> | undefined;

const resizable = ["cpu", "memory"];
const lists = ["containers", "initContainers"] as const;

/** Copies resources and resize policies of the written containers; invalid lists are copied whole, and refused later. */
export function mergeResize(copy: PodShape, written: PodShape, context: KindContext): void {
  const { spec } = copy;
  const { spec: input } = written;
  if (spec === undefined || input === undefined) return;
  for (const list of lists) {
    const merged = mergedContainers(spec[list] ?? [], input[list] ?? []);
    if (merged.length > 0) spec[list] = merged;
    else if (list === "initContainers") delete spec[list];
    else spec[list] = [];
  }
  if (!resizesPodResources(context)) return;
  if (input.resources !== undefined) spec.resources = input.resources;
  else if (!fillsLater(context)) delete spec.resources;
  if (fillsLater(context)) fillAllPodResources(spec);
}

function mergedContainers(live: readonly Container[], written: readonly Container[]): Container[] {
  const isSame =
    live.length === written.length && live.every(({ name }, index) => written[index]!.name === name);
  if (!isSame) return [...written];
  return live.map((container, index) => {
    const { resources: _, resizePolicy: __, ...others } = container;
    const { resources, resizePolicy } = written[index]!;
    return {
      ...others,
      ...(resources !== undefined && { resources }),
      ...(resizePolicy !== undefined && { resizePolicy }),
    };
  });
}

/** Checks a resize: CPU and memory of containers may change, without a change of the quality of service class. */
export function checkResize(pod: PodShape, live: PodShape, report: FieldReport, context: KindContext): void {
  if (live.metadata.annotations?.[mirrorAnnotation(context)] !== undefined) {
    return report.forbidden("static pods cannot be resized");
  }
  if (live.spec?.os?.name === "windows") return report.forbidden("windows pods cannot be resized");
  const { spec: now } = pod;
  const { spec: before } = live;
  if (now === undefined || before === undefined) return;
  const specReport = report.at("spec");
  if (!resizesPodResources(context) && hasResources(before)) {
    report.forbidden("pods with pod-level resources cannot be resized");
  }
  const classOf = (spec: PodSpec) => qualityOfService(spec, countsPodResources(spec, context));
  if ((live.status?.qosClass ?? classOf(before)) !== classOf(now)) {
    specReport.invalid(live.status?.qosClass, "Pod QOS Class may not change as a result of resizing");
  }
  if (!isSupported(live)) specReport.forbidden("Pod running on node without support for resize");
  if (!checkOrder(now, before, specReport)) return;
  for (const list of lists) {
    for (const [index, container] of (now[list] ?? []).entries()) {
      if (specReport.full) return;
      const at = specReport.at(list, index);
      const isPlain = list === "initContainers" && container.restartPolicy !== "Always";
      const old = before[list]![index]!;
      if (!isPlain || resizesInitContainers(context)) {
        checkContainer(container, old, at, context);
        if (same(withAmountsOf(container, old), old)) continue;
        if (list === "containers") specReport.forbidden("only cpu and memory resources are mutable");
        else at.forbidden("only cpu and memory resources for init or sidecar containers are mutable");
      } else if (!same(container, old)) {
        specReport.forbidden("resources for non-sidecar init containers are immutable");
      }
    }
  }
}

function hasResources({ resources }: PodSpec): boolean {
  return resources?.requests !== undefined || resources?.limits !== undefined;
}

/** Whether the node reports the resources of running containers. */
function isSupported({ status }: PodShape): boolean {
  const running = status?.containerStatuses?.find(({ state }) => state?.running !== undefined);
  return running === undefined || running.resources !== undefined;
}

function checkOrder(now: PodSpec, before: PodSpec, report: FieldReport): boolean {
  let isSame = true;
  for (const list of lists) {
    const [containers, old] = [now[list] ?? [], before[list] ?? []];
    if (containers.length !== old.length) {
      isSame = false;
      report.at(list).forbidden(`${list} may not be added or removed on resize`);
      continue;
    }
    for (const [index, { name }] of old.entries()) {
      if (containers[index]!.name === name) continue;
      isSame = false;
      report.at(list, index, "name").forbidden(`${list} may not be renamed or reordered on resize`);
    }
  }
  return isSame;
}

const keepsMemoryLimit = applies(until("1.34"));

/** Rejects removed amounts and, up to release 1.33, a smaller limit of memory without restart. */
function checkContainer(
  { resources: now, resizePolicy = [] }: Container,
  { resources: before }: Container,
  report: FieldReport,
  context: KindContext,
): void {
  const at = report.at("resources");
  for (const member of ["requests", "limits"] as const) {
    const amounts = now?.[member] ?? {};
    if (Object.keys(before?.[member] ?? {}).some((name) => !Object.hasOwn(amounts, name))) {
      at.at(member).forbidden(`resource ${member} cannot be removed`);
    }
  }
  if (!keepsMemoryLimit(context)) return;
  const policy = resizePolicy.find(({ resourceName }) => resourceName === "memory");
  if (policy?.restartPolicy === "RestartContainer") return;
  checkMemoryLimit(now?.limits?.["memory"], before?.limits?.["memory"], at.at("limits").key("memory"));
}

function checkMemoryLimit(now: string | undefined, before: string | undefined, report: FieldReport): void {
  const limit = quantityFrom(now ?? "");
  if (now === undefined || limit === undefined) return;
  const old = quantityFrom(before ?? "");
  const condition = "unless resizePolicy is RestartContainer";
  if (before === undefined || old === undefined) {
    report.forbidden(`memory limits cannot be added ${condition}`);
  } else if (compareQuantities(limit, old) < 0) {
    report.forbidden(`memory limits cannot be decreased ${condition}`);
  }
}

/** Returns the container with the live amounts of CPU and memory. */
function withAmountsOf(container: Container, live: Container): Container {
  const { resources, ...others } = container;
  const merged = (now: Amounts, before: Amounts): Record<string, string> | undefined => {
    const amounts: Record<string, string> = { ...now };
    for (const name of resizable) {
      delete amounts[name];
      if (before?.[name] !== undefined) amounts[name] = before[name];
    }
    return Object.keys(amounts).length === 0 ? undefined : amounts;
  };
  const requests = merged(resources?.requests, live.resources?.requests);
  const limits = merged(resources?.limits, live.resources?.limits);
  const { requests: _, limits: __, ...rest } = resources ?? {};
  const all = { ...rest, ...(requests && { requests }), ...(limits && { limits }) };
  const isEmpty = Object.keys(all).length === 0 && live.resources === undefined;
  return { ...others, ...(!isEmpty && { resources: all }) };
}
