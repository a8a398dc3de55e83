import type { ServiceCIDRV1 } from "../../kinds/networking/service-cidr.ts";

/** Whether addresses are allocated from a ServiceCIDR: it is ready and not being deleted. */
export function isUsable({ metadata, status }: ServiceCIDRV1): boolean {
  if (metadata.deletionTimestamp !== undefined) return false;
  return (status?.conditions ?? []).some((one) => one.type === "Ready" && one.status === "True");
}
