import { networkInterfaces, type NetworkInterfaceInfo } from "node:os";

/** Returns the current addresses of this machine's interfaces, loopback included. */
export function allMachineAddresses(): string[] {
  return interfaces().map(({ address }) => address);
}

/** Returns the current addresses at which other machines may reach this one: not loopback, not link-local IPv6 addresses. */
export function outsideMachineAddresses(): string[] {
  return interfaces()
    .filter((one) => !one.internal && !(one.family === "IPv6" && one.scopeid !== 0))
    .map(({ address }) => address);
}

function interfaces(): NetworkInterfaceInfo[] {
  return Object.values(networkInterfaces()).flatMap((all) => all ?? []);
}
