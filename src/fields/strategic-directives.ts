import { type JsonObject, type JsonValue, getMember } from "../base/json/value.ts";
import { malformedPatch } from "./patch-fault.ts";

/** What an object of a patch says about itself. */
const patchDirective = "$patch";
/** Which members of an object stay. */
export const retainKeysDirective = "$retainKeys";
/** Before the name of a list: which scalars leave it. */
export const deleteDirective = "$deleteFromPrimitiveList";
/** Before the name of a list: the order of its elements. */
export const orderDirective = "$setElementOrder";

/** Whether a member of a patch is a directive, not content. */
export function isDirective(name: string): boolean {
  if (!name.startsWith("$")) return false;
  const [word] = name.split("/", 1);
  if (word === deleteDirective || word === orderDirective) return true;
  return name === patchDirective || name === retainKeysDirective;
}

/**
 * What an object of the patch says under `$patch`; merge where it says nothing.
 * @throws PatchFault, malformed, for another word.
 */
export function directiveOf(patch: JsonObject): "merge" | "replace" | "delete" {
  const directive = getMember(patch, patchDirective);
  if (directive === undefined) return "merge";
  if (directive === "merge" || directive === "replace" || directive === "delete") return directive;
  throw malformedPatch("$patch must be merge, replace or delete");
}

/**
 * The lists that a directive names, with what it says of each: `$setElementOrder/x: [a, b]` gives `["x", [a, b]]`.
 * @throws PatchFault, malformed, when it names none or doesn't give a list.
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
