import type { FieldReport } from "../../../schema/faults.ts";
import { same } from "../../checks/values.ts";
import type { ServiceSpec } from "./spec.ts";

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

/** Keeps what the server allocated and a writer left out, so that writing the same service again changes nothing. */
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

/** Ports are recognised by their names; a number that the writer gave to another port is taken. */
function keepNodePorts(spec: ServiceSpec, live: ServiceSpec): void {
  const before = new Map((live.ports ?? []).map((port) => [port.name ?? "", port.nodePort ?? 0]));
  const taken = new Set((spec.ports ?? []).map((port) => port.nodePort ?? 0));
  for (const port of spec.ports ?? []) {
    if ((port.nodePort ?? 0) !== 0) continue;
    const number = before.get(port.name ?? "") ?? 0;
    if (number === 0 || taken.has(number)) continue;
    port.nodePort = number;
    taken.add(number);
  }
}

/** Clients that know only one of `clusterIP` and `clusterIPs` change both with it. */
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

/** Asking for one family only is enough to release the second address. */
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
 * A writer who only changes the type needn't know what else goes with it: what the new type doesn't have is dropped, unless
 * the writer changed it too, which is a mistake that the rules then name.
 */
export function dropWhatNoLongerApplies(spec: ServiceSpec, live: ServiceSpec): void {
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

/** The port of health checks stays as long as there are any. */
export function checkHealthCheckUpdate(spec: ServiceSpec, live: ServiceSpec, place: FieldReport): void {
  if (
    !hasHealthCheck(spec) ||
    !hasHealthCheck(live) ||
    same(spec.healthCheckNodePort, live.healthCheckNodePort)
  )
    return;
  place.at("healthCheckNodePort").forbidden("field is immutable");
}
