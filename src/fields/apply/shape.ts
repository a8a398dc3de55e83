import { encodeString } from "../../base/json/encode.ts";
import { emptyValueOf } from "../../schema/decode.ts";
import type { SchemaNode } from "../../schema/custom/schema-node.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import type { Field, FieldFacts, StructType, Type } from "../../schema/types.ts";
import { fieldElement, sortTexts } from "./field-set.ts";

/** Schema of a value for server-side apply, as in structured-merge-diff: atomic, or granular with parts that have owners. */
export type Shape =
  /** Atomic: scalars, and atomic lists, maps and structs. */
  | { readonly kind: "leaf" }
  /** A granular object with declared members; other members have no shape. */
  | {
      readonly kind: "struct";
      readonly member: (name: string) => Shape | undefined;
      /** Whether the schema declares a member of this name. Other members are treated like keys of a map. */
      readonly declares: (name: string) => boolean;
      /** As {@link openingOf}; the texts of declared members are cached. */
      readonly opening: (name: string) => string;
    }
  /** A granular map. */
  | { readonly kind: "map"; readonly element: Shape }
  /** A list of unique scalars (`listType: set`). */
  | { readonly kind: "set" }
  /** A list whose items are identified by keys (`listType: map`). */
  | {
      readonly kind: "items";
      readonly keys: readonly string[];
      /** Each key once, sorted as in path elements. */
      readonly elementKeys: readonly string[];
      readonly element: Shape;
      /** Default values of missing keys. */
      readonly defaults: KeyValues;
      /** Zero values of keys: a zero isn't stored, so a missing key of a live object has this value. */
      readonly zeros: KeyValues;
      /** Keys that items needn't have; an item without one differs from all items with it. */
      readonly optional: ReadonlySet<string>;
    }
  /** Without a schema: objects are granular, all other values are atomic. */
  | { readonly kind: "deduced" };

/** The shape of a granular object. */
export type ParentShape = Shape & { kind: "struct" | "map" | "deduced" };

export function isParent(shape: Shape): shape is ParentShape {
  return shape.kind === "struct" || shape.kind === "map" || shape.kind === "deduced";
}

/** Returns the shape of a member of a granular object; undefined for an undeclared one. */
export function memberShape(parent: ParentShape, name: string): Shape | undefined {
  if (parent.kind === "struct") return parent.member(name);
  return parent.kind === "map" ? parent.element : parent;
}

type KeyValues = ReadonlyMap<string, unknown>;

const leaf: Shape = { kind: "leaf" };
const noKeys: ReadonlySet<string> = new Set();
/** Shape of values without a schema. */
export const deducedShape: Shape = { kind: "deduced" };

/** Returns the beginning of the text of a set in which a member of an object has fields: `"f:name":{`. */
export function openingOf(name: string): string {
  return `${encodeString(fieldElement(name))}:{`;
}

/** Returns {@link openingOf} with a cache for the declared names of an object. */
function cachedOpenings(declares: (name: string) => boolean): (name: string) => string {
  const openings = new Map<string, string>();
  return (name) => {
    let opening = openings.get(name);
    if (opening !== undefined) return opening;
    opening = openingOf(name);
    // Clients choose the other names, so there may be any number of them.
    if (declares(name)) openings.set(name, opening);
    return opening;
  };
}

const structs = new WeakMap<StructType, Shape>();

/** Returns the shape of a declared type. */
export function shapeOfStruct(type: StructType): Shape {
  let shape = structs.get(type);
  if (shape === undefined) {
    const members = new Map<string, Shape>();
    const declares = (name: string) =>
      Object.hasOwn(type.fields, name) || type.open?.properties.has(name) === true;
    const member = (name: string): Shape | undefined => {
      let shape = members.get(name);
      if (shape !== undefined) return shape;
      if (Object.hasOwn(type.fields, name)) shape = shapeOfField(type.fields[name]!);
      else if (type.open === undefined) return undefined;
      else shape = shapeOfMember(type.open, name);
      // Clients choose the other names, so there may be any number of them.
      if (shape !== undefined && declares(name)) members.set(name, shape);
      return shape;
    };
    shape = { kind: "struct", member, declares, opening: cachedOpenings(declares) };
    structs.set(type, shape);
  }
  return shape;
}

function shapeOfField({ type, facts }: Field): Shape {
  switch (type.shape) {
    case "list":
      return shapeOfList(type.element, facts);
    case "map":
      return facts.mapType === "atomic" ? leaf : { kind: "map", element: shapeOfType(type.value) };
    case "struct": {
      const atomic = facts.mapType === "atomic" || (type.atomic && facts.mapType !== "granular");
      return atomic ? leaf : shapeOfStruct(type);
    }
    default:
      return shapeOfType(type);
  }
}

