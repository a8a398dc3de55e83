import { applies, gate, since } from "../../../base/release-rows.ts";
import {
  addAmounts,
  parseAmounts,
  raiseAmounts,
  type Amounts,
  addQuantities,
  compareQuantities,
  formatQuantity,
  type Quantity,
} from "../../../base/quantity.ts";
import type { KindContext } from "../../../schema/context.ts";
import { isHugePages } from "./resource-names.ts";
import { isSidecar } from "./restart-policy.ts";

/** Whether pods may have resources of their own. */
export const hasPodLevelResources = applies(since("1.32", gate("PodLevelResources")));
const defaultsAfterAdmission = applies(since("1.37", gate("PodLevelResourcesFixDefaulting")));

type AmountTexts = Readonly<Record<string, string>> | undefined;

interface Container {
  readonly restartPolicy?: string | undefined;
  readonly resources?: { requests?: AmountTexts; limits?: AmountTexts } | undefined;
}

/** The parts of a pod's spec that determine its usage. */
export interface MeasuredSpec {
  readonly containers?: readonly Container[] | undefined;
  readonly initContainers?: readonly Container[] | undefined;
  readonly resources?: Container["resources"];
}

/**
 * Returns the requests or limits of a pod: those of its containers ({@link containerUsage}), but for resources of the whole pod, which
 * go before them. The overhead isn't included.
 */
export function podUsage(
  spec: MeasuredSpec | undefined,
  member: "requests" | "limits",
): Map<string, Quantity> {
  const usage = containerUsage(spec, member);
  for (const [name, amount] of parseAmounts(spec?.resources?.[member])) usage.set(name, amount);
  return usage;
}

/**
 * Returns the requests or limits of the containers of a pod: the sum of its containers and sidecars or, if larger, the largest init
 * container with the sidecars that start before it.
 */
function containerUsage(
  spec: MeasuredSpec | undefined,
  member: "requests" | "limits",
): Map<string, Quantity> {
  const usage = new Map<string, Quantity>();
  const sidecars = new Map<string, Quantity>();
  const starting: Amounts[] = [];
  for (const { resources } of spec?.containers ?? []) addAmounts(usage, parseAmounts(resources?.[member]));
  for (const container of spec?.initContainers ?? []) {
    const own = parseAmounts(container.resources?.[member]);
    if (isSidecar(container)) {
      addAmounts(usage, own);
      addAmounts(sidecars, own);
      continue;
    }
    // Resources that only sidecars have can't exceed the sum.
    const withSidecars = [...own].map(([name, amount]) => {
      const beside = sidecars.get(name);
      return [name, beside === undefined ? amount : addQuantities(amount, beside)] as const;
    });
    starting.push(new Map(withSidecars));
  }
  for (const one of starting) raiseAmounts(usage, one);
  return usage;
}

/** Whether a resource can be requested and limited for the whole pod. */
function isPodResource(name: string): boolean {
  return name === "cpu" || name === "memory" || isHugePages(name);
}

/** Whether a pod has requests or limits for the whole pod. */
export function hasPodResources({ resources }: MeasuredSpec): boolean {
  return [resources?.requests, resources?.limits].some((texts) =>
    Object.keys(texts ?? {}).some(isPodResource),
  );
}

/**
 * Fills in the resources of the whole pod, if it has any: limits of huge pages are those of the containers, and requests those of the
 * containers or else the limits of the pod.
 */
export function fillPodResources(spec: MeasuredSpec): void {
  const { resources } = spec;
  if (resources === undefined) return;
  const { requests = {}, limits = {} } = resources;
  if (Object.keys(requests).length === 0 && Object.keys(limits).length === 0) return;
  const filledLimits = { ...limits };
  for (const [name, amount] of containerUsage(spec, "limits")) {
    if (isHugePages(name) && !Object.hasOwn(requests, name)) filledLimits[name] ??= formatQuantity(amount);
  }
  if (Object.keys(filledLimits).length === 0) return;
  resources.limits = filledLimits;
  const filledRequests = { ...requests };
  for (const [name, amount] of containerUsage(spec, "requests")) {
    if (name === "cpu" || name === "memory") filledRequests[name] ??= formatQuantity(amount);
  }
  for (const [name, text] of Object.entries(filledLimits)) {
    if (isPodResource(name)) filledRequests[name] ??= text;
  }
  if (Object.keys(filledRequests).length > 0) resources.requests = filledRequests;
}

/** Whether resources of the whole pod are filled in after admission, and also into resizes, as from release 1.37 on. */
export function fillsLater(context: KindContext): boolean {
  return hasPodLevelResources(context) && defaultsAfterAdmission(context);
}

/**
 * As {@link fillPodResources}, also for a pod without limits. If every container has a limit of a resource, the missing limit of the
 * pod is that of the containers or, if larger, the request of the pod.
 */
export function fillAllPodResources(spec: MeasuredSpec): void {
  const { resources } = spec;
  if (resources === undefined || resources === null) return;
  const { requests = {}, limits = {} } = resources;
  if (Object.keys(requests).length === 0 && Object.keys(limits).length === 0) return;
  const ofContainers = containerUsage(spec, "limits");
  const filledLimits: Record<string, string> = { ...limits };
  for (const [name, amount] of ofContainers) {
    if (isHugePages(name) && !Object.hasOwn(requests, name)) filledLimits[name] ??= formatQuantity(amount);
  }
  const filledRequests: Record<string, string> = { ...requests };
  for (const [name, amount] of containerUsage(spec, "requests")) {
    if (name === "cpu" || name === "memory") filledRequests[name] ??= formatQuantity(amount);
  }
  for (const [name, text] of Object.entries(filledLimits)) {
    if (isPodResource(name)) filledRequests[name] ??= text;
  }
  const containers = [...(spec.containers ?? []), ...(spec.initContainers ?? [])];
  for (const [name, request] of parseAmounts(filledRequests)) {
    const limit = ofContainers.get(name);
    if (limit === undefined || !isPodResource(name) || Object.hasOwn(filledLimits, name)) continue;
    if (!containers.every((one) => Object.hasOwn(one.resources?.limits ?? {}, name))) continue;
    filledLimits[name] = formatQuantity(compareQuantities(request, limit) > 0 ? request : limit);
  }
  if (Object.keys(filledLimits).length > 0) resources.limits = filledLimits;
  if (Object.keys(filledRequests).length > 0) resources.requests = filledRequests;
}

/** Keeps the resources of the whole pod in an update without them: programs may not know the field. */
export function keepPodResources(spec: { resources?: MeasuredSpec["resources"] }, live: MeasuredSpec): void {
  if (live.resources === undefined || live.resources === null) return;
  spec.resources ??= live.resources;
}
