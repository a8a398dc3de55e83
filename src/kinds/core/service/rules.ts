import { labelKey } from "../../../vocabulary/names.ts";
import { applies, since } from "../../../base/release-rows.ts";
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
  const specReport = report.at("spec");
  checkType(spec, specReport);
  checkPorts(spec, specReport.at("ports"));
  if (spec.selector !== undefined) labelMap(spec.selector, specReport.at("selector"));
  checkAffinity(spec, specReport);
  checkAddresses(spec, specReport);
  checkSourceRanges(spec, metadata, report, context);
  checkBalancer(spec, specReport);
  checkTraffic(spec, specReport);
}

function checkType(spec: ServiceSpec, report: FieldReport): void {
  const { type, ports = [] } = spec;
  const headless = isHeadless(spec);
  if (ports.length === 0 && !headless && type !== "ExternalName") report.at("ports").required();
  if (type === "LoadBalancer") {
    for (const [index, { port }] of ports.entries()) {
      if (report.full) return;
      if (port === nodeAgentPort) {
        report
          .at("ports", index)
          .invalid(port, "is the node agent's port and may not be open to the outside");
      }
    }
  }
  if (headless && (type === "LoadBalancer" || type === "NodePort")) {
    report.at("clusterIPs", 0).invalid("None", `may not be set to 'None' for ${type} services`);
  }
  if (type === "ExternalName") checkExternalName(spec, report);
}

function checkExternalName(spec: ServiceSpec, report: FieldReport): void {
  const refuse = (name: string) => report.at(name).forbidden("may not be set for ExternalName services");
  if ((spec.clusterIPs ?? []).length > 0) refuse("clusterIPs");
  if ((spec.ipFamilies ?? []).length > 0) refuse("ipFamilies");
  if (spec.ipFamilyPolicy !== undefined) refuse("ipFamilyPolicy");
  const name = (spec.externalName ?? "").replace(/\.$/, "");
  if (name === "") report.at("externalName").required();
  else dnsSubdomain(name, report.at("externalName"));
}

/** Checks ports against each other; each port has its own rules in its declaration. */
function checkPorts({ ports = [], type }: ServiceSpec, report: FieldReport): void {
  const names = new Set<string>();
  const numbers = new Set<string>();
  const nodePorts = new Set<string>();
  for (const [index, port] of ports.entries()) {
    if (report.full) return;
    const here = report.at(index);
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

function checkAffinity(spec: ServiceSpec, report: FieldReport): void {
  const config = spec.sessionAffinityConfig;
  const here = report.at("sessionAffinityConfig");
  if (spec.sessionAffinity === "None" && config !== undefined) {
    here.forbidden("must not be set when session affinity is None");
  }
  if (spec.sessionAffinity !== "ClientIP") return;
  const seconds = config?.clientIP?.timeoutSeconds;
  const clientReport = here.at("clientIP");
  if (config === undefined) here.required("when session affinity type is ClientIP");
  else if (config.clientIP === undefined) clientReport.required("when session affinity type is ClientIP");
  else if (seconds === undefined) clientReport.at("timeoutSeconds").required();
  else if (seconds <= 0 || seconds > maxAffinitySeconds) {
    clientReport.at("timeoutSeconds").invalid(seconds, `must be from 1 to ${maxAffinitySeconds} seconds`);
  }
}

/** Whether invalid ranges of the spec are reported one by one. */
const checksEachRange = applies(since("1.30"));

/** Checks the ranges of allowed clients, in the spec or in the older annotation. */
function checkSourceRanges(
  spec: ServiceSpec,
  metadata: ObjectMetaValue,
  report: FieldReport,
  context: KindContext,
): void {
  const key = labelKey(context.vocabulary.domain, "load-balancer-source-ranges", "service.beta");
  const annotation = metadata.annotations?.[key];
  const ranges = spec.loadBalancerSourceRanges ?? [];
  if (ranges.length === 0 && annotation === undefined) return;
  const inSpec = ranges.length > 0;
  // The spelling of the reference.
  const annotationsReport = inSpec
    ? report.at("spec", "LoadBalancerSourceRanges")
    : report.at("metadata", "annotations").key(key);
  if (spec.type !== "LoadBalancer")
    annotationsReport.forbidden("may only be used when `type` is 'LoadBalancer'");
  if (inSpec && checksEachRange(context)) {
    for (const [index, range] of ranges.entries())
      if (!isCidr(range.trim())) annotationsReport.at(index).invalid(range, "must be a valid CIDR value");
    return;
  }
  const values = inSpec ? ranges : (annotation ?? "").trim() === "" ? [] : annotation!.split(",");
  if (!values.every((range) => isCidr(range.trim()))) {
    annotationsReport.invalid(
      inSpec ? ranges : annotation,
      "must be a list of IP ranges, such as 10.240.0.0/24,10.250.0.0/24",
    );
  }
}

function checkBalancer(spec: ServiceSpec, report: FieldReport): void {
  const allocates = spec.allocateLoadBalancerNodePorts;
  if (spec.type === "LoadBalancer") {
    if (allocates === undefined) report.at("allocateLoadBalancerNodePorts").required();
    if (spec.loadBalancerClass === undefined) return;
    for (const message of qualifiedNameFaults(spec.loadBalancerClass)) {
      report.at("loadBalancerClass").invalid(spec.loadBalancerClass, message);
    }
    return;
  }
  const onlyBalancers = "may only be used when `type` is 'LoadBalancer'";
  if (allocates !== undefined) report.at("allocateLoadBalancerNodePorts").forbidden(onlyBalancers);
  if (spec.loadBalancerClass !== undefined) report.at("loadBalancerClass").forbidden(onlyBalancers);
}

function checkTraffic(spec: ServiceSpec, report: FieldReport): void {
  const { type, externalTrafficPolicy = "", healthCheckNodePort = 0 } = spec;
  const external = type === "LoadBalancer" || type === "NodePort";
  const policyReport = report.at("externalTrafficPolicy");
  if (external && externalTrafficPolicy === "") policyReport.required();
  if (!external && externalTrafficPolicy !== "") {
    policyReport.invalid(
      externalTrafficPolicy,
      "may only be set when `type` is 'NodePort' or 'LoadBalancer'",
    );
  }
  // If it is missing, the server allocates one.
  if (healthCheckNodePort !== 0 && !(type === "LoadBalancer" && externalTrafficPolicy === "Local")) {
    report
      .at("healthCheckNodePort")
      .invalid(
        healthCheckNodePort,
        "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
      );
  }
  if (spec.internalTrafficPolicy === undefined && (external || type === "ClusterIP")) {
    report.at("internalTrafficPolicy").required();
  }
}

/** The class of a load balancer is set together with the type, and is immutable afterwards. */
export function checkClassUpdate(spec: ServiceSpec, live: ServiceSpec, report: FieldReport): void {
  if (spec.type !== "LoadBalancer" || live.type !== "LoadBalancer") return;
  if (spec.loadBalancerClass !== live.loadBalancerClass) {
    report.at("loadBalancerClass").invalid(spec.loadBalancerClass, "may not change once set");
  }
}
