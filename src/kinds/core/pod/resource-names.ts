import { labelKey } from "../../../vocabulary/names.ts";
import { qualifiedNameFaults } from "../../../base/names.ts";
import type { KindContext } from "../../../schema/context.ts";
import type { FieldReport } from "../../../schema/faults.ts";
import { resourceName } from "../standard-resources.ts";

const hugePages = "hugepages-";
const containerResources = new Set(["cpu", "memory", "ephemeral-storage"]);

/** Returns true for huge pages. */
export function isHugePages(resource: string): boolean {
  return resource.startsWith(hugePages);
}

/** Returns the page size at the end of a resource name. */
export function pageSizeOf(resource: string): string {
  return resource.slice(hugePages.length);
}

/** Returns true for a native resource of nodes; others are extended resources, whose names have a domain. */
function isNative(resource: string, { vocabulary }: KindContext): boolean {
  return !resource.includes("/") || resource.includes(labelKey(vocabulary.domain, ""));
}

/** Returns true for an extended resource: amounts are whole, and requests equal limits. */
export function isExtended(resource: string, context: KindContext): boolean {
  if (isNative(resource, context) || resource.startsWith("requests.")) return false;
  return qualifiedNameFaults(`requests.${resource}`).length === 0;
}

/** Returns true if a resource can be overcommitted. */
export function mayOvercommit(resource: string, context: KindContext): boolean {
  return isNative(resource, context) && !isHugePages(resource);
}

/** Requires the name of a container resource. */
export function containerResourceName(resource: string, report: FieldReport, context: KindContext): void {
  resourceName(resource, report);
  if (!resource.includes("/")) {
    if (containerResources.has(resource) || isHugePages(resource)) return;
    report.invalid(resource, "must be a standard resource for containers");
  } else if (!isNative(resource, context) && !isExtended(resource, context)) {
    report.invalid(resource, "doesn't follow extended resource name standard");
  }
}