/** Returns the shape of a member of an object with a schema; undefined if the schema doesn't allow the member. */
function shapeOfMember(node: SchemaNode, name: string): Shape | undefined {
  const below = node.properties.get(name) ?? node.additional;
  if (below !== undefined) return shapeOfNode(below);
  return node.preserves ? deducedShape : undefined;
}

function shapeOfNode(node: SchemaNode): Shape {
  const { type, items, mapType, properties, additional, preserves, embedded } = node;
  if (type === "array") return items === undefined ? leaf : shapeOfItems(node, items);
  if (type !== "object") return preserves && type === "" ? deducedShape : leaf;
  if (mapType === "atomic") return leaf;
  if (properties.size === 0 && !embedded) {
    if (additional !== undefined) return { kind: "map", element: shapeOfNode(additional) };
    return preserves ? deducedShape : leaf;
  }
  const metadata = embedded ? shapeOfStruct(ObjectMeta) : undefined;
  const member = (name: string): Shape | undefined => {
    if (embedded && name === "metadata") return metadata;
    if (embedded && (name === "apiVersion" || name === "kind")) return leaf;
    return shapeOfMember(node, name);
  };
  const declares = (name: string) => properties.has(name) || (embedded && objectMembers.has(name));
  return { kind: "struct", member, declares, opening: cachedOpenings(declares) };
}

/** Members of every object, which its schema needn't declare. */
const objectMembers: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata"]);

/** Lists of custom resources are atomic unless their schema declares a list type. */
function shapeOfItems({ listType, listMapKeys }: SchemaNode, items: SchemaNode): Shape {
  if (listType === "set") return { kind: "set" };
  if (listType !== "map") return leaf;
  const defaults = listMapKeys.flatMap((key) => {
    const value = items.properties.get(key)?.default;
    return value === undefined ? [] : [[key, value] as const];
  });
  return itemsShape(listMapKeys, shapeOfNode(items), new Map(defaults), new Map());
}

/** A list without `listType` is merged like in a strategic merge patch. */
function shapeOfList(element: Type, facts: FieldFacts): Shape {
  const { patchMergeKey } = facts;
  const merges = facts.listType === undefined && facts.patchStrategy.includes("merge");
  if (facts.listType === "set" || (merges && patchMergeKey === undefined)) return { kind: "set" };
  if ((facts.listType !== "map" && !merges) || element.shape !== "struct") return leaf;
  const keys = merges && patchMergeKey !== undefined ? [patchMergeKey] : facts.listMapKeys;
  const defaults = new Map<string, unknown>();
  const zeros = new Map<string, unknown>();
  const optional = new Set<string>();
  for (const key of keys) {
    const field = element.fields[key];
    if (field?.facts.default !== undefined) defaults.set(key, field.facts.default);
    const zero = field === undefined || field.facts.nullable ? null : emptyValueOf(field.type);
    if (zero === null) {
      if (!defaults.has(key)) optional.add(key);
      continue;
    }
    zeros.set(key, zero);
    // A missing required key is zero here; validation of the object rejects it later.
    if (field?.facts.required === true && !defaults.has(key)) defaults.set(key, zero);
  }
  return { ...itemsShape(keys, shapeOfType(element), defaults, zeros), optional };
}

function itemsShape(
  keys: readonly string[],
  element: Shape,
  defaults: KeyValues,
  zeros: KeyValues,
): Shape & { kind: "items" } {
  const elementKeys = sortTexts([...new Set(keys)]);
  return { kind: "items", keys, elementKeys, element, defaults, zeros, optional: noKeys };
}

/** Returns the shape of a list item or map value, for which the field declares no list or map type. */
function shapeOfType(type: Type): Shape {
  switch (type.shape) {
    case "struct":
      return type.atomic ? leaf : shapeOfStruct(type);
    case "map":
      return { kind: "map", element: shapeOfType(type.value) };
    case "list":
    case "union":
      return leaf;
    case "scalar":
      return leaf;
  }
}

/** Returns the shape of a part; undefined for undeclared members, items of sets and parts of atomic values. */
export function shapeBelow(shape: Shape, element: string): Shape | undefined {
  switch (shape.kind) {
    case "struct":
      return element.startsWith("f:") ? shape.member(element.slice(2)) : undefined;
    case "map":
    case "items":
      return shape.element;
    case "deduced":
      return shape;
    case "leaf":
    case "set":
      return undefined;
  }
}
