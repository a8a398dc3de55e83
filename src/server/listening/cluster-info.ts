import { isIPv6 } from "node:net";
import { clusterInfo } from "../../controllers/bootstrap/signer.ts";
import type { Client } from "../../resources/clients/client.ts";
import { createIfAbsent } from "../../controllers/bootstrap/default-objects.ts";
import { publicKubeconfig } from "./kubeconfig.ts";
import { stackOf } from "../../base/logger.ts";
import type { ServerOptions } from "../options/server-options.ts";
import { isStoreBusy } from "../start/start-writes.ts";

/**
 * Makes the config map in which newcomers find how to reach the server, and by which authority to recognize it (spec:
 * conventions 2.7). One that is there stays as it is: an administrator may have written it, or another server over the
 * same store. That it can't be made keeps nobody from being served.
 *
 * @param url where the server listens.
 * @param caCertificate PEM of the authority; undefined where clients are to use those that they know.
 * @throws the store takes no writes at present.
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
 * Where others reach a server: under the first further name of its certificate, if it has one, else where it listens. One
 * that listens on all addresses is known by none of them, but on its own machine.
 */
export function publicUrl(url: string, extraHosts: readonly string[]): string {
  const { hostname, port } = new URL(url);
  const everywhere = hostname === "0.0.0.0" || hostname === "[::]";
  const [host = everywhere ? "localhost" : hostname] = extraHosts;
  const name = isIPv6(host) ? `[${host}]` : host;
  return `https://${name}${port === "" ? "" : `:${port}`}`;
}
