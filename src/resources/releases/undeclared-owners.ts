import { isObject, type JsonValue } from "../../base/json/value.ts";
import { FieldSet, fieldSetText, keyElement, readFieldSet } from "../../fields/apply/field-set.ts";
import { sortEntries } from "../../fields/apply/managed-fields.ts";
import {
  joinEntries,
  splitEntries,
  type EntryText,
  type ManagedFieldsText,
} from "../../fields/apply/managed-fields-text.ts";
import { managerId } from "../../fields/apply/manager.ts";
import type { ApiObject } from "../../schema/kind.ts";
import type { ListType, Type } from "../../schema/types.ts";
import { formOf } from "../../schema/unions.ts";

/**
 * Returns managed fields with the owners of the members that a type doesn't declare, as they were before a write.
 *
 * @param object the object after the write, with these members.
 */
export function keepUndeclaredOwners(
  type: Type,
  object: ApiObject,
  next: ManagedFieldsText,
  before: ManagedFieldsText,
): ManagedFieldsText {
  if (before.text === "" || before.text === next.text) return next;
  const entries = new Map<string, EntryText>();
  for (const entry of splitEntries(next)) entries.set(managerId(entry.manager), entry);
  let changed = false;
  for (const entry of splitEntries(before)) {
    const part = undeclaredPart(type, object, readFieldSet(entry.fields));
    if (part.isEmpty) continue;
    const id = managerId(entry.manager);
    const own = entries.get(id);
    const fields = own === undefined ? part : readFieldSet(own.fields).union(part);
    const text = fieldSetText(fields);
    if (own?.fields === text) continue;
    entries.set(id, { ...(own ?? entry), fields: text });
    changed = true;
  }
  return changed ? joinEntries(sortEntries([...entries.values()])) : next;
}

/**
 * Returns the paths of a set that lead to undeclared members which the value has.
 *
 * @param keys the keys of the items, for a list.
 */
function undeclaredPart(type: Type, value: unknown, set: FieldSet, keys: readonly string[] = []): FieldSet {
  if (set.children.size === 0 || value === undefined || value === null) return FieldSet.empty;
  const children = new Map<string, FieldSet>();
  const items = type.shape === "list" ? itemsByElement(value, keys) : undefined;
  for (const [element, below] of set.children) {
    const part =
      type.shape === "list"
        ? undeclaredPart(type.element, items!.get(element), below)
        : partBelow(type, value, element, below, keys);
    if (!part.isEmpty) children.set(element, part);
  }
  return FieldSet.of(false, children);
}

function partBelow(
  type: Exclude<Type, ListType>,
  value: unknown,
  element: string,
  set: FieldSet,
  keys: readonly string[],
): FieldSet {
  switch (type.shape) {
    case "scalar":
      return FieldSet.empty;
    case "union": {
      const form = formOf(type, value);
      const own = FieldSet.of(false, new Map([[element, set]]));
      return form === undefined ? FieldSet.empty : undeclaredPart(form.type, value, own, keys).below(element);
    }
    case "map":
      return undeclaredPart(type.value, memberAt(value, element), set);
    case "struct": {
      const name = element.slice(2);
      const member = memberAt(value, element);
      if (!Object.hasOwn(type.fields, name)) return member === undefined ? FieldSet.empty : set;
      const { type: below, facts } = type.fields[name]!;
      return undeclaredPart(below, member, set, facts.listMapKeys);
    }
  }
}

function memberAt(value: unknown, element: string): unknown {
  if (!element.startsWith("f:") || !isObject(value as JsonValue)) return undefined;
  const name = element.slice(2);
  return Object.hasOwn(value as object, name) ? (value as Record<string, unknown>)[name] : undefined;
}

/** Returns the items of a list by their path elements. */
function itemsByElement(value: unknown, keys: readonly string[]): ReadonlyMap<string, unknown> {
  const items = new Map<string, unknown>();
  if (keys.length === 0 || !Array.isArray(value)) return items;
  for (const item of value as unknown[]) {
    if (!isObject(item as JsonValue)) continue;
    const members = item as Record<string, unknown>;
    items.set(keyElement(Object.fromEntries(keys.map((name) => [name, members[name] ?? null]))), item);
  }
  return items;
}
