import { type JsonObject, type JsonValue, getMember, isObject, setMember } from "../base/json/value.ts";
import type { Type } from "../schema/types.ts";
import { deleteFromList, mergeList, orderList } from "./strategic-lists.ts";
import { malformedPatch } from "./patch-fault.ts";

/** How the schema says that one member is merged. */
export interface MergeRule {
  /** Type of the member, or of a list's elements; undefined where the schema says nothing. */
  readonly type: Type | undefined;
  readonly strategies: readonly ("merge" | "replace" | "retainKeys")[];
  /** Field by which the objects of a list are told apart. */
  readonly mergeKey: string | undefined;
}

const noRule: MergeRule = { type: undefined, strategies: [], mergeKey: undefined };

const patchDirective = "$patch";
const retainKeysDirective = "$retainKeys";
const deletePrefix = "$deleteFromPrimitiveList/";
const orderPrefix = "$setElementOrder/";

/**
 * Applies a strategic merge patch (spec: conventions 4.7; rulings: as the reference). Objects merge member by member,
 * null removes; lists are replaced, or merged where the type's fields say so: objects by their merge key, scalars as a
 * set. What a patch can say beyond that:
 *
 * - `$patch: replace` in an object or in an element of a merged list: the patch's content instead of the old one;
 * - `$patch: delete`: an object is emptied, an element with that merge key removed; `$patch: merge` is the default;
 * - `$retainKeys: [a, b]`: other members of the object are dropped;
 * - `$deleteFromPrimitiveList/x: [v]`: removes scalars from the list `x`;
 * - `$setElementOrder/x: [...]`: the order of the elements of `x`; those not named keep their place among them.
 *
 * Target and patch aren't changed; the result shares parts with both.
 * @throws PatchFault: malformed for directives used wrongly, inapplicable for elements that can't be merged.
 */
export function applyStrategicMergePatch(type: Type, target: JsonValue, patch: JsonValue): JsonValue {
  if (!isObject(patch)) throw malformedPatch("a strategic merge patch is an object");
  return mergeObjects(isObject(target) ? target : {}, patch, type);
}

/** The object with the patch applied; directives and nulls of the patch don't appear in it. */
export function mergeObjects(original: JsonObject, patch: JsonObject, type: Type | undefined): JsonObject {
  const directive = directiveOf(patch);
  if (directive === "delete") return {};
  const base = directive === "replace" ? {} : original;
  const result: JsonObject = { ...base };
  retainKeys(result, patch);
  for (const name of Object.keys(patch)) {
    if (!name.startsWith("$")) mergeMember(result, name, patch[name]!, ruleFor(type, name));
    else if (!isDirective(name)) setMember(result, name, patch[name]!);
  }
  for (const name of Object.keys(patch)) {
    const deleted = nameAfter(name, deletePrefix);
    if (deleted === undefined) continue;
    const list = getMember(result, deleted);
    const unwanted = listMember(patch, name);
    if (Array.isArray(list)) setMember(result, deleted, deleteFromList(list, unwanted, deleted));
  }
  for (const name of Object.keys(patch)) {
    const ordered = nameAfter(name, orderPrefix);
    if (ordered === undefined) continue;
    const lists = {
      live: getMember(base, ordered),
      patch: getMember(patch, ordered),
      order: listMember(patch, name),
    };
    const list = getMember(result, ordered);
    if (Array.isArray(list))
      setMember(result, ordered, orderList(list, lists, ruleFor(type, ordered), ordered));
  }
  return result;
}

/** What an object of the patch says under `$patch`; merge where it says nothing. */
export function directiveOf(patch: JsonObject): "merge" | "replace" | "delete" {
  const directive = getMember(patch, patchDirective);
  if (directive === undefined) return "merge";
  if (directive === "merge" || directive === "replace" || directive === "delete") return directive;
  throw malformedPatch("$patch must be merge, replace or delete");
}

function mergeMember(result: JsonObject, name: string, change: JsonValue, rule: MergeRule): void {
  const original = getMember(result, name);
  if (change === null) {
    delete result[name];
  } else if (isObject(change)) {
    const base = isObject(original) && !rule.strategies.includes("replace") ? original : {};
    setMember(result, name, mergeObjects(base, change, rule.type));
  } else if (Array.isArray(change) && rule.strategies.includes("merge")) {
    setMember(result, name, mergeList(Array.isArray(original) ? original : [], change, rule, name));
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

/** Drops the members that the patch's `$retainKeys` doesn't name; it must name all that the patch sets. */
function retainKeys(result: JsonObject, patch: JsonObject): void {
  const given = getMember(patch, retainKeysDirective);
  if (given === undefined) return;
  if (!Array.isArray(given)) throw malformedPatch("$retainKeys must be a list of names");
  const retained = new Set(given);
  for (const name of Object.keys(patch)) {
    if (isDirective(name) || patch[name] === null || retained.has(name)) continue;
    throw malformedPatch(`$retainKeys doesn't name ${JSON.stringify(name)}, which the patch sets`);
  }
  for (const name of Object.keys(result)) {
    if (!retained.has(name)) delete result[name];
  }
}

function isDirective(name: string): boolean {
  return (
    name === patchDirective ||
    name === retainKeysDirective ||
    name.startsWith(deletePrefix.slice(0, -1)) ||
    name.startsWith(orderPrefix.slice(0, -1))
  );
}

/** The field that a directive like `$setElementOrder/x` is about; undefined for another name. */
function nameAfter(name: string, prefix: string): string | undefined {
  if (!name.startsWith(prefix.slice(0, -1))) return undefined;
  if (name.startsWith(prefix) && name.length > prefix.length) return name.slice(prefix.length);
  throw malformedPatch(`${prefix.slice(0, -1)} must be followed by a slash and a field's name`);
}

function listMember(patch: JsonObject, name: string): JsonValue[] {
  const list = getMember(patch, name);
  if (!Array.isArray(list)) throw malformedPatch(`${name} must be a list`);
  return list;
}
