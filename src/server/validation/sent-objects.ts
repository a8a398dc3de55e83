import { decodeJson } from "../../base/json/decode.ts";
import { encodeJson } from "../../base/json/encode.ts";
import type { JsonObject } from "../../base/json/value.ts";
import type { LocalRequest } from "../library/local-exchange.ts";

type SentForm = Required<Pick<LocalRequest, "body" | "document">>;

const sentForms = new WeakMap<JsonObject, SentForm>();

/** Returns the body of an object, which the servers of all releases get; it is encoded and decoded once. */
export function sentForm(value: JsonObject): SentForm {
  let form = sentForms.get(value);
  if (form === undefined) {
    const body = Buffer.from(encodeJson(value));
    sentForms.set(value, (form = { body, document: decodeJson(body) }));
  }
  return form;
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
