import { isDeepStrictEqual } from "node:util";
import type { Client } from "../../resources/clients/client.ts";
import { isRaced, unlessRaced } from "../../resources/clients/races.ts";
import type { ApiObject } from "../../schema/kind.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";

/** The namespace in which the API's own service is. */
export const apiServiceNamespace = "default";

interface Service extends ApiObject {
  spec: { ports?: { name?: string; protocol?: string; port: number; targetPort?: number | string }[] };
}

/**
 * Makes the Service by which pods reach the API: `default/kubernetes` in the reference, port 443. One that is there keeps
 * its address; its ports are brought up to date.
 *
 * @param clusterIp the address it gets; undefined leaves the choice to the server.
 * @param port the port on which the server listens.
 * @throws {StatusError} Invalid while something else has the address.
 */
export async function ensureApiService(
  client: Client,
  { apiServiceName: name }: Vocabulary,
  { clusterIp, port }: { readonly clusterIp: string | undefined; readonly port: number },
): Promise<void> {
  const reference = { apiVersion: "v1", kind: "Service", namespace: apiServiceNamespace, name };
  const ports = [{ name: "https", protocol: "TCP", port: 443, targetPort: port }];
  const live = await client.find<Service>(reference);
  if (live === undefined) {
    const labels = { component: "apiserver", provider: name };
    const spec = { type: "ClusterIP", sessionAffinity: "None", ports };
    try {
      await client.add({
        apiVersion: "v1",
        kind: "Service",
        metadata: { name, namespace: apiServiceNamespace, labels },
        spec: clusterIp === undefined ? spec : { ...spec, clusterIP: clusterIp },
      });
    } catch (error) {
      // Another server that starts at the same time may have made it, and have the address for it.
      if (!isRaced(error) && (await client.find(reference)) === undefined) throw error;
    }
  } else if (!isDeepStrictEqual(live.spec.ports, ports)) {
    await unlessRaced(() =>
      client.update({ ...live, metadata: { ...live.metadata }, spec: { ...live.spec, ports } }),
    );
  }
}
