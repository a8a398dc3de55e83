import { addAmounts, parseAmounts, raiseAmounts, type Amounts } from "../../../base/amounts.ts";
import { addQuantities, formatQuantity, type Quantity } from "../../../base/quantity.ts";
import { isHugePages } from "./resource-names.ts";
import { isSidecar } from "./restart-policy.ts";

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
