import type { FieldReport } from "../../../schema/faults.ts";
import { portNumber } from "../../checks/numbers.ts";

/** The number of a container's port; 0 stands for none. */
export function requiredPort(port: number, place: FieldReport): void {
  if (port === 0) place.required();
  else portNumber(port, place);
}

interface Port {
  readonly containerPort: number;
  readonly hostPort?: number | undefined;
  readonly hostIP?: string | undefined;
  readonly protocol?: string | undefined;
}

/** What ports are checked for across containers. */
interface PortHolder {
  readonly ports?: readonly Port[] | undefined;
}

/** No port of the node is asked for twice, by the containers that run at the same time. */
export function uniqueHostPorts(container: PortHolder, taken: Set<string>, place: FieldReport): void {
  for (const [index, port] of (container.ports ?? []).entries()) {
    if (port.hostPort === undefined || port.hostPort === 0) continue;
    const key = `${port.protocol ?? ""}/${port.hostIP ?? ""}/${port.hostPort}`;
    if (taken.has(key)) place.at("ports", index, "hostPort").duplicate(key);
    taken.add(key);
  }
}

/** In the node's network a port is the same inside and outside. */
export function hostNetworkPorts(container: PortHolder, place: FieldReport): void {
  for (const [index, { containerPort, hostPort }] of (container.ports ?? []).entries()) {
    if (place.full) return;
    if ((hostPort ?? 0) === containerPort) continue;
    place
      .at("ports", index, "containerPort")
      .invalid(containerPort, "must match `hostPort` when `hostNetwork` is true");
  }
}

/** In the node's network a port without a host port gets its own number as one. Changes the container. */
export function fillHostPorts(container: {
  readonly ports?: { containerPort: number; hostPort?: number | undefined }[] | undefined;
}): void {
  for (const port of container.ports ?? []) {
    if ((port.hostPort ?? 0) === 0) port.hostPort = port.containerPort;
  }
}
