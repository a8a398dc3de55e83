import { isIPv4 } from "node:net";
import type { FieldReport } from "../../schema/faults.ts";
import type { AddressRange } from "./address-range.ts";

export type Family = "IPv4" | "IPv6";

/** What of a service the giving out of addresses and ports looks at. */
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
 * Fills in which families of addresses a service has, from what its author said and from what the server can give.
 * Changes the spec; says in the report what can't be had.
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
  const offered = ranges.map((range) => range.family);
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
  const wanted =
    families.length > 0 ? [...families] : fromAddresses.length > 0 ? fromAddresses : [offered[0]!];
  const dual = spec.ipFamilyPolicy !== "SingleStack";
  const both = selectorless || offered.length === 2;
  if (dual && wanted.length === 1 && both) wanted.push(wanted[0] === "IPv4" ? "IPv6" : "IPv4");
  spec.ipFamilies = wanted;
  // What the service has already, it keeps, whatever the server gives today.
  const unchanged = wanted.join() === live.ipFamilies?.join() && spec.ipFamilyPolicy === live.ipFamilyPolicy;
  if (selectorless || unchanged) return;
  wanted.forEach((family, index) => {
    if (!offered.includes(family)) {
      report.at("ipFamilies", index).invalid(family, "not configured on this server");
    }
  });
  if (spec.ipFamilyPolicy === "RequireDualStack" && offered.length < 2) {
    report.at("ipFamilyPolicy").invalid(spec.ipFamilyPolicy, "this server has addresses of one family only");
  }
}

function familyOf(address: string): Family {
  return isIPv4(address) ? "IPv4" : "IPv6";
}
