import { type JsonObject, type JsonValue, getMember } from "../base/json/value.ts";
import { malformedPatch } from "./patch-fault.ts";

/** Directive for the object that contains it. */
const patchDirective = "$patch";
/** Directive with the members to keep; all others are removed. */
export const retainKeysDirective = "$retainKeys";
/** Prefix of a list name: directive with the scalars to delete. */
export const deleteDirective = "$deleteFromPrimitiveList";
/** Prefix of a list name: directive with the order of the elements. */
export const orderDirective = "$setElementOrder";

/** Whether a member of a patch is a directive. */
export function isDirective(name: string): boolean {
  if (!name.startsWith("$")) return false;
  const [word] = name.split("/", 1);
  if (word === deleteDirective || word === orderDirective) return true;
  return name === patchDirective || name === retainKeysDirective;
}

/**
 * Returns the value of `$patch` in an object of the patch; defaults to merge.
 * @throws PatchFault if the value is unknown.
 */
export function directiveOf(patch: JsonObject): "merge" | "replace" | "delete" {
  const directive = getMember(patch, patchDirective);
  if (directive === undefined) return "merge";
  if (directive === "merge" || directive === "replace" || directive === "delete") return directive;
  throw malformedPatch("$patch must be merge, replace or delete");
}

/**
 * Returns the list names of a directive with its values: `["x", [a, b]]` for `$setElementOrder/x: [a, b]`.
 * @throws PatchFault if a name is empty or a value isn't a list.
 */
export function listDirectives(patch: JsonObject, directive: string): [field: string, list: JsonValue[]][] {
  const directives: [string, JsonValue[]][] = [];
  for (const name of Object.keys(patch)) {
    if (!name.startsWith(directive) || !isDirective(name)) continue;
    const field = name.slice(directive.length + 1);
    if (field === "") throw malformedPatch(`${directive} must be followed by a slash and a field's name`);
    const list = patch[name]!;
    if (!Array.isArray(list)) throw malformedPatch(`${name} must be a list`);
    directives.push([field, list]);
  }
  return directives;
}
