import { applies, since } from "../../base/release-rows.ts";
import type { KindContext } from "../../schema/context.ts";
import type { FieldReport } from "../../schema/faults.ts";
import { canonicalAddress, familyOf, isAddress, reachableAddress } from "../checks/addresses.ts";
import { dnsSubdomain, fullyQualifiedName, labelValue } from "../checks/names.ts";

const maxEndpoints = 1000;
const maxAddresses = 100;
const maxPorts = 20_000;
const maxHints = 8;

interface Endpoint {
  readonly addresses?: readonly string[] | null;
}

/** Requires that the addresses of all endpoints have the slice's address type. */
export function checkEndpoints(
  endpoints: readonly Endpoint[],
  type: string,
  report: FieldReport,
  context: KindContext,
): void {
  if (endpoints.length > maxEndpoints) return report.tooMany(endpoints.length, maxEndpoints);
  for (const [index, { addresses }] of endpoints.entries()) {
    const here = report.at(index, "addresses");
    if ((addresses ?? []).length === 0) here.required("must contain at least 1 address");
    for (const [at, address] of (addresses ?? []).entries()) {
      if (report.full) return;
      checkAddress(address, type, here.at(at), context);
    }
  }
}

/** Whether addresses that aren't in canonical form are refused. */
const refusesOtherForms = applies(since("1.33"));

function checkAddress(
  address: string,
  type: string,
  report: FieldReport,
  context: Pick<KindContext, "release">,
): void {
  if (type === "FQDN") return fullyQualifiedName(address, report);
  if (type !== "IPv4" && type !== "IPv6") return;
  if (!isAddress(address) || familyOf(address) !== type)
    return report.invalid(address, `must be a valid ${type} address`);
  const canonical = canonicalAddress(address);
  if (canonical !== address && refusesOtherForms(context))
    return report.invalid(address, `must be in canonical form ("${canonical}")`);
  reachableAddress(address, report);
}

/** Limits the number of addresses of an endpoint. */
export function checkAddressCount(addresses: readonly string[], report: FieldReport): void {
  if (addresses.length > maxAddresses) report.tooMany(addresses.length, maxAddresses);
}

/** Requires unique names of ports; one may be empty. */
export function checkPortNames(
  ports: readonly { readonly name?: string | undefined }[],
  report: FieldReport,
): void {
  if (ports.length > maxPorts) return report.tooMany(ports.length, maxPorts);
  const seen = new Set<string>();
  for (const [index, { name = "" }] of ports.entries()) {
    if (report.full) return;
    if (seen.has(name)) report.at(index, "name").duplicate(name);
    seen.add(name);
  }
}

/** Requires unique zones that are valid label values. */
export function checkZones(zones: readonly { readonly name: string }[], report: FieldReport): void {
  checkNames(zones, labelValue, report);
}

/** Requires at most 8 unique names of nodes. */
export function checkNodes(nodes: readonly { readonly name: string }[], report: FieldReport): void {
  checkNames(nodes, dnsSubdomain, report);
}

function checkNames(
  items: readonly { readonly name: string }[],
  check: (name: string, report: FieldReport) => void,
  report: FieldReport,
): void {
  if (items.length > maxHints) return report.tooMany(items.length, maxHints);
  const seen = new Set<string>();
  for (const [index, { name }] of items.entries()) {
    const here = report.at(index, "name");
    if (seen.has(name)) here.duplicate(name);
    seen.add(name);
    check(name, here);
  }
}
