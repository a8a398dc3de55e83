import { since } from "../../../base/release-rows.ts";
import type { KindContext } from "../../../schema/context.ts";
import { struct } from "../v1.ts";
import type { FieldReport } from "../../../schema/faults.ts";
import { type Static, bool, field, int32, intOrString, list, map, string } from "../../../schema/types.ts";
import { ipAddress, isAddress, reachableAddress } from "../../checks/addresses.ts";
import { dnsLabel, portNumberOrName, qualifiedName } from "../../checks/names.ts";
import { portNumber } from "../../checks/numbers.ts";
import { each } from "../../checks/values.ts";

const ServicePort = struct(
  "ServicePort",
  "A port of a Service.",
  {
    name: field(
      1,
      string,
      "Name of the port, unique in the service; required if there are several ports.",
    ).check(dnsLabel),
    protocol: field(2, string, "Protocol of the port: TCP, UDP or SCTP. Default: TCP.")
      .default("TCP")
      .oneOf("SCTP", "TCP", "UDP"),
    port: field(3, int32, "Port number of the service, 1 to 65535.").required().check(portNumber),
    targetPort: field(4, intOrString, "Port number or port name of the pods. Default: `port`.")
      .emitEmpty()
      .check(portNumberOrName),
    nodePort: field(
      5,
      int32,
      "Port on each node that forwards to the service, for NodePort and LoadBalancer; allocated if 0.",
    ),
    appProtocol: field(6, string, "Application protocol of the port, such as `http`.")
      .nullable()
      .checkedWhenEmpty()
      .check(qualifiedName),
  },
  {
    fill(port) {
      if (port.targetPort === undefined || port.targetPort === 0 || port.targetPort === "")
        port.targetPort = port.port;
    },
  },
);
export type ServicePort = Static<typeof ServicePort>;

const ClientIPConfig = struct("ClientIPConfig", "Settings of session affinity by client IP address.", {
  timeoutSeconds: field(
    1,
    int32,
    "Duration of the affinity in seconds, 1 to 86400. Default: 10800.",
  ).nullable(),
});

const SessionAffinityConfig = struct("SessionAffinityConfig", "Settings of session affinity.", {
  clientIP: field(1, ClientIPConfig, "Settings of session affinity by client IP address.").nullable(),
});
type SessionAffinityConfig = Static<typeof SessionAffinityConfig>;

