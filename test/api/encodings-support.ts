import { beforeAll } from "vitest";
import { ConfigMap } from "../../src/kinds/core/config-map.ts";
import { encodeMessage } from "../../src/schema/protobuf/encode-message.ts";
import { openEnvelope, sealEnvelope } from "../../src/schema/protobuf/envelope.ts";
import type { Answer } from "../support/api.ts";
import { useServer } from "../support/use-server.ts";

export const configMaps = "/api/v1/namespaces/default/configmaps";
export const binary = "application/vnd.platform.protobuf";
export const metadata = "as=PartialObjectMetadata;g=meta.platform.io;v=v1";
export const mapType = { apiVersion: "v1", kind: "ConfigMap" };
export const map = (name: string, data: Record<string, string> = { a: "1" }) => ({
  metadata: { name },
  data,
});
export const inBinary = (object: object) =>
  sealEnvelope(mapType, encodeMessage(ConfigMap.type, object as Record<string, unknown>));
export const nameOf = (item: object) => (item as { metadata: { name: string } }).metadata.name;

/** The content of a binary response, by the type in its envelope. */
export function opened({ bytes }: Pick<Answer, "bytes">) {
  const { apiVersion, kind, message } = openEnvelope(bytes);
  return { apiVersion, kind, message };
}

/** Starts a server with the ConfigMap `one`. */
export function useConfigMap() {
  const server = useServer();
  beforeAll(async () => {
    await server.admin.post(configMaps, map("one", { a: "1", b: "grüße" }));
  });
  return { server };
}
