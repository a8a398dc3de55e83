import { deepClone, setMember, type JsonObject, type JsonValue } from "../../base/json/value.ts";
import { unknownValue, type SchemaNode } from "./schema-node.ts";

/** What reading a value needs of whoever reads the object around it. */
export interface ReadSupport {
  /** Notes a member that no schema knows; it is dropped. */
  unknown(steps: readonly (string | number)[]): void;
  /** Reads the metadata of an embedded object. */
  metadata(value: JsonValue, steps: readonly (string | number)[]): JsonValue;
}

/** The members that every embedded object has. */
const embeddedNames = new Set(["apiVersion", "kind", "metadata"]);

/**
 * Copies what the schema knows of an object's members ("pruning"; spec: conventions 4.8). Types aren't checked here: a value
 * of a wrong type is kept for {@link checkValue} to refuse.
 *
 * @param steps where the object stands; restored when the call ends.
 * @param preserves whether members without a schema are kept; that of a list holds for its items too.
 */
export function readMembers(
  node: SchemaNode,
  source: JsonObject,
  steps: (string | number)[],
  support: ReadSupport,
  preserves = node.preserves,
): JsonObject {
  const result: JsonObject = {};
  for (const name of Object.keys(source)) {
    const value = source[name];
    if (value === undefined) continue;
    steps.push(name);
    if (node.embedded && embeddedNames.has(name)) {
      setMember(result, name, name === "metadata" ? support.metadata(value, steps) : value);
    } else {
      // A member that is refused is kept for that.
      const below = node.properties.get(name) ?? node.additional ?? (node.closed ? unknownValue : undefined);
      if (below !== undefined) setMember(result, name, readValue(below, value, steps, support));
      else if (preserves) setMember(result, name, deepClone(value));
      else support.unknown(steps);
    }
    steps.pop();
  }
  return result;
}

function readValue(
  node: SchemaNode,
  value: JsonValue,
  steps: (string | number)[],
  support: ReadSupport,
  preserves = node.preserves,
): JsonValue {
  if (typeof value !== "object" || value === null) return value;
  if (!Array.isArray(value)) return readMembers(node, value, steps, support, preserves);
  const { items } = node;
  if (items === undefined && preserves) return deepClone(value);
  return value.map((item, index) => {
    steps.push(index);
    const below = items ?? unknownValue;
    const read = readValue(below, item, steps, support, preserves || below.preserves);
    steps.pop();
    return read;
  });
}
