import { applies, gate, since } from "../../../base/release-rows.ts";
import { addQuantities, compareQuantities, type Quantity } from "../../../base/quantity.ts";
import type { KindContext } from "../../../schema/context.ts";
import { quantityFrom } from "../../quantities.ts";
import { hasPodResources, hasPodLevelResources } from "./pod-usage.ts";
import type { PodSpec } from "./spec-fields.ts";

const countsPodResourcesOnly = applies(since("1.37", gate("PodLevelResourcesFixKubeletQOSClass")));

const counted = ["cpu", "memory"];

/**
 * Returns the quality of service class: `Guaranteed` if every container has limits that equal its requests,
 * `BestEffort` if no container has requests or limits, else `Burstable`. Resources of the whole pod, if it has any, count instead of
 * those of its containers.
 *
 * @param countsPod whether resources of the whole pod count ({@link countsPodResources}).
 */
export function qualityOfService(
  spec: PodSpec | undefined,
  countsPod = hasPodResources(spec ?? {}),
): "Guaranteed" | "Burstable" | "BestEffort" {
  const requests = new Map<string, Quantity>();
  const limits = new Map<string, Quantity>();
  let everyLimitSet = true;
  for (const { resources } of countsPod && spec !== undefined ? [spec] : containersOf(spec)) {
    addUp(resources?.requests, requests);
    if (addUp(resources?.limits, limits) < counted.length) everyLimitSet = false;
  }
  if (requests.size === 0 && limits.size === 0) return "BestEffort";
  const equal = [...requests].every(([name, request]) => {
    const limit = limits.get(name);
    return limit !== undefined && compareQuantities(request, limit) === 0;
  });
  return everyLimitSet && equal && requests.size === limits.size ? "Guaranteed" : "Burstable";
}

/**
 * Whether the resources of the whole pod decide its quality of service: those of a release that has them. Before release 1.37 an empty
 * field counts too.
 */
export function countsPodResources(spec: PodSpec | undefined, context: KindContext): boolean {
  if (!hasPodLevelResources(context)) return false;
  if (countsPodResourcesOnly(context)) return hasPodResources(spec ?? {});
  return spec?.resources !== undefined && spec.resources !== null;
}

function containersOf(spec: PodSpec | undefined): readonly Pick<PodSpec, "resources">[] {
  return [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])];
}

/** Adds the nonzero CPU and memory amounts to the sums. Returns their number. */
function addUp(amounts: Readonly<Record<string, string>> | undefined, sums: Map<string, Quantity>): number {
  let count = 0;
  for (const name of counted) {
    const quantity = quantityFrom(amounts?.[name] ?? "0");
    if (quantity === undefined || quantity.nanos <= 0n) continue;
    count++;
    const sum = sums.get(name);
    sums.set(name, sum === undefined ? quantity : addQuantities(sum, quantity));
  }
  return count;
}
