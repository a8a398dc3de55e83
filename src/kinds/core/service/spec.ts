import type { KindContext } from "../../../schema/context.ts";
import { struct } from "../v1.ts";
import type { FieldReport } from "../../../schema/faults.ts";
import { since } from "../../../schema/later-fields.ts";
import { type Static, bool, field, int32, intOrString, list, map, string } from "../../../schema/types.ts";
import { ipAddress, isAddress, reachableAddress } from "../../checks/addresses.ts";
import { dnsLabel, portNumberOrName, qualifiedName } from "../../checks/names.ts";
import { portNumber } from "../../checks/numbers.ts";
import { each } from "../../checks/values.ts";

const ServicePort = struct(
  "ServicePort",
  "One port of a service.",
  {
    name: field(
      1,
      string,
      "Name of the port, unique within the service; needed when there are several.",
    ).check(dnsLabel),
    protocol: field(2, string, "Protocol of the port.").default("TCP").oneOf("SCTP", "TCP", "UDP"),
    port: field(3, int32, "Number of the port at the service's address.").required().check(portNumber),
    targetPort: field(4, intOrString, "Number or name of the port of the pods; without it, the same as port.")
      .emitEmpty()
      .check(portNumberOrName),
    nodePort: field(5, int32, "Port on every node that leads to the service."),
    appProtocol: field(6, string, "Protocol that is spoken above the port's own.")
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

const ClientIPConfig = struct("ClientIPConfig", "How long requests of one client stay with one pod.", {
  timeoutSeconds: field(
    1,
    int32,
    "Seconds after which the client may be sent to another pod; at most a day.",
  ).nullable(),
});

const SessionAffinityConfig = struct("SessionAffinityConfig", "Settings of the session affinity.", {
  clientIP: field(1, ClientIPConfig, "Settings of the affinity by the client's address.").nullable(),
});
type SessionAffinityConfig = Static<typeof SessionAffinityConfig>;

export const ServiceSpec = struct(
  "ServiceSpec",
  "What a service should be.",
  {
    ports: field(1, list(ServicePort), "Ports that the service offers.")
      .mapBy("port", "protocol")
      .patchMerge("port"),
    selector: field(
      2,
      map(string),
      "Labels of the pods that serve; without it the server's controllers don't write the endpoints.",
    ).atomic(),
    clusterIP: field(
      3,
      string,
      "The service's first address inside the cluster; None for a headless service.",
    ),
    type: field(4, string, "How the service can be reached.")
      .unpublishedDefault("ClusterIP")
      .oneOf("ClusterIP", "ExternalName", "LoadBalancer", "NodePort"),
    externalIPs: field(5, list(string), "Further addresses at which nodes accept traffic for the service.")
      .atomic()
      .check(each(externalAddress)),
    sessionAffinity: field(7, string, "Whether requests of one client go to one pod.")
      .unpublishedDefault("None")
      .oneOf("ClientIP", "None"),
    loadBalancerIP: field(8, string, "Deprecated: the address that the load balancer should get."),
    loadBalancerSourceRanges: field(
      9,
      list(string),
      "Ranges of client addresses that the load balancer lets in.",
    ).atomic(),
    externalName: field(10, string, "Name outside of the cluster that the service stands for."),
    externalTrafficPolicy: field(
      11,
      string,
      "Whether traffic from outside goes to all pods or only to those of the node it arrived at.",
    ).oneOf("Cluster", "Local"),
    healthCheckNodePort: field(
      12,
      int32,
      "Port on every node that tells whether the node has pods of the service.",
    ).check(portNumber),
    publishNotReadyAddresses: field(13, bool, "Pods that aren't ready count as ready."),
    sessionAffinityConfig: field(14, SessionAffinityConfig, "Settings of the session affinity.").nullable(),
    ipFamilyPolicy: field(17, string, "Whether the service wants addresses of one or of both families.")
      .nullable()
      .checkedWhenEmpty()
      .oneOf("PreferDualStack", "RequireDualStack", "SingleStack"),
    clusterIPs: field(
      18,
      list(string),
      "The service's addresses inside the cluster, at most one a family; the first equals clusterIP.",
    ).atomic(),
    ipFamilies: field(19, list(string), "Families of the addresses, in the order of clusterIPs.")
      .atomic()
      .oneOf("IPv4", "IPv6")
      .unchecked(),
    allocateLoadBalancerNodePorts: field(
      20,
      bool,
      "Whether a service of type LoadBalancer gets node ports by itself.",
    ).nullable(),
    loadBalancerClass: field(
      21,
      string,
      "Kind of load balancer; it can only be set together with the type.",
    ).nullable(),
    internalTrafficPolicy: field(
      22,
      string,
      "Whether traffic inside the cluster goes to all pods or only to those of the same node.",
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
        field(23, string, "Which endpoints traffic prefers, by their place.")
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
