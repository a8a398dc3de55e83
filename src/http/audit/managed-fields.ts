import { isObject, type JsonObject, type JsonValue } from "../../base/json/value.ts";

/** Returns a copy of an object or list without `metadata.managedFields`. */
export function withoutManagedFields(value: JsonValue): JsonValue {
  if (!isObject(value)) return value;
  const { metadata, items } = value;
  const shown: JsonObject = { ...value };
  if (isObject(metadata) && metadata["managedFields"] !== undefined) {
    const { managedFields: _, ...rest } = metadata;
    shown["metadata"] = rest;
  }
  if (Array.isArray(items)) shown["items"] = items.map(withoutManagedFields);
  return shown;
}
