import { dnsSubdomainFaults } from "../../base/names.ts";
import type { KindContext } from "../../schema/context.ts";
import type { FieldReport } from "../../schema/faults.ts";
import { isAddress } from "./addresses.ts";
import { unambiguousAddress } from "./strict-addresses.ts";

/** An ingress point of a load balancer. */
interface Point {
  readonly ip?: string | undefined;
  readonly hostname?: string | undefined;
}

/** Checks the ingress points of a load balancer's status: their addresses and host names. */
export function loadBalancerPoints(points: readonly Point[] | undefined, report: FieldReport): void {
  for (const [index, { ip = "", hostname = "" }] of (points ?? []).entries()) {
    if (report.full) return;
    if (ip !== "" && !isAddress(ip)) report.at(index, "ip").invalid(ip, "must be a valid IP address");
    if (hostname === "") continue;
    for (const message of dnsSubdomainFaults(hostname))
      report.at(index, "hostname").invalid(hostname, message);
    if (isAddress(hostname)) {
      report.at(index, "hostname").invalid(hostname, "must be a DNS name, not an IP address");
    }
  }
}

/** Rejects addresses of ingress points that programs read differently, except those of the stored object. */
export function unambiguousPoints(
  points: readonly Point[] | undefined,
  live: readonly Point[] | undefined,
  report: FieldReport,
  context: KindContext,
): void {
  const existing = (live ?? []).map(({ ip = "" }) => ip);
  for (const [index, { ip = "" }] of (points ?? []).entries())
    unambiguousAddress(ip, report.at(index, "ip"), context, existing);
}
