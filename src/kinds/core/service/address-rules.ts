import type { FieldReport } from "../../../schema/faults.ts";
import { familyOf, ipAddress, isAddress } from "../../checks/addresses.ts";
import type { ServiceSpec } from "./spec.ts";

const families = ["IPv4", "IPv6"];

/** Returns true for a headless service, which has no cluster IP. */
export function isHeadless({ clusterIPs = [] }: ServiceSpec): boolean {
  return clusterIPs.length === 1 && clusterIPs[0] === "None";
}

/** Checks the cluster IPs against each other and against the IP families. */
export function checkAddresses(spec: ServiceSpec, report: FieldReport): void {
  // Cluster IPs of an ExternalName service are rejected by the rules of the type.
  if (spec.type === "ExternalName") return;
  const { clusterIP = "", clusterIPs = [], ipFamilies = [] } = spec;
  const here = report.at("clusterIPs");
  if (clusterIP === "") {
    if (clusterIPs.length > 0) here.invalid(clusterIPs, "must be empty when `clusterIP` is not specified");
  } else if (clusterIPs.length === 0) here.required();
  else if (clusterIPs[0] !== clusterIP) here.invalid(clusterIPs, "first value must match `clusterIP`");
  checkFamilies(ipFamilies, report.at("ipFamilies"));
  if (!areAddresses(clusterIPs, here)) return;
  if (clusterIPs.length > 1 && new Set(clusterIPs.map(familyOf)).size !== clusterIPs.length) {
    here.invalid(clusterIPs, "may specify no more than one IP for each IP family");
  }
  if (isHeadless(spec)) return;
  for (const [index, address] of clusterIPs.slice(0, 2).entries()) {
    const family = ipFamilies[index];
    if (family !== undefined && families.includes(family) && familyOf(address) !== family) {
      here.at(index).invalid(address, `expected an ${family} value as indicated by \`ipFamilies[${index}]\``);
    }
  }
}

function checkFamilies(ipFamilies: readonly string[], report: FieldReport): void {
  const seen = new Set<string>();
  for (const [index, family] of ipFamilies.entries()) {
    if (report.full) return;
    if (!families.includes(family)) report.at(index).notSupported(family, families);
    if (seen.has(family)) report.at(index).duplicate(family);
    seen.add(family);
  }
}

/** Returns true if the list contains valid addresses, so that families can be checked. */
function areAddresses(clusterIPs: readonly string[], report: FieldReport): boolean {
  let fit = true;
  for (const [index, address] of clusterIPs.entries()) {
    if (report.full) return false;
    if (index === 0 && address === "None") {
      if (clusterIPs.length === 1) continue;
      report.invalid(clusterIPs, "'None' must be the first and only value");
      fit = false;
    } else if (!isAddress(address)) {
      ipAddress(address, report.at(index));
      fit = false;
    }
  }
  if (clusterIPs.length > 2) report.invalid(clusterIPs, "may only hold up to 2 values");
  return fit && clusterIPs.length <= 2 && clusterIPs[0] !== "None";
}

/** Returns true if all these specs have a type with cluster IPs. */
function haveAddresses(...specs: readonly ServiceSpec[]): boolean {
  return specs.every(({ type }) => type === "ClusterIP" || type === "NodePort" || type === "LoadBalancer");
}

/**
 * Rejects changes of the primary cluster IP, unless the service is or becomes an ExternalName. The secondary one may be
 * added or removed.
 */
export function checkAddressUpdate(spec: ServiceSpec, live: ServiceSpec, report: FieldReport): void {
  if (!haveAddresses(spec, live)) return;
  if (isHeadless(spec) && isHeadless(live)) return;
  const now = spec.clusterIPs ?? [];
  const before = live.clusterIPs ?? [];
  const here = report.at("clusterIPs");
  for (const [index, address] of before.slice(0, 2).entries()) {
    const compared = index === 0 ? now.length > 0 || before.length === 0 : now.length === before.length;
    if (compared && now[index] !== address) here.at(index).invalid(now, "may not change once set");
  }
  if (now.length >= before.length) return;
  if (now.length === 0) here.at(0).invalid(now, "primary clusterIP can not be unset");
  if (now.length === 1) checkReleased(spec, "secondary clusterIP", report);
}

/** As {@link checkAddressUpdate}, for the families. */
export function checkFamilyUpdate(spec: ServiceSpec, live: ServiceSpec, report: FieldReport): void {
  if (!haveAddresses(spec, live)) return;
  // Invalid families are reported by their own rule.
  if (spec.ipFamilies?.every((family) => families.includes(family)) === false) return;
  // A headless service has no addresses that would fix the families.
  if (isHeadless(spec) || isHeadless(live)) return;
  const now = spec.ipFamilies ?? [];
  const before = live.ipFamilies ?? [];
  const here = report.at("ipFamilies");
  for (const [index, family] of before.slice(0, 2).entries()) {
    const compared = index === 0 ? now.length > 0 : now.length === before.length;
    if (compared && now[index] !== family) here.at(index).invalid(now, "may not change once set");
  }
  if (now.length >= before.length) return;
  if (now.length === 0) here.at(0).invalid(now, "primary ipFamily can not be unset");
  if (now.length === 1) checkReleased(spec, "secondary ipFamily", report);
}

function checkReleased(spec: ServiceSpec, what: string, report: FieldReport): void {
  if (spec.ipFamilyPolicy === "SingleStack") return;
  report
    .at("ipFamilyPolicy")
    .invalid(spec.ipFamilyPolicy, `must be set to 'SingleStack' when releasing the ${what}`);
}
