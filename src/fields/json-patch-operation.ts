import { type JsonObject, type JsonValue, getMember, isObject } from "../base/json/value.ts";
import { type Pointer, parsePointer } from "./json-pointer.ts";
import { malformedPatch } from "./patch-fault.ts";

/** One operation of a JSON patch (RFC 6902, section 4). */
export type Operation =
  | { readonly op: "add" | "replace" | "test"; readonly path: Pointer; readonly value: JsonValue }
  | { readonly op: "move" | "copy"; readonly path: Pointer; readonly from: Pointer }
  | { readonly op: "remove"; readonly path: Pointer };

/**
 * Parses an operation of a patch.
 *
 * @param index index in the patch, for messages.
 * @throws PatchFault if it is malformed.
 */
export function parseOperation(input: JsonValue, index: number): Operation {
  if (!isObject(input)) throw malformedPatch(`operation ${index} is not an object`);
  const op = getMember(input, "op");
  const path = pointerMember(input, "path", index);
  switch (op) {
    case "add":
    case "replace":
    case "test": {
      const value = getMember(input, "value");
      if (value === undefined) throw malformedPatch(`operation ${index} (${op}) has no "value"`);
      return { op, path, value };
    }
    case "move":
    case "copy":
      return { op, path, from: pointerMember(input, "from", index) };
    case "remove":
      return { op, path };
    default:
      throw malformedPatch(`operation ${index} has an unknown "op"`);
  }
}

function pointerMember(operation: JsonObject, name: string, index: number): Pointer {
  const text = getMember(operation, name);
  if (typeof text !== "string") throw malformedPatch(`operation ${index} has no string "${name}"`);
  return parsePointer(text);
}
