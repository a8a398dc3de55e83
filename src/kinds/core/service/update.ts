import { applies, gate, until } from "../../../base/release-rows.ts";
import type { KindContext } from "../../../schema/context.ts";
import type { FieldReport } from "../../../schema/faults.ts";
import { same } from "../../checks/values.ts";
import type { ServiceSpec } from "./spec.ts";
import type { ServiceStatus } from "./status.ts";

const withAddress = new Set(["ClusterIP", "NodePort", "LoadBalancer"]);

function hasAddress({ type = "" }: ServiceSpec): boolean {
  return withAddress.has(type);
}

function hasNodePorts({ type }: ServiceSpec): boolean {
  return type === "NodePort" || type === "LoadBalancer";
}

function hasHealthCheck({ type, externalTrafficPolicy }: ServiceSpec): boolean {
  return type === "LoadBalancer" && externalTrafficPolicy === "Local";
}

/** Restores allocated values that an update omits, so that repeating a write changes nothing. */
export function keepAllocated(spec: ServiceSpec, live: ServiceSpec): void {
  if (hasAddress(spec) && hasAddress(live)) {
    if ((spec.clusterIP ?? "") === "" && live.clusterIP !== undefined) spec.clusterIP = live.clusterIP;
    if ((spec.clusterIPs ?? []).length === 0 && spec.clusterIP === live.clusterIP) {
      setAddresses(spec, live.clusterIPs);
    }
    if (spec.ipFamilyPolicy === undefined && live.ipFamilyPolicy !== undefined) {
      spec.ipFamilyPolicy = live.ipFamilyPolicy;
    }
    if ((spec.ipFamilies ?? []).length === 0 && live.ipFamilies !== undefined) {
      spec.ipFamilies = [...live.ipFamilies];
    }
  }
  if (hasNodePorts(spec) && hasNodePorts(live)) keepNodePorts(spec, live);
  if (hasHealthCheck(spec) && hasHealthCheck(live) && (spec.healthCheckNodePort ?? 0) === 0) {
    if (live.healthCheckNodePort !== undefined) spec.healthCheckNodePort = live.healthCheckNodePort;
  }
}

/** Restores node ports by the name of the port, unless another port of the update has the number. */
function keepNodePorts(spec: ServiceSpec, live: ServiceSpec): void {
  const before = new Map((live.ports ?? []).map((port) => [port.name ?? "", port.nodePort ?? 0]));
  const usedPorts = new Set((spec.ports ?? []).map((port) => port.nodePort ?? 0));
  for (const port of spec.ports ?? []) {
    if ((port.nodePort ?? 0) !== 0) continue;
    const number = before.get(port.name ?? "") ?? 0;
    if (number === 0 || usedPorts.has(number)) continue;
    port.nodePort = number;
    usedPorts.add(number);
  }
}

/** If an update changes only one of `clusterIP` and `clusterIPs`, changes the other one too. */
export function syncAddresses(spec: ServiceSpec, live: ServiceSpec): void {
  const { clusterIP = "" } = spec;
  const before = live.clusterIP ?? "";
  if (clusterIP === before) {
    if ((spec.clusterIPs ?? []).length === 0) setAddresses(spec, live.clusterIPs);
    return;
  }
  if (!same(spec.clusterIPs, live.clusterIPs)) return;
  setAddresses(spec, clusterIP === "" ? undefined : [clusterIP]);
}

/** Releases the secondary address if an update requests a single family. */
export function releaseSecondary(spec: ServiceSpec, live: ServiceSpec): void {
  const wasDual = live.ipFamilyPolicy !== undefined && live.ipFamilyPolicy !== "SingleStack";
  if (!wasDual || spec.ipFamilyPolicy !== "SingleStack") return;
  if (same(spec.clusterIPs, live.clusterIPs)) setAddresses(spec, spec.clusterIPs?.slice(0, 1));
  if (spec.ipFamilies !== undefined && same(spec.ipFamilies, live.ipFamilies)) {
    spec.ipFamilies = spec.ipFamilies.slice(0, 1);
  }
}

function setAddresses(spec: ServiceSpec, addresses: readonly string[] | undefined): void {
  if (addresses === undefined) delete spec.clusterIPs;
  else spec.clusterIPs = [...addresses];
}

/**
 * Drops members that the new type doesn't have, so that a client can change only the type. A member that the client
 * changed too remains, and is rejected by the rules.
 */
export function dropInapplicable(spec: ServiceSpec, live: ServiceSpec): void {
  const dropSame = (...names: readonly (keyof ServiceSpec)[]): void => {
    for (const name of names) if (same(spec[name], live[name])) delete spec[name];
  };
  if (hasAddress(live) && !hasAddress(spec)) {
    if (same(spec.clusterIPs, live.clusterIPs)) dropSame("clusterIP", "clusterIPs");
    dropSame("ipFamilies", "ipFamilyPolicy");
  }
  if (hasNodePorts(live) && !hasNodePorts(spec)) {
    if (same(nodePortsOf(spec), nodePortsOf(live))) for (const port of spec.ports ?? []) delete port.nodePort;
    dropSame("externalTrafficPolicy");
  }
  if (live.type !== "ExternalName" && spec.type === "ExternalName") dropSame("internalTrafficPolicy");
  if (hasHealthCheck(live) && !hasHealthCheck(spec)) dropSame("healthCheckNodePort");
  if (live.type === "LoadBalancer" && spec.type !== "LoadBalancer") {
    dropSame("allocateLoadBalancerNodePorts", "loadBalancerClass");
  }
}

function nodePortsOf({ ports = [] }: ServiceSpec): Set<number> {
  return new Set(ports.map((port) => port.nodePort ?? 0).filter((number) => number !== 0));
}

/** The port of health checks is immutable while health checks are in use. */
export function checkHealthCheckUpdate(spec: ServiceSpec, live: ServiceSpec, report: FieldReport): void {
  if (
    !hasHealthCheck(spec) ||
    !hasHealthCheck(live) ||
    same(spec.healthCheckNodePort, live.healthCheckNodePort)
  )
    return;
  report.at("healthCheckNodePort").forbidden("field is immutable");
}

const allowsStatus = applies(until("1.29"), gate("AllowServiceLBStatusOnNonLB"));

/** Requires the type LoadBalancer for a status with points of a load balancer (release 1.29 on). */
export function checkBalancerStatus(
  { spec, status }: { readonly spec?: ServiceSpec | undefined; readonly status?: ServiceStatus | undefined },
  report: FieldReport,
  context: KindContext,
): void {
  if (spec?.type === "LoadBalancer" || allowsStatus(context)) return;
  if ((status?.loadBalancer?.ingress ?? []).length === 0) return;
  report
    .at("status", "loadBalancer", "ingress")
    .forbidden("may only be used when `spec.type` is 'LoadBalancer'");
}
