import { qualifiedNameFaults } from "../../../base/names.ts";
import type { KindContext } from "../../../schema/context.ts";
import type { FieldReport } from "../../../schema/faults.ts";
import type { ObjectMetaValue } from "../../../schema/kind.ts";
import { isCidr } from "../../checks/addresses.ts";
import { dnsSubdomain, labelMap } from "../../checks/names.ts";
import { checkAddresses, isHeadless } from "./address-rules.ts";
import type { ServicePort, ServiceSpec } from "./spec.ts";

/** Port of the node agent, which must not be exposed. */
const nodeAgentPort = 10_250;
const maxAffinitySeconds = 86_400;

/** Checks the members of a service against each other. */
export function checkServiceSpec(
  spec: ServiceSpec,
  metadata: ObjectMetaValue,
  report: FieldReport,
  context: KindContext,
): void {
  const place = report.at("spec");
  checkType(spec, place);
  checkPorts(spec, place.at("ports"));
  if (spec.selector !== undefined) labelMap(spec.selector, place.at("selector"));
  checkAffinity(spec, place);
  checkAddresses(spec, place);
  checkSourceRanges(spec, metadata, report, context);
  checkBalancer(spec, place);
  checkTraffic(spec, place);
}

function checkType(spec: ServiceSpec, place: FieldReport): void {
  const { type, ports = [] } = spec;
  const headless = isHeadless(spec);
  if (ports.length === 0 && !headless && type !== "ExternalName") place.at("ports").required();
  if (type === "LoadBalancer") {
    for (const [index, { port }] of ports.entries()) {
      if (place.full) return;
      if (port === nodeAgentPort) {
        place.at("ports", index).invalid(port, "is the node agent's port and may not be open to the outside");
      }
    }
  }
  if (headless && (type === "LoadBalancer" || type === "NodePort")) {
    place.at("clusterIPs", 0).invalid("None", `may not be set to 'None' for ${type} services`);
  }
  if (type === "ExternalName") checkExternalName(spec, place);
}

function checkExternalName(spec: ServiceSpec, place: FieldReport): void {
  const refuse = (name: string) => place.at(name).forbidden("may not be set for ExternalName services");
  if ((spec.clusterIPs ?? []).length > 0) refuse("clusterIPs");
  if ((spec.ipFamilies ?? []).length > 0) refuse("ipFamilies");
  if (spec.ipFamilyPolicy !== undefined) refuse("ipFamilyPolicy");
  const name = (spec.externalName ?? "").replace(/\.$/, "");
  if (name === "") place.at("externalName").required();
  else dnsSubdomain(name, place.at("externalName"));
}

/** Checks ports against each other; each port has its own rules in its declaration. */
function checkPorts({ ports = [], type }: ServiceSpec, place: FieldReport): void {
  const names = new Set<string>();
  const numbers = new Set<string>();
  const nodePorts = new Set<string>();
  for (const [index, port] of ports.entries()) {
    if (place.full) return;
    const here = place.at(index);
    const { name = "", nodePort = 0 } = port;
    if (name !== "" && names.has(name)) here.at("name").duplicate(name);
    if (name === "" && ports.length > 1) here.at("name").required();
    names.add(name);
    if (type === "ClusterIP" && nodePort !== 0) {
      here.at("nodePort").forbidden("may not be used when `type` is 'ClusterIP'");
    }
    const nodeKey = keyOf(port, nodePort);
    if (nodePort !== 0 && nodePorts.has(nodeKey)) here.at("nodePort").duplicate(nodePort);
    nodePorts.add(nodeKey);
    const key = keyOf(port, port.port);
    if (numbers.has(key)) here.duplicate({ protocol: port.protocol, port: port.port });
    numbers.add(key);
  }
}

function keyOf(port: ServicePort, number: number): string {
  return `${port.protocol ?? ""}/${number}`;
}

