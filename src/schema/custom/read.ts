import { deepClone, setMember, type JsonObject, type JsonValue } from "../../base/json/value.ts";
import { unknownValue, type SchemaNode } from "./schema-node.ts";

/** Callbacks of the decoder of the enclosing object. */
export interface PruneCallbacks {
  /** Called for a member without schema, which is dropped. */
  unknown(path: readonly (string | number)[]): void;
  /** Decodes the metadata of an embedded object. */
  metadata(value: JsonValue, path: readonly (string | number)[]): JsonValue;
}

/** The members that every embedded object has. */
const embeddedNames = new Set(["apiVersion", "kind", "metadata"]);

/**
 * Copies the members of an object that have a schema ("pruning"; spec: conventions 4.8). Types aren't checked: a value of a
 * wrong type is kept, and {@link checkValue} rejects it.
 *
 * @param path path of the object; restored at the end of the call.
 * @param preserves whether members without a schema are kept; the value of a list also applies to its items.
 */
export function pruneMembers(
  node: SchemaNode,
  source: JsonObject,
  path: (string | number)[],
  callbacks: PruneCallbacks,
  preserves = node.preserves,
): JsonObject {
  const result: JsonObject = {};
  for (const name of Object.keys(source)) {
    const value = source[name];
    if (value === undefined) continue;
    path.push(name);
    if (node.embedded && embeddedNames.has(name)) {
      setMember(result, name, name === "metadata" ? callbacks.metadata(value, path) : value);
    } else {
      // With `additionalProperties: false` the member is kept, so that validation rejects it.
      const memberSchema =
        node.properties.get(name) ?? node.additional ?? (node.closed ? unknownValue : undefined);
      if (memberSchema !== undefined)
        setMember(result, name, pruneValue(memberSchema, value, path, callbacks));
      else if (preserves) setMember(result, name, deepClone(value));
      else callbacks.unknown(path);
    }
    path.pop();
  }
  return result;
}

function pruneValue(
  node: SchemaNode,
  value: JsonValue,
  path: (string | number)[],
  callbacks: PruneCallbacks,
  preserves = node.preserves,
): JsonValue {
  if (typeof value !== "object" || value === null) return value;
  if (!Array.isArray(value)) return pruneMembers(node, value, path, callbacks, preserves);
  const { items } = node;
  if (items === undefined && preserves) return deepClone(value);
  return value.map((item, index) => {
    path.push(index);
    const memberSchema = items ?? unknownValue;
    const read = pruneValue(memberSchema, item, path, callbacks, preserves || memberSchema.preserves);
    path.pop();
    return read;
  });
}
