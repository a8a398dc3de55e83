import { qualifiedNameFaults } from "../../base/names.ts";
import type { FieldReport } from "../../schema/faults.ts";

/** Object counts that a quota can limit. */
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

/** Returns true if a quota limits the number of objects. */
export function isCounted(name: string): boolean {
  return countedResources.has(name);
}

function isPages(name: string): boolean {
  return name.startsWith("hugepages-") || name.startsWith("requests.hugepages-");
}

/** Returns true if the resource has a special meaning in quotas. */
export function isQuotaResource(name: string): boolean {
  return quotaResources.has(name) || isPages(name);
}

/** Requires a standard resource name, or one with a domain. */
export function resourceName(name: string, report: FieldReport): void {
  const faults = qualifiedNameFaults(name);
  for (const message of faults) report.invalid(name, message);
  if (faults.length > 0 || name.includes("/") || standardResources.has(name) || isPages(name)) return;
  report.invalid(name, "must be a standard resource type or fully qualified");
}
