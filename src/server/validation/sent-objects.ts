import { encodeJson } from "../../base/json/encode.ts";
import type { JsonObject } from "../../base/json/value.ts";

const bodies = new WeakMap<JsonObject, Buffer>();

/** Returns the JSON of an object, which the servers of all releases get. */
export function bodyOf(value: JsonObject): Buffer {
  let body = bodies.get(value);
  if (body === undefined) bodies.set(value, (body = Buffer.from(encodeJson(value))));
  return body;
}

/** Sets the namespace; an empty one changes nothing. */
export function withNamespace(value: JsonObject, namespace: string): JsonObject {
  if (namespace === "") return value;
  return { ...value, metadata: { ...(value["metadata"] as JsonObject), namespace } };
}

/** Adds labels that the object doesn't have. */
export function withLabels(value: JsonObject, labels: Readonly<Record<string, string>>): JsonObject {
  const metadata = (value["metadata"] ?? {}) as JsonObject;
  return {
    ...value,
    metadata: { ...metadata, labels: { ...labels, ...(metadata["labels"] as JsonObject) } },
  };
}
