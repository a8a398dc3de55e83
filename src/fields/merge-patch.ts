import { type JsonObject, type JsonValue, isObject, setMember } from "../base/json/value.ts";
import { malformedPatch } from "./patch-fault.ts";

/**
 * Applies a merge patch to an object of the API (RFC 7386; spec: conventions 4.7), where the patch must be an object.
 * Neither is changed; the result shares unmerged parts with both.
 * @throws PatchFault if the patch isn't an object.
 */
export function applyMergePatch(target: JsonValue, patch: JsonValue): JsonValue {
  if (!isObject(patch)) throw malformedPatch("a merge patch is an object");
  return mergeJson(target, patch);
}

/**
 * RFC 7386 for any two values: null removes a member, an object merges, everything else replaces. As in Kubernetes, null
 * members of objects in a list are removed too.
 */
export function mergeJson(target: JsonValue | undefined, patch: JsonValue): JsonValue {
  if (Array.isArray(patch)) return patch.map((item) => mergeJson(undefined, item));
  if (!isObject(patch)) return patch;
  const result: JsonObject = isObject(target) ? { ...target } : {};
  for (const name of Object.keys(patch)) {
    const change = patch[name]!;
    if (change === null) delete result[name];
    else setMember(result, name, mergeJson(Object.hasOwn(result, name) ? result[name] : undefined, change));
  }
  return result;
}
