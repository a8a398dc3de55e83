import { StatusError } from "../base/status-error.ts";
import { clusterInfo } from "../controllers/bootstrap/signer.ts";
import type { Client } from "../resources/client.ts";
import { publicKubeconfig } from "./kubeconfig.ts";
import { stackOf, type ServerOptions } from "./options.ts";

/**
 * Makes the config map in which newcomers find how to reach the server, and by which authority to recognize it (spec:
 * conventions 2.7). One that is there stays as it is: an administrator may have written it, or another server over the
 * same store. That it can't be made keeps nobody from being served.
 *
 * @param url where the server is reached.
 * @param caCertificate PEM of the authority; undefined where clients are to use those that they know.
 */
export async function publishClusterInfo(
  { vocabulary, log }: ServerOptions,
  client: Client,
  url: string,
  caCertificate: string | undefined,
): Promise<void> {
  const { name, payloadKey } = clusterInfo;
  const metadata = { name, namespace: vocabulary.publicNamespace };
  const data = { [payloadKey]: publicKubeconfig(url, caCertificate) };
  try {
    await client.add({ apiVersion: "v1", kind: "ConfigMap", metadata, data });
  } catch (error) {
    if (error instanceof StatusError && error.reason === "AlreadyExists") return;
    log.error({ error: stackOf(error) }, `${name} could not be made`);
  }
}
