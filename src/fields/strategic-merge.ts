import { type JsonObject, type JsonValue, getMember, isObject, setMember } from "../base/json/value.ts";
import type { Type } from "../schema/types.ts";
import { malformedPatch } from "./patch-fault.ts";
import {
  deleteDirective,
  directiveOf,
  isDirective,
  listDirectives,
  orderDirective,
  retainKeysDirective,
} from "./strategic-directives.ts";
import { type ListRule, deleteFromList, mergeList, orderList } from "./strategic-lists.ts";

/** How the schema merges a member. */
interface MergeRule {
  /** Type of the member, or of a list's elements; undefined without a schema. */
  readonly type: Type | undefined;
  readonly strategies: readonly ("merge" | "replace" | "retainKeys")[];
  /** Field that identifies the objects of a list. */
  readonly mergeKey: string | undefined;
}

const noRule: MergeRule = { type: undefined, strategies: [], mergeKey: undefined };

/**
 * Applies a strategic merge patch (spec: conventions 4.7). Objects are merged member by member; null removes a member. Lists are
 * replaced, or merged if the field has a merge strategy: objects by their merge key, scalars as a set. Directives:
 *
 * - `$patch: replace` in an object or in an element of a merged list: replaces the content with that of the patch;
 * - `$patch: delete`: empties an object, or removes the element with this merge key; `$patch: merge` is the default;
 * - `$retainKeys: [a, b]`: removes all other members of the object;
 * - `$deleteFromPrimitiveList/x: [v]`: removes scalars from the list `x`;
 * - `$setElementOrder/x: [...]`: order of the elements of `x`; other elements keep their relative order.
 *
 * Target and patch aren't changed; the result shares parts with both.
 * @throws PatchFault: malformed for invalid directives, inapplicable for elements that can't be merged.
 */
export function applyStrategicMergePatch(type: Type, target: JsonValue, patch: JsonValue): JsonValue {
  if (!isObject(patch)) throw malformedPatch("a strategic merge patch is an object");
  return mergeObjects(isObject(target) ? target : {}, patch, type);
}

/** Returns the patched object, without the directives and nulls of the patch. */
function mergeObjects(original: JsonObject, patch: JsonObject, type: Type | undefined): JsonObject {
  const directive = directiveOf(patch);
  if (directive === "delete") return {};
  const base = directive === "replace" ? {} : original;
  const result: JsonObject = { ...base };
  retainKeys(result, patch);
  let hasDirectives = false;
  for (const name of Object.keys(patch)) {
    if (isDirective(name)) hasDirectives = true;
    else mergeMember(result, name, patch[name]!, ruleFor(type, name));
  }
  if (hasDirectives) applyListDirectives(result, base, patch, type);
  return result;
}

function applyListDirectives(
  result: JsonObject,
  base: JsonObject,
  patch: JsonObject,
  type: Type | undefined,
): void {
  for (const [name, deleted] of listDirectives(patch, deleteDirective)) {
    const list = getMember(result, name);
    if (Array.isArray(list)) setMember(result, name, deleteFromList(list, deleted, name));
  }
  for (const [name, order] of listDirectives(patch, orderDirective)) {
    const list = getMember(result, name);
    const lists = { live: getMember(base, name), patch: getMember(patch, name), order };
    if (Array.isArray(list))
      setMember(result, name, orderList(list, lists, listRule(ruleFor(type, name), name)));
  }
}

function mergeMember(result: JsonObject, name: string, change: JsonValue, rule: MergeRule): void {
  const original = getMember(result, name);
  if (change === null) {
    delete result[name];
  } else if (isObject(change)) {
    const base = isObject(original) && !rule.strategies.includes("replace") ? original : {};
    setMember(result, name, mergeObjects(base, change, rule.type));
  } else if (Array.isArray(change) && rule.strategies.includes("merge")) {
    setMember(result, name, mergeList(Array.isArray(original) ? original : [], change, listRule(rule, name)));
  } else {
    setMember(result, name, change);
  }
}

function ruleFor(type: Type | undefined, name: string): MergeRule {
  if (type?.shape === "map") return { ...noRule, type: type.value };
  if (type?.shape !== "struct" || !Object.hasOwn(type.fields, name)) return noRule;
  const field = type.fields[name]!;
  const { patchStrategy: strategies, patchMergeKey: mergeKey } = field.facts;
  return { type: field.type.shape === "list" ? field.type.element : field.type, strategies, mergeKey };
}

function listRule({ type, mergeKey }: MergeRule, name: string): ListRule {
  return { name, mergeKey, mergeElement: (original, change) => mergeObjects(original, change, type) };
}

/** Removes the members that `$retainKeys` of the patch doesn't list. It must list all members that the patch sets. */
function retainKeys(result: JsonObject, patch: JsonObject): void {
  const directive = getMember(patch, retainKeysDirective);
  if (directive === undefined) return;
  if (!Array.isArray(directive)) throw malformedPatch("$retainKeys must be a list of names");
  const retained = new Set(directive);
  for (const name of Object.keys(patch)) {
    if (isDirective(name) || patch[name] === null || retained.has(name)) continue;
    throw malformedPatch(`$retainKeys doesn't name ${JSON.stringify(name)}, which the patch sets`);
  }
  for (const name of Object.keys(result)) {
    if (!retained.has(name)) delete result[name];
  }
}
