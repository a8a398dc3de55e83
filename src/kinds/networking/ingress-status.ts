import { struct } from "./v1.ts";
import { field, int32, list, string } from "../../schema/types.ts";

const IngressPortStatus = struct("IngressPortStatus", "State of one port of an ingress.", {
  port: field(1, int32, "Number of the port.").declaredRequired(),
  protocol: field(2, string, "Protocol of the port.").declaredRequired().oneOf("SCTP", "TCP", "UDP"),
  error: field(3, string, "What is wrong with the port, as a name without blanks.").nullable(),
});

const IngressLoadBalancerIngress = struct(
  "IngressLoadBalancerIngress",
  "One point at which an ingress takes traffic in.",
  {
    ip: field(1, string, "Its address, for load balancers that have addresses."),
    hostname: field(2, string, "Its name, for load balancers that have names."),
    ports: field(4, list(IngressPortStatus), "State of the ports there.").atomic(),
  },
);

const IngressLoadBalancerStatus = struct(
  "IngressLoadBalancerStatus",
  "State of the load balancer of an ingress.",
  {
    ingress: field(1, list(IngressLoadBalancerIngress), "Points at which it takes traffic in.").atomic(),
  },
);

export const IngressStatus = struct("IngressStatus", "What an ingress is like now.", {
  loadBalancer: field(1, IngressLoadBalancerStatus, "State of the load balancer.").emitEmpty(),
});
