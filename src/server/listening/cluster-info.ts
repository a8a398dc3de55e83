import { isIPv6 } from "node:net";
import { clusterInfo } from "../../controllers/bootstrap/signer.ts";
import type { Client } from "../../resources/clients/client.ts";
import { createIfAbsent } from "../../controllers/bootstrap/default-objects.ts";
import { publicKubeconfig } from "./kubeconfig.ts";
import { stackOf } from "../../base/logger.ts";
import type { ServerOptions } from "../options/server-options.ts";
import { isReachableFromOutside, publicHost } from "../certificates/serving-hosts.ts";
import type { HttpListener } from "../../http/transport/listener.ts";
import { isStoreBusy } from "../start/start-writes.ts";

/**
 * Creates the ConfigMap `cluster-info`, in which new nodes find the server's address and CA certificate (spec:
 * conventions 2.7). An existing one isn't changed. The server starts even if it can't be created.
 *
 * @param port the port on which the server listens.
 * @param caCertificate PEM of the CA; undefined if clients should use their own trusted CAs.
 * @throws if the store accepts no writes at present.
 */
export async function publishClusterInfo(
  options: ServerOptions,
  client: Client,
  port: number,
  caCertificate: string | undefined,
): Promise<void> {
  const { vocabulary, log } = options;
  const { name, payloadKey } = clusterInfo;
  const metadata = { name, namespace: vocabulary.publicNamespace };
  const server = urlOf(publicHost(options), port);
  const data = { [payloadKey]: publicKubeconfig(server, caCertificate) };
  try {
    await createIfAbsent(client, { apiVersion: "v1", kind: "ConfigMap", metadata, data });
  } catch (error) {
    if (isStoreBusy(error)) throw error;
    log.error({ error: stackOf(error) }, `${name} could not be made`);
  }
}

/** Returns the URL of a listener for this machine; undefined without one. */
export function localUrl(listener: HttpListener | undefined): string | undefined {
  if (listener === undefined) return undefined;
  const listensOnAll = listener.host === "0.0.0.0" || listener.host === "::";
  return urlOf(listensOnAll ? "localhost" : listener.host, listener.port);
}

/** Returns the URL of a listener for other machines; undefined without one, or if it listens on loopback only. */
export function publicUrl(options: ServerOptions, listener: HttpListener | undefined): string | undefined {
  if (listener === undefined || !isReachableFromOutside(listener.host)) return undefined;
  return urlOf(publicHost(options), listener.port);
}

/** Returns the URL of a server that clients reach by a name or address, without the port if that is 443. */
export function urlOf(host: string, port: number): string {
  const name = isIPv6(host) ? `[${host}]` : host;
  return `https://${name}${port === 443 ? "" : `:${port}`}`;
}
