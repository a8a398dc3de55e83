import { struct } from "./v1.ts";
import { field, int32, list, string } from "../../schema/types.ts";

const IngressPortStatus = struct("IngressPortStatus", "Status of a port of a load balancer.", {
  port: field(1, int32, "Port number.").declaredRequired(),
  protocol: field(2, string, "Protocol of the port: TCP, UDP or SCTP.")
    .declaredRequired()
    .oneOf("SCTP", "TCP", "UDP"),
  error: field(
    3,
    string,
    "Reason for a failure of the port, in CamelCase or with a prefix such as `example.com/`.",
  ).nullable(),
});

const IngressLoadBalancerIngress = struct(
  "IngressLoadBalancerIngress",
  "An ingress point of a load balancer.",
  {
    ip: field(1, string, "IP address of the ingress point."),
    hostname: field(2, string, "Host name of the ingress point."),
    ports: field(4, list(IngressPortStatus), "Status of the ports of the ingress point.").atomic(),
  },
);

const IngressLoadBalancerStatus = struct(
  "IngressLoadBalancerStatus",
  "Status of the load balancer of an ingress.",
  {
    ingress: field(1, list(IngressLoadBalancerIngress), "Ingress points of the load balancer.").atomic(),
  },
);

export const IngressStatus = struct("IngressStatus", "Observed state of an Ingress.", {
  loadBalancer: field(1, IngressLoadBalancerStatus, "Status of the load balancer.").emitEmpty(),
});
