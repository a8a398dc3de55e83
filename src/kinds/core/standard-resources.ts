import { qualifiedNameFaults } from "../../base/names.ts";
import type { FieldReport } from "../../schema/faults.ts";

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

/** Whether what a quota limits are so many objects of a type. */
export function isCounted(name: string): boolean {
  return countedResources.has(name);
}

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
