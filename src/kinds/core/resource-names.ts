import { qualifiedNameFaults } from "../../base/names.ts";
import type { KindContext } from "../../schema/context.ts";
import type { FieldReport } from "../../schema/faults.ts";
import { readQuantity } from "../checks/quantities.ts";
import { containerResourceName, isExtended } from "./pod/resource-names.ts";

/** What a quota can count. */
const counted = [
  "pods",
  "resourcequotas",
  "services",
  "replicationcontrollers",
  "secrets",
  "configmaps",
  "persistentvolumeclaims",
  "services.nodeports",
  "services.loadbalancers",
];
const computed = ["cpu", "memory", "ephemeral-storage"];
const quotaResources = new Set([
  ...counted,
  ...computed,
  ...computed.map((name) => `requests.${name}`),
  ...computed.map((name) => `limits.${name}`),
  "requests.storage",
]);
const standardResources = new Set([...quotaResources, "storage"]);
const countedResources = new Set(counted);

function isPages(name: string): boolean {
  return name.startsWith("hugepages-") || name.startsWith("requests.hugepages-");
}

/** Whether a quota has a meaning of its own for the resource. */
export function isQuotaResource(name: string): boolean {
  return quotaResources.has(name) || isPages(name);
}

/** The name of any resource: a known one, or one with a domain. */
export function resourceName(name: string, place: FieldReport): void {
  const faults = qualifiedNameFaults(name);
  for (const message of faults) place.invalid(name, message);
  if (faults.length > 0 || name.includes("/") || standardResources.has(name) || isPages(name)) return;
  place.invalid(name, "must be a standard resource type or fully qualified");
}

/** The name of a resource that a quota limits. */
export function quotaResourceName(name: string, place: FieldReport): void {
  resourceName(name, place);
  if (!name.includes("/") && !isQuotaResource(name))
    place.invalid(name, "must be a standard resource for quota");
}

/** The name of a resource that limits for objects of a type can be about. */
export function limitedResourceName(
  type: string,
  name: string,
  place: FieldReport,
  context: KindContext,
): void {
  if (type === "Pod" || type === "Container") containerResourceName(name, place, context);
  else resourceName(name, place);
}

/** An amount of a resource: not negative, and whole for what is counted in pieces. */
export function checkAmount(name: string, amount: string, place: FieldReport, context: KindContext): void {
  const quantity = readQuantity(amount, place);
  if (quantity === undefined) return;
  if (quantity.nanos < 0n) place.invalid(amount, "must be greater than or equal to 0");
  const whole = quantity.nanos % 1_000_000_000n === 0n;
  if (!whole && (countedResources.has(name) || isExtended(name, context))) {
    place.invalid(amount, "must be an integer");
  }
}
