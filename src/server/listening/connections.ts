import type { BlockList } from "node:net";
import { deniedRanges } from "../../http/backends/addresses.ts";
import { nodeAddressTypes, type BackendTls, type ConnectionRules } from "../../http/backends/rules.ts";
import { isIdentityHeader } from "../../authentication/authenticating-proxy.ts";
import { identityHeaders } from "../authentication/authenticating-proxy.ts";
import { clientCertificate } from "../certificates/client-certificate.ts";
import { connectionLimit, openFileLimit } from "../start/open-files.ts";
import { OptionsError } from "../options/options-error.ts";
import type { ServerOptions } from "../options/server-options.ts";
import type { ConnectionSettings } from "../options/settings-types.ts";
import { readAuthorities } from "../certificates/serving.ts";

/** The share of all connections that pods, services and nodes may use. */
const backendShare = 1 / 2;

/**
 * Returns the connection rules of the options; reads the files that they name.
 *
 * @throws {OptionsError} if an option or file can't be used.
 */
export async function connectionRules(options: ServerOptions): Promise<ConnectionRules> {
  const { connections, maxConnections } = options;
  const { allowLoopback, nodeAddressTypes: addressTypes, nodeAgentTimeoutMs: timeoutMs } = connections;
  const unknown = addressTypes.find((type) => !nodeAddressTypes.includes(type));
  if (unknown !== undefined || addressTypes.length === 0) {
    const value = JSON.stringify(unknown ?? "");
    const message = `${value} is not one of ${nodeAddressTypes.join(", ")}`;
    throw new OptionsError(`--kubelet-preferred-address-types: ${message}`);
  }
  if (!(timeoutMs > 0)) throw new OptionsError("--kubelet-timeout: must be longer than 0s");
  const tls = { ...(await authorities(connections)), ...(await ownCertificate(connections)) };
  const identity = identityHeaders(options);
  return {
    maxSockets: Math.ceil(connectionLimit(maxConnections, openFileLimit()) * backendShare),
    targets: { allowLoopback, denied: denied(connections) },
    isIdentityHeader: (name) => identity !== undefined && isIdentityHeader(identity, name),
    nodeAgents: { tls, addressTypes, timeoutMs },
  };
}

function denied({ deniedRanges: entries }: ConnectionSettings): BlockList {
  try {
    return deniedRanges(entries);
  } catch (error) {
    if (error instanceof RangeError) throw new OptionsError(`--proxy-denied-cidrs: ${error.message}`);
    throw error;
  }
}

async function authorities({ nodeAgentCaFile: file }: ConnectionSettings): Promise<BackendTls> {
  if (file === undefined) return {};
  return { ca: (await readAuthorities("--kubelet-certificate-authority", file)).join("\n") };
}

async function ownCertificate(options: ConnectionSettings): Promise<BackendTls> {
  const { nodeAgentCertFile, nodeAgentKeyFile } = options;
  const flags = ["--kubelet-client-certificate", "--kubelet-client-key"] as const;
  return (await clientCertificate(flags, nodeAgentCertFile, nodeAgentKeyFile)) ?? {};
}