function checkAffinity(spec: ServiceSpec, place: FieldReport): void {
  const config = spec.sessionAffinityConfig;
  const here = place.at("sessionAffinityConfig");
  if (spec.sessionAffinity === "None" && config !== undefined) {
    here.forbidden("must not be set when session affinity is None");
  }
  if (spec.sessionAffinity !== "ClientIP") return;
  const seconds = config?.clientIP?.timeoutSeconds;
  const clientPlace = here.at("clientIP");
  if (config === undefined) here.required("when session affinity type is ClientIP");
  else if (config.clientIP === undefined) clientPlace.required("when session affinity type is ClientIP");
  else if (seconds === undefined) clientPlace.at("timeoutSeconds").required();
  else if (seconds <= 0 || seconds > maxAffinitySeconds) {
    clientPlace.at("timeoutSeconds").invalid(seconds, `must be from 1 to ${maxAffinitySeconds} seconds`);
  }
}

/** Checks the ranges of allowed clients, in the spec or in the older annotation. */
function checkSourceRanges(
  spec: ServiceSpec,
  metadata: ObjectMetaValue,
  report: FieldReport,
  { vocabulary }: KindContext,
): void {
  const key = `service.beta.${vocabulary.domain}/load-balancer-source-ranges`;
  const annotation = metadata.annotations?.[key];
  const ranges = spec.loadBalancerSourceRanges ?? [];
  if (ranges.length === 0 && annotation === undefined) return;
  const inSpec = ranges.length > 0;
  // The spelling of the reference.
  const place = inSpec
    ? report.at("spec", "LoadBalancerSourceRanges")
    : report.at("metadata", "annotations").key(key);
  if (spec.type !== "LoadBalancer") place.forbidden("may only be used when `type` is 'LoadBalancer'");
  const values = inSpec ? ranges : (annotation ?? "").trim() === "" ? [] : annotation!.split(",");
  if (!values.every((range) => isCidr(range.trim()))) {
    place.invalid(
      inSpec ? ranges : annotation,
      "must be a list of IP ranges, such as 10.240.0.0/24,10.250.0.0/24",
    );
  }
}

function checkBalancer(spec: ServiceSpec, place: FieldReport): void {
  const allocates = spec.allocateLoadBalancerNodePorts;
  if (spec.type === "LoadBalancer") {
    if (allocates === undefined) place.at("allocateLoadBalancerNodePorts").required();
    if (spec.loadBalancerClass === undefined) return;
    for (const message of qualifiedNameFaults(spec.loadBalancerClass)) {
      place.at("loadBalancerClass").invalid(spec.loadBalancerClass, message);
    }
    return;
  }
  const onlyBalancers = "may only be used when `type` is 'LoadBalancer'";
  if (allocates !== undefined) place.at("allocateLoadBalancerNodePorts").forbidden(onlyBalancers);
  if (spec.loadBalancerClass !== undefined) place.at("loadBalancerClass").forbidden(onlyBalancers);
}

function checkTraffic(spec: ServiceSpec, place: FieldReport): void {
  const { type, externalTrafficPolicy = "", healthCheckNodePort = 0 } = spec;
  const external = type === "LoadBalancer" || type === "NodePort";
  const policyPlace = place.at("externalTrafficPolicy");
  if (external && externalTrafficPolicy === "") policyPlace.required();
  if (!external && externalTrafficPolicy !== "") {
    policyPlace.invalid(externalTrafficPolicy, "may only be set when `type` is 'NodePort' or 'LoadBalancer'");
  }
  // If it is missing, the server allocates one.
  if (healthCheckNodePort !== 0 && !(type === "LoadBalancer" && externalTrafficPolicy === "Local")) {
    place
      .at("healthCheckNodePort")
      .invalid(
        healthCheckNodePort,
        "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
      );
  }
  if (spec.internalTrafficPolicy === undefined && (external || type === "ClusterIP")) {
    place.at("internalTrafficPolicy").required();
  }
}

/** The class of a load balancer is set together with the type, and is immutable afterwards. */
export function checkClassUpdate(spec: ServiceSpec, live: ServiceSpec, place: FieldReport): void {
  if (spec.type !== "LoadBalancer" || live.type !== "LoadBalancer") return;
  if (spec.loadBalancerClass !== live.loadBalancerClass) {
    place.at("loadBalancerClass").invalid(spec.loadBalancerClass, "may not change once set");
  }
}
