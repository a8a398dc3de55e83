import type { FieldReport } from "../../../schema/faults.ts";
import { portNumber } from "../../checks/numbers.ts";

/** Requires a container port; 0 means that it is missing. */
export function requiredPort(port: number, report: FieldReport): void {
  if (port === 0) report.required();
  else portNumber(port, report);
}

interface Port {
  readonly containerPort: number;
  readonly hostPort?: number | undefined;
  readonly hostIP?: string | undefined;
  readonly protocol?: string | undefined;
}

/** The members of a container with ports. */
interface PortHolder {
  readonly ports?: readonly Port[] | undefined;
}

/** Requires unique host ports among containers that run at the same time. */
export function uniqueHostPorts(container: PortHolder, usedPorts: Set<string>, report: FieldReport): void {
  for (const [index, port] of (container.ports ?? []).entries()) {
    if (port.hostPort === undefined || port.hostPort === 0) continue;
    const key = `${port.protocol ?? ""}/${port.hostIP ?? ""}/${port.hostPort}`;
    if (usedPorts.has(key)) report.at("ports", index, "hostPort").duplicate(key);
    usedPorts.add(key);
  }
}

/** Requires that container port and host port are equal in the host network. */
export function hostNetworkPorts(container: PortHolder, report: FieldReport): void {
  for (const [index, { containerPort, hostPort }] of (container.ports ?? []).entries()) {
    if (report.full) return;
    if ((hostPort ?? 0) === containerPort) continue;
    report
      .at("ports", index, "containerPort")
      .invalid(containerPort, "must match `hostPort` when `hostNetwork` is true");
  }
}

/** Sets missing host ports to the container port in the host network. Changes the container. */
export function fillHostPorts(container: {
  readonly ports?: { containerPort: number; hostPort?: number | undefined }[] | undefined;
}): void {
  for (const port of container.ports ?? []) {
    if ((port.hostPort ?? 0) === 0) port.hostPort = port.containerPort;
  }
}
