import { struct } from "../v1.ts";
import { Condition } from "../../meta/condition.ts";
import { since } from "../../../schema/later-fields.ts";
import { type Static, field, int32, list, string } from "../../../schema/types.ts";

const PortStatus = struct("PortStatus", "State of one port of a load balancer.", {
  port: field(1, int32, "Number of the service's port.").declaredRequired(),
  protocol: field(2, string, "Protocol of the service's port.")
    .declaredRequired()
    .oneOf("SCTP", "TCP", "UDP"),
  error: field(3, string, "What is wrong with the port, as a name without blanks.").nullable(),
});

const LoadBalancerIngress = struct(
  "LoadBalancerIngress",
  "One point at which a load balancer takes traffic in.",
  {
    ip: field(1, string, "Its address, for load balancers that have addresses."),
    hostname: field(2, string, "Its name, for load balancers that have names."),
    ports: field(4, list(PortStatus), "State of the service's ports there.").atomic(),
  },
  {
    later: () => ({
      ipMode: since(
        "1.29",
        field(3, string, "Whether nodes deliver traffic for the address, or the load balancer does.")
          .nullable()
          .oneOf("Proxy", "VIP")
          .gated("LoadBalancerIPMode"),
      ),
    }),
  },
);

const LoadBalancerStatus = struct("LoadBalancerStatus", "State of a load balancer.", {
  ingress: field(1, list(LoadBalancerIngress), "Points at which it takes traffic in.").atomic(),
});

export const ServiceStatus = struct("ServiceStatus", "What a service is like now.", {
  loadBalancer: field(1, LoadBalancerStatus, "State of the load balancer, if there is one.").emitEmpty(),
  conditions: field(2, list(Condition), "What is known about the service's state.")
    .mapBy("type")
    .patchMerge("type"),
});
export type ServiceStatus = Static<typeof ServiceStatus>;
