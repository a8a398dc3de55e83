import { balancerAddresses } from "../../cells.ts";
import type { ServicePort, ServiceSpec } from "./spec.ts";
import type { ServiceStatus } from "./status.ts";

interface Shown {
  readonly spec?: ServiceSpec | undefined;
  readonly status?: ServiceStatus | undefined;
}

/** Returns the external address of a service, depending on its type. */
export function externalAddress({ spec = {}, status }: Shown): string {
  const externalIps = spec.externalIPs ?? [];
  switch (spec.type) {
    case "ClusterIP":
    case "NodePort":
      return externalIps.length === 0 ? "<none>" : externalIps.join(",");
    case "LoadBalancer": {
      const all = [...balancerAddresses(status?.loadBalancer?.ingress), ...externalIps];
      return all.length === 0 ? "<pending>" : all.join(",");
    }
    case "ExternalName":
      return spec.externalName ?? "";
    default:
      return "<unknown>";
  }
}

/** Returns ports as `80/TCP,443:30443/TCP`; empty without ports. */
export function portsText(ports: readonly ServicePort[] | undefined): string {
  return (ports ?? [])
    .map(({ port, nodePort = 0, protocol = "" }) =>
      nodePort > 0 ? `${port}:${nodePort}/${protocol}` : `${port}/${protocol}`,
    )
    .join(",");
}
