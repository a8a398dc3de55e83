import { hostname } from "node:os";
import { CertificateFault, checkHost } from "../../base/certificates/serving-certificates.ts";
import { AddressRange } from "../../resources/services/address-range.ts";
import { apiServiceNamespace } from "../../controllers/api-service/service.ts";
import { outsideMachineAddresses } from "../../base/network/ip-address.ts";
import type { ServerOptions } from "../options/server-options.ts";

/** The options that decide at which names and addresses clients reach the server. */
export type HostOptions = Pick<
  ServerOptions,
  "host" | "extraHosts" | "advertiseAddress" | "serviceClusterIpRanges" | "vocabulary"
>;

/** The name of a machine and its addresses for other machines. */
export interface Machine {
  readonly name: string;
  readonly addresses: readonly string[];
}

function thisMachine(): Machine {
  return { name: hostname(), addresses: outsideMachineAddresses() };
}

/** Whether a server at a listening address can be reached from other machines. */
export function isReachableFromOutside(host: string): boolean {
  return !(host === "localhost" || host === "::1" || host.startsWith("127."));
}

/**
 * Returns the names and addresses of the serving certificate that the server creates: those of this machine, `--tls-san`
 * and `--advertise-address`. If other machines can reach the server, also the host name, the addresses on which it
 * listens, and the names and address of the API's own Service, as in the reference.
 */
export function servingHosts(options: HostOptions, machine: Machine = thisMachine()): string[] {
  const { host, extraHosts, advertiseAddress } = options;
  const outside = isReachableFromOutside(host)
    ? [...listeningAddresses(host, machine), ...machineName(machine), ...serviceHosts(options)]
    : [host];
  const advertised = advertiseAddress === undefined ? [] : [advertiseAddress];
  return [...new Set(["localhost", "127.0.0.1", "::1", ...outside, ...advertised, ...extraHosts])];
}

/**
 * Returns the name or address for clients on other machines: the first of `--tls-san`, else `--advertise-address`, else
 * the address on which the server listens, or the first of the machine if it listens on all. `localhost` for a machine
 * without addresses.
 */
export function publicHost(options: HostOptions, machine: Machine = thisMachine()): string {
  const { host, extraHosts, advertiseAddress } = options;
  return extraHosts[0] ?? advertiseAddress ?? listeningAddresses(host, machine)[0] ?? "localhost";
}

function listeningAddresses(host: string, { addresses }: Machine): readonly string[] {
  return host === "0.0.0.0" || host === "::" ? addresses : [host];
}

/** Returns the host name; empty if a certificate can't name it. */
function machineName({ name }: Machine): string[] {
  try {
    checkHost(name);
    return [name.toLowerCase()];
  } catch (error) {
    if (error instanceof CertificateFault) return [];
    throw error;
  }
}

function serviceHosts({ vocabulary, serviceClusterIpRanges: [range] }: HostOptions): string[] {
  const name = vocabulary.apiServiceName;
  const inNamespace = `${name}.${apiServiceNamespace}`;
  const names = [name, inNamespace, `${inNamespace}.svc`];
  const address = range === undefined ? undefined : AddressRange.parse(range)?.at(0);
  return address === undefined ? names : [...names, address];
}
