import { isIPv6 } from "node:net";
import { clusterInfo } from "../../controllers/bootstrap/signer.ts";
import type { Client } from "../../resources/clients/client.ts";
import { createIfAbsent } from "../../controllers/bootstrap/default-objects.ts";
import { publicKubeconfig } from "./kubeconfig.ts";
import { stackOf } from "../../base/logger.ts";
import type { ServerOptions } from "../options/server-options.ts";
import { isStoreBusy } from "../start/start-writes.ts";

/**
 * Creates the ConfigMap `cluster-info`, in which new nodes find the server's address and CA certificate (spec:
 * conventions 2.7). An existing one isn't changed. The server starts even if it can't be created.
 *
 * @param url the address on which the server listens.
 * @param caCertificate PEM of the CA; undefined if clients should use their own trusted CAs.
 * @throws if the store accepts no writes at present.
 */
export async function publishClusterInfo(
  { vocabulary, extraHosts, log }: ServerOptions,
  client: Client,
  url: string,
  caCertificate: string | undefined,
): Promise<void> {
  const { name, payloadKey } = clusterInfo;
  const metadata = { name, namespace: vocabulary.publicNamespace };
  const server = publicUrl(url, extraHosts);
  const data = { [payloadKey]: publicKubeconfig(server, caCertificate) };
  try {
    await createIfAbsent(client, { apiVersion: "v1", kind: "ConfigMap", metadata, data });
  } catch (error) {
    if (isStoreBusy(error)) throw error;
    log.error({ error: stackOf(error) }, `${name} could not be made`);
  }
}

/**
 * Returns the URL for clients on other hosts: the first additional name of the certificate, otherwise the listening
 * address. A server that listens on all addresses without such a name gets `localhost`.
 */
export function publicUrl(url: string, extraHosts: readonly string[]): string {
  const { hostname, port } = new URL(url);
  const listensOnAll = hostname === "0.0.0.0" || hostname === "[::]";
  const [host = listensOnAll ? "localhost" : hostname] = extraHosts;
  const name = isIPv6(host) ? `[${host}]` : host;
  return `https://${name}${port === "" ? "" : `:${port}`}`;
}
