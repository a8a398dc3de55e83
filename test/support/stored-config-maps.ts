import { randomUUID } from "node:crypto";
import { ConfigMap } from "../../src/kinds/core/config-map.ts";
import { decodeEntry, encodeObject } from "../../src/resources/objects/stored.ts";
import { keyOf } from "../../src/resources/registry/registry.ts";
import { engineOf, type TestServer } from "./api.ts";

/** What differs from ConfigMap to ConfigMap. */
interface ConfigMapParts {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly data?: Readonly<Record<string, string>>;
}

/**
 * Stores many ConfigMaps. A request creates the first one, the others are like it: requests for all of them would take most of the time of
 * a test of long lists.
 */
export async function storeConfigMaps(
  server: TestServer,
  namespace: string,
  maps: readonly ConfigMapParts[],
): Promise<void> {
  const [first, ...others] = maps;
  if (first === undefined) return;
  const { name, labels = {}, data } = first;
  const header = { apiVersion: "v1", kind: "ConfigMap" };
  await server.server.client.create({ ...header, metadata: { name, namespace, labels }, data });
  const { registry, store } = engineOf(server);
  const resource = registry.require(ConfigMap);
  const stored = decodeEntry((await store.get(keyOf(resource, namespace, name)))!);
  for (const { name: other, labels: ownLabels = {}, data: ownData } of others) {
    const metadata = { ...stored.metadata, name: other, labels: ownLabels, uid: randomUUID() };
    const draft = encodeObject(resource, { ...stored, metadata, data: ownData } as typeof stored);
    await store.commit({ kind: "create", key: keyOf(resource, namespace, other), draft });
  }
}
