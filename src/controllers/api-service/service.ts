import { isDeepStrictEqual } from "node:util";
import type { Client } from "../../resources/clients/client.ts";
import { isRaced, unlessRaced } from "../../resources/clients/races.ts";
import type { ApiObject } from "../../schema/kind.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";

/** Namespace of the API's own service. */
export const apiServiceNamespace = "default";

interface Service extends ApiObject {
  spec: { ports?: { name?: string; protocol?: string; port: number; targetPort?: number | string }[] };
}

/**
 * Creates the Service by which pods reach the API: `default/kubernetes` in the reference, port 443. An existing Service
 * keeps its address; its ports are updated.
 *
 * @param clusterIp the address of a new Service; undefined to allocate one.
 * @param port the port on which the server listens.
 * @throws {StatusError} Invalid while the address is allocated to another object.
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
      // Another starting server may have created it with this address.
      if (!isRaced(error) && (await client.find(reference)) === undefined) throw error;
    }
  } else if (!isDeepStrictEqual(live.spec.ports, ports)) {
    await unlessRaced(() =>
      client.update({ ...live, metadata: { ...live.metadata }, spec: { ...live.spec, ports } }),
    );
  }
}