export const ServiceSpec = struct(
  "ServiceSpec",
  "Desired state of a Service.",
  {
    ports: field(1, list(ServicePort), "Ports of the service.").mapBy("port", "protocol").patchMerge("port"),
    selector: field(
      2,
      map(string),
      "Labels of the pods behind the service; if empty, its endpoints are managed elsewhere.",
    ).atomic(),
    clusterIP: field(
      3,
      string,
      "First IP address of the service inside the cluster; `None` for a headless service.",
    ),
    type: field(
      4,
      string,
      "Type of the service: ClusterIP, NodePort, LoadBalancer or ExternalName. Default: ClusterIP.",
    )
      .unpublishedDefault("ClusterIP")
      .oneOf("ClusterIP", "ExternalName", "LoadBalancer", "NodePort"),
    externalIPs: field(
      5,
      list(string),
      "Additional IP addresses at which nodes accept traffic for the service.",
    )
      .atomic()
      .check(each(externalAddress)),
    sessionAffinity: field(7, string, "ClientIP to send each client to the same pod, or None. Default: None.")
      .unpublishedDefault("None")
      .oneOf("ClientIP", "None"),
    loadBalancerIP: field(8, string, "Deprecated: requested IP address of the load balancer."),
    loadBalancerSourceRanges: field(
      9,
      list(string),
      "Client address ranges that the load balancer admits, in CIDR notation.",
    ).atomic(),
    externalName: field(
      10,
      string,
      "DNS name to which the service is an alias; only for the type ExternalName.",
    ),
    externalTrafficPolicy: field(
      11,
      string,
      "Cluster sends external traffic to all pods, Local only to those of the receiving node. Default: Cluster.",
    ).oneOf("Cluster", "Local"),
    healthCheckNodePort: field(12, int32, "Port on each node for health checks of the load balancer.").check(
      portNumber,
    ),
    publishNotReadyAddresses: field(
      13,
      bool,
      "Whether pods that are not ready are treated as ready. Default: false.",
    ),
    sessionAffinityConfig: field(14, SessionAffinityConfig, "Settings of the session affinity.").nullable(),
    ipFamilyPolicy: field(
      17,
      string,
      "Policy for IP families: SingleStack, PreferDualStack or RequireDualStack.",
    )
      .nullable()
      .checkedWhenEmpty()
      .oneOf("PreferDualStack", "RequireDualStack", "SingleStack"),
    clusterIPs: field(
      18,
      list(string),
      "IP addresses of the service inside the cluster, at most one per family; the first equals `clusterIP`.",
    ).atomic(),
    ipFamilies: field(19, list(string), "IP families of `clusterIPs`, in the same order: IPv4, IPv6.")
      .atomic()
      .oneOf("IPv4", "IPv6")
      .unchecked(),
    allocateLoadBalancerNodePorts: field(
      20,
      bool,
      "Whether node ports are allocated for the type LoadBalancer. Default: true.",
    ).nullable(),
    loadBalancerClass: field(
      21,
      string,
      "Class of the load balancer implementation; it can only be set together with the type.",
    ).nullable(),
    internalTrafficPolicy: field(
      22,
      string,
      "Cluster sends internal traffic to all pods, Local only to those of the client's node. Default: Cluster.",
    )
      .nullable()
      .checkedWhenEmpty()
      .oneOf("Cluster", "Local"),
  },
  {
    fill: fillServiceSpec,
    later: () => ({
      trafficDistribution: since(
        "1.30",
        field(23, string, "Preference among the endpoints by topology, such as PreferClose.")
          .nullable()
          .checkedWhenEmpty()
          .check(trafficDistribution)
          .gated("ServiceTrafficDistribution"),
      ),
    }),
  },
);
export type ServiceSpec = Static<typeof ServiceSpec>;

/** Default duration of session affinity, in seconds. */
const affinitySeconds = 10_800;

interface Defaulted {
  type?: string | undefined;
  sessionAffinity?: string | undefined;
  sessionAffinityConfig?: SessionAffinityConfig | undefined;
  allocateLoadBalancerNodePorts?: boolean | undefined;
  externalTrafficPolicy?: string | undefined;
  internalTrafficPolicy?: string | undefined;
}

function fillServiceSpec(spec: Defaulted): void {
  const { type } = spec;
  if (spec.sessionAffinity === "None") delete spec.sessionAffinityConfig;
  if (
    spec.sessionAffinity === "ClientIP" &&
    spec.sessionAffinityConfig?.clientIP?.timeoutSeconds === undefined
  ) {
    spec.sessionAffinityConfig = { clientIP: { timeoutSeconds: affinitySeconds } };
  }
  if (type === "LoadBalancer") spec.allocateLoadBalancerNodePorts ??= true;
  if (type === "LoadBalancer" || type === "NodePort") spec.externalTrafficPolicy ??= "Cluster";
  if (type !== "ExternalName") spec.internalTrafficPolicy ??= "Cluster";
}

/** Allows the values of the release; several of them only with `PreferSameTrafficDistribution`. */
function trafficDistribution(value: string, report: FieldReport, { enabled }: KindContext): void {
  const more = enabled("PreferSameTrafficDistribution") ? ["PreferSameNode", "PreferSameZone"] : [];
  const allowed = ["PreferClose", ...more];
  if (!allowed.includes(value)) report.notSupported(value, allowed);
}

function externalAddress(text: string, report: FieldReport): void {
  if (isAddress(text)) reachableAddress(text, report);
  else ipAddress(text, report);
}
