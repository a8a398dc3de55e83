import { qualifiedNameFaults } from "../../../base/names.ts";
import type { KindContext } from "../../../schema/context.ts";
import type { FieldReport } from "../../../schema/faults.ts";
import { resourceName } from "../standard-resources.ts";

const hugePages = "hugepages-";
const containerResources = new Set(["cpu", "memory", "ephemeral-storage"]);

/** Pages of one large size. */
export function isHugePages(resource: string): boolean {
  return resource.startsWith(hugePages);
}

/** The size of a page, as the resource's name ends. */
export function pageSizeOf(resource: string): string {
  return resource.slice(hugePages.length);
}

/** A resource that nodes have by themselves; others come from devices and carry a domain of their own. */
function isNative(resource: string, { vocabulary }: KindContext): boolean {
  return !resource.includes("/") || resource.includes(`${vocabulary.domain}/`);
}

/** A resource of devices: whole numbers only, and requests equal to limits. */
export function isExtended(resource: string, context: KindContext): boolean {
  if (isNative(resource, context) || resource.startsWith("requests.")) return false;
  return qualifiedNameFaults(`requests.${resource}`).length === 0;
}

/** Whether more of a resource may be promised than is there. */
export function mayOvercommit(resource: string, context: KindContext): boolean {
  return isNative(resource, context) && !isHugePages(resource);
}

/** The name of a resource that a container may ask for. */
export function containerResourceName(resource: string, place: FieldReport, context: KindContext): void {
  resourceName(resource, place);
  if (!resource.includes("/")) {
    if (containerResources.has(resource) || isHugePages(resource)) return;
    place.invalid(resource, "must be a standard resource for containers");
  } else if (!isNative(resource, context) && !isExtended(resource, context)) {
    place.invalid(resource, "doesn't follow extended resource name standard");
  }
}
