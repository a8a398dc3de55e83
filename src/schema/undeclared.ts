import { encodeJson } from "../base/json/encode.ts";
import { setMember, type JsonObject, type JsonValue } from "../base/json/value.ts";
import { fieldPositionsOf } from "./field-positions.ts";
import { inOrder } from "./order.ts";
import type { Field, StructType, Type } from "./types.ts";
import { formOf } from "./unions.ts";

/**
 * Removes the members that the structs of a type don't declare, as those of a later release, and structs of alternatives that have no
 * other one. Modifies `value`.
 *
 * @returns whether it removed any.
 */
export function removeUndeclared(type: Type, value: unknown): boolean {
  if (value === null || value === undefined) return false;
  switch (type.shape) {
    case "scalar":
      return false;
    case "list":
      return Array.isArray(value) && removeFromAll(type.element, value);
    case "map":
      return isContainer(value) && removeFromAll(type.value, Object.values(value));
    case "union": {
      const form = formOf(type, value);
      return form !== undefined && removeUndeclared(form.type, value);
    }
    case "struct": {
      // Another release may declare another type for a member.
      if (type.open !== undefined || !isContainer(value) || Array.isArray(value)) return false;
      const { positions, fields } = fieldPositionsOf(type);
      const object = value as JsonObject;
      let removed = false;
      for (const name of Object.keys(object)) {
        const position = positions.get(name);
        const field = fields[position ?? -1];
        if (field === undefined || removeUndeclared(field.type, object[name])) removed = true;
        else continue;
        if (field === undefined || isEmptied(field, object[name])) delete object[name];
      }
      return removed;
    }
  }
}

/** Whether a field is a struct of alternatives that has none. */
function isEmptied({ type }: Field, value: unknown): boolean {
  return hasAlternatives(type) && Object.keys(value as object).length === 0;
}

function hasAlternatives(type: Type): boolean {
  return type.shape === "struct" && alternatives.has(type.name);
}

function removeFromAll(type: Type, values: readonly unknown[]): boolean {
  if (type.shape === "scalar") return false;
  let removed = false;
  for (const value of values) if (removeUndeclared(type, value)) removed = true;
  return removed;
}

/**
 * Copies the members that the structs of a type don't declare from the earlier state of a value. Members of a struct that no longer
 * exists are lost with it. The items of a list are paired by their keys, else by `name`, else if their declared members are equal.
 *
 * @param next the new state; it is modified.
 * @param before the earlier state; it may share parts with `next` afterwards.
 * @param isEqual whether the declared members of both are equal; then items are paired by their positions.
 */
export function keepUndeclared(type: Type, next: unknown, before: unknown, isEqual = false): void {
  if (!isContainer(next) || !isContainer(before)) return;
  switch (type.shape) {
    case "scalar":
      return;
    case "list":
      return keepInItems(type.element, [], next, before, isEqual);
    case "map":
      for (const [key, value] of Object.entries(before)) {
        if (Object.hasOwn(next, key)) keepUndeclared(type.value, (next as JsonObject)[key], value, isEqual);
      }
      return;
    case "union": {
      const form = formOf(type, next);
      if (form !== undefined && form === formOf(type, before))
        keepUndeclared(form.type, next, before, isEqual);
      return;
    }
    case "struct":
      return keepInStruct(type, next as JsonObject, before as JsonObject, isEqual);
  }
}

function keepInStruct(type: StructType, next: JsonObject, before: JsonObject, isEqual: boolean): void {
  if (type.open !== undefined) return;
  const { positions, fields } = fieldPositionsOf(type);
  const isReplaced = isReplacedIn(type, next);
  for (const name of Object.keys(before)) {
    const position = positions.get(name);
    const field = fields[position ?? -1];
    if (Object.hasOwn(next, name)) {
      if (field !== undefined) keepInField(field, next[name], before[name], isEqual);
    } else if (field === undefined) {
      if (!isReplaced) setMember(next, name, before[name]!);
    } else if (isHidden(field, before[name])) setMember(next, name, before[name]!);
  }
}

/** Names of structs with one of several alternative members. */
const alternatives: ReadonlySet<string> = new Set([
  "EnvVarSource",
  "LifecycleHandler",
  "Volume",
  "VolumeProjection",
]);

/** Whether a struct has another one of its alternative members, so that an undeclared one is replaced by it. */
function isReplacedIn(type: StructType, next: JsonObject): boolean {
  return hasAlternatives(type) && Object.keys(next).some((name) => name !== "name");
}

/** Whether {@link removeUndeclared} removes all of a field. */
function isHidden(field: Field, value: unknown): boolean {
  if (!hasAlternatives(field.type) || !isContainer(value)) return false;
  const declared = structuredClone(value);
  return removeUndeclared(field.type, declared) && isEmptied(field, declared);
}

function keepInField({ type, facts }: Field, next: unknown, before: unknown, isEqual: boolean): void {
  if (type.shape !== "list") return keepUndeclared(type, next, before, isEqual);
  const { listMapKeys, patchMergeKey } = facts;
  const keys = listMapKeys.length > 0 || patchMergeKey === undefined ? listMapKeys : [patchMergeKey];
  if (isContainer(next) && isContainer(before)) keepInItems(type.element, keys, next, before, isEqual);
}

/** Pairs the items of two lists; of several items with the same key, the first with the first, and so on. */
function keepInItems(
  element: Type,
  keys: readonly string[],
  next: object,
  before: object,
  isEqual: boolean,
): void {
  if (element.shape === "scalar" || !Array.isArray(next) || !Array.isArray(before)) return;
  if (isEqual) {
    for (const [index, item] of next.entries()) keepUndeclared(element, item, before[index], true);
    return;
  }
  const members = keyMembers(element, keys);
  const textOf = members === undefined ? declaredText : keyText;
  const unpaired = new Map<string, unknown[]>();
  for (const item of before.toReversed() as unknown[]) {
    const text = textOf(item, element, members);
    const same = unpaired.get(text);
    if (same === undefined) unpaired.set(text, [item]);
    else same.push(item);
  }
  for (const item of next as unknown[]) {
    const pair = unpaired.get(textOf(item, element, members))?.pop();
    // Items with equal text are equal below too, which keeps the work linear in nested lists.
    keepUndeclared(element, item, pair, members === undefined);
  }
}

/** Returns the members by which items are the same; undefined for all declared ones. */
function keyMembers(element: Type, keys: readonly string[]): readonly string[] | undefined {
  if (keys.length > 0) return keys;
  return element.shape === "struct" && Object.hasOwn(element.fields, "name") ? ["name"] : undefined;
}

function keyText(item: unknown, _: Type, members: readonly string[] = []): string {
  return encodeJson(members.map((name) => (item as JsonObject | null)?.[name] ?? null));
}

function declaredText(item: unknown, element: Type): string {
  if (element.shape !== "struct" || !isContainer(item)) return encodeJson(item as JsonValue);
  const declared = structuredClone(item);
  removeUndeclared(element, declared);
  return encodeJson(inOrder(element, declared as JsonObject) as JsonObject);
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
