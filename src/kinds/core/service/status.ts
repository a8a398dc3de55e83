import { since } from "../../../base/release-rows.ts";
import { struct } from "../v1.ts";
import { Condition } from "../../meta/condition.ts";
import { type Static, field, int32, list, string } from "../../../schema/types.ts";

const PortStatus = struct("PortStatus", "Status of a port of a load balancer.", {
  port: field(1, int32, "Port number of the service.").declaredRequired(),
  protocol: field(2, string, "Protocol of the port: TCP, UDP or SCTP.")
    .declaredRequired()
    .oneOf("SCTP", "TCP", "UDP"),
  error: field(
    3,
    string,
    "Reason for a failure of the port, in CamelCase or with a prefix such as `example.com/`.",
  ).nullable(),
});

const LoadBalancerIngress = struct(
  "LoadBalancerIngress",
  "An ingress point of a load balancer.",
  {
    ip: field(1, string, "IP address of the ingress point."),
    hostname: field(2, string, "Host name of the ingress point."),
    ports: field(4, list(PortStatus), "Status of the ports of the ingress point.").atomic(),
  },
  {
    later: () => ({
      ipMode: since(
        "1.29",
        field(
          3,
          string,
          "Whether traffic reaches nodes with the load balancer's address (VIP) or not (Proxy). Default: VIP.",
        )
          .nullable()
          .oneOf("Proxy", "VIP")
          .gated("LoadBalancerIPMode"),
      ),
    }),
  },
);

const LoadBalancerStatus = struct("LoadBalancerStatus", "Status of a load balancer.", {
  ingress: field(1, list(LoadBalancerIngress), "Ingress points of the load balancer.").atomic(),
});

export const ServiceStatus = struct("ServiceStatus", "Observed state of a Service.", {
  loadBalancer: field(1, LoadBalancerStatus, "Status of the load balancer, if there is one.").emitEmpty(),
  conditions: field(2, list(Condition), "Conditions of the service, at most one per type.")
    .mapBy("type")
    .patchMerge("type"),
});
export type ServiceStatus = Static<typeof ServiceStatus>;
