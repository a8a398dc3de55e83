import { isIPv4 } from "node:net";
import type { FieldReport } from "../../schema/faults.ts";
import type { AddressRange } from "./address-range.ts";

export type Family = "IPv4" | "IPv6";

/** The fields of a service for the allocation of addresses and ports. */
export interface ServiceSpecValue {
  type?: string;
  selector?: Record<string, string>;
  clusterIP?: string;
  clusterIPs?: string[];
  ipFamilies?: Family[];
  ipFamilyPolicy?: string;
  externalTrafficPolicy?: string;
  allocateLoadBalancerNodePorts?: boolean;
  healthCheckNodePort?: number;
  ports?: { port: number; protocol?: string; nodePort?: number }[];
}

/**
 * Fills in the address families of a service, by its spec and the families of the server. Changes the spec; reports families that the
 * server doesn't have.
 */
export function settleFamilies(
  spec: ServiceSpecValue,
  ranges: readonly AddressRange[],
  report: FieldReport,
  live: ServiceSpecValue = {},
): void {
  if (spec.type === "ExternalName") {
    delete spec.ipFamilies;
    delete spec.ipFamilyPolicy;
    return;
  }
  const available = ranges.map((range) => range.family);
  const headless = spec.clusterIP === "None";
  const selectorless = headless && Object.keys(spec.selector ?? {}).length === 0;
  const fromAddresses = headless ? [] : (spec.clusterIPs ?? []).map(familyOf);
  const families = spec.ipFamilies ?? [];
  spec.ipFamilyPolicy ??=
    selectorless && families.length === 0
      ? "RequireDualStack"
      : families.length === 2 || fromAddresses.length === 2
        ? "RequireDualStack"
        : "SingleStack";
  const desired =
    families.length > 0 ? [...families] : fromAddresses.length > 0 ? fromAddresses : [available[0]!];
  const dual = spec.ipFamilyPolicy !== "SingleStack";
  const both = selectorless || available.length === 2;
  if (dual && desired.length === 1 && both) desired.push(desired[0] === "IPv4" ? "IPv6" : "IPv4");
  spec.ipFamilies = desired;
  // A service keeps its families, also if the server no longer has them.
  const unchanged = desired.join() === live.ipFamilies?.join() && spec.ipFamilyPolicy === live.ipFamilyPolicy;
  if (selectorless || unchanged) return;
  desired.forEach((family, index) => {
    if (!available.includes(family)) {
      report.at("ipFamilies", index).invalid(family, "not configured on this server");
    }
  });
  if (spec.ipFamilyPolicy === "RequireDualStack" && available.length < 2) {
    report.at("ipFamilyPolicy").invalid(spec.ipFamilyPolicy, "this server has addresses of one family only");
  }
}

function familyOf(address: string): Family {
  return isIPv4(address) ? "IPv4" : "IPv6";
}
