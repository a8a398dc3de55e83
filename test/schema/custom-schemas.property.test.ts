import { describe, expect, test } from "vitest";
import { deepClone, type JsonObject, type JsonValue } from "../../src/base/json/value.ts";
import { checkValue } from "../../src/schema/custom/check.ts";
import { fillMembers } from "../../src/schema/custom/fill.ts";
import { pruneMembers } from "../../src/schema/custom/read.ts";
import { parseSchema, type SchemaNode } from "../../src/schema/custom/schema-node.ts";
import { FieldReport } from "../../src/schema/faults.ts";
import { Dice } from "../support/dice.ts";

const prefix = "x-platform-";
/** Each seed is a schema with a few values. */
const seeds = 3000;
const valuesOfSeed = 4;
const maxDepth = 3;

/** A structural schema in JSON form. */
interface Schema {
  type?: string;
  nullable?: boolean;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  items?: Schema;
  default?: JsonValue;
  required?: string[];
  enum?: JsonValue[];
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: boolean;
  exclusiveMaximum?: boolean;
  multipleOf?: number;
  minItems?: number;
  maxItems?: number;
  minProperties?: number;
  maxProperties?: number;
  allOf?: Schema[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  not?: Schema;
  "x-platform-int-or-string"?: boolean;
  "x-platform-preserve-unknown-fields"?: boolean;
  "x-platform-list-type"?: string;
  "x-platform-list-map-keys"?: string[];
}

const names = ["a", "b", "c", "d", "constructor", "__proto__x"];
const texts = ["", "a", "ab", "abc", "b-c", "𝒳y", "x".repeat(9)];
const patterns = [/^[a-z]*$/, /^[a-c]/, /-/];

// --- Schemas and values, at random ---

function schemaOf(dice: Dice, depth: number): Schema {
  const schema = bareSchema(dice, depth);
  if (dice.chance(0.15)) schema.nullable = true;
  if (dice.chance(0.2)) addParts(dice, schema);
  return schema;
}

function bareSchema(dice: Dice, depth: number): Schema {
  const types = ["string", "integer", "number", "boolean", "intOrString", "any"];
  const nested = depth > 0 ? ["object", "object", "map", "array", "keyed"] : [];
  switch (dice.pick([...types, ...nested])) {
    case "string":
      return { type: "string", ...textRules(dice) };
    case "integer":
      return { type: "integer", ...numberRules(dice) };
    case "number":
      return { type: "number", ...numberRules(dice) };
    case "boolean":
      return { type: "boolean" };
    case "intOrString":
      return { "x-platform-int-or-string": true, ...(dice.chance(0.3) && { maximum: 3 }) };
    case "any":
      return { "x-platform-preserve-unknown-fields": true };
    case "object":
      return objectSchema(dice, depth);
    case "map":
      return {
        type: "object",
        additionalProperties: schemaOf(dice, depth - 1),
        ...sizes(dice, "minProperties", "maxProperties"),
      };
    case "array":
      return {
        type: "array",
        items: schemaOf(dice, depth - 1),
        ...(dice.chance(0.3) && { "x-platform-list-type": "set" }),
        ...sizes(dice, "minItems", "maxItems"),
      };
    default:
      return keyedList(dice, depth);
  }
}

function keyedList(dice: Dice, depth: number): Schema {
  const items = objectSchema(dice, depth - 1);
  delete items.nullable;
  items.properties!["a"] = { type: "string" };
  items.required = [...new Set([...(items.required ?? []), "a"])];
  return {
    type: "array",
    items,
    "x-platform-list-type": "map",
    "x-platform-list-map-keys": ["a"],
    ...sizes(dice, "minItems", "maxItems"),
  };
}

function objectSchema(dice: Dice, depth: number): Schema {
  const properties: Record<string, Schema> = {};
  for (const name of names) {
    if (dice.chance(0.5)) continue;
    const property = schemaOf(dice, depth - 1);
    const given = valueOf(dice, property, 0);
    // A definition with a default that its own schema refuses is refused itself.
    if (dice.chance(0.3) && given !== undefined && faultsOf(property, given, "").length === 0)
      property.default = given;
    properties[name] = property;
  }
  const known = Object.keys(properties);
  const required = known.filter(() => dice.chance(0.3));
  return {
    type: "object",
    properties,
    ...(required.length > 0 && { required }),
    ...(dice.chance(0.2) && { "x-platform-preserve-unknown-fields": true }),
    ...sizes(dice, "minProperties", "maxProperties"),
  };
}

function sizes(dice: Dice, least: string, most: string): object {
  return {
    ...(dice.chance(0.15) && { [least]: dice.below(3) }),
    ...(dice.chance(0.15) && { [most]: 1 + dice.below(3) }),
  };
}

function textRules(dice: Dice): Schema {
  return {
    ...(dice.chance(0.2) && { minLength: dice.below(3) }),
    ...(dice.chance(0.2) && { maxLength: 1 + dice.below(3) }),
    ...(dice.chance(0.2) && { pattern: dice.pick(patterns).source }),
    ...(dice.chance(0.2) && { enum: [dice.pick(texts), dice.pick(texts)] }),
  };
}

function numberRules(dice: Dice): Schema {
  return {
    ...(dice.chance(0.2) && { minimum: dice.below(5) - 2, exclusiveMinimum: dice.chance(0.5) }),
    ...(dice.chance(0.2) && { maximum: dice.below(5), exclusiveMaximum: dice.chance(0.5) }),
    ...(dice.chance(0.2) && { multipleOf: 1 + dice.below(3) }),
    ...(dice.chance(0.2) && { enum: [dice.below(3), dice.below(3)] }),
  };
}

/** Combined schemas say nothing of types. */
function addParts(dice: Dice, schema: Schema): void {
  const part = (): Schema =>
    schema.type === "string"
      ? textRules(dice)
      : schema.type === "object"
        ? memberRules(dice, schema)
        : numberRules(dice);
  switch (dice.below(4)) {
    case 0:
      schema.allOf = [part(), part()];
      break;
    case 1:
      schema.anyOf = [part(), part()];
      break;
    case 2:
      schema.oneOf = [part(), part()];
      break;
    default:
      schema.not = part();
  }
}

function memberRules(dice: Dice, { properties = {} }: Schema): Schema {
  const known = Object.keys(properties);
  return known.length === 0 ? {} : { required: [dice.pick(known)] };
}

/** A value that mostly goes by a schema. @param noise how often anything else stands in a place. */
function valueOf(dice: Dice, schema: Schema, noise: number): JsonValue {
  if (dice.chance(noise)) return dice.pick<JsonValue>([null, 1, 2.5, "x", true, [1], { a: 1 }, {}, []]);
  if (schema.nullable === true && dice.chance(0.3)) return null;
  if (schema.enum !== undefined && dice.chance(0.8)) return deepClone(dice.pick(schema.enum));
  switch (schema.type) {
    case "string":
      return dice.pick(texts);
    case "integer":
      return dice.below(7) - 2;
    case "number":
      return dice.below(14) / 2 - 2;
    case "boolean":
      return dice.chance(0.5);
    case "array":
      return Array.from({ length: dice.below(4) }, () => valueOf(dice, schema.items!, noise));
    case "object":
      return objectValue(dice, schema, noise);
    default:
      return dice.pick<JsonValue>([1, "x", 4]);
  }
}

function objectValue(dice: Dice, schema: Schema, noise: number): JsonObject {
  const object: JsonObject = {};
  for (const name of names) {
    const known = schema.properties?.[name] ?? schema.additionalProperties;
    if (typeof known === "object") {
      const needed = schema.required?.includes(name) === true ? 0.9 : 0.5;
      if (dice.chance(needed)) object[name] = valueOf(dice, known, noise);
    } else if (dice.chance(noise)) object[name] = { deep: [1, { x: null }] };
  }
  return object;
}

// --- What JSON Schema says, read plainly ---

/** The places of a value that break a schema, once for each rule. */
function faultsOf(schema: Schema, value: JsonValue, path: string): string[] {
  const own = [...typeFaults(schema, value, path)];
  const isListed = schema.enum?.some((one) => JSON.stringify(one) === JSON.stringify(value));
  if (isListed === false) own.push(path);
  if (value === null) return own;
  const fits = (part: Schema): boolean => faultsOf(part, value, path).length === 0;
  if (schema.allOf?.every(fits) === false) own.push(path);
  if (schema.anyOf?.some(fits) === false) own.push(path);
  if (schema.oneOf !== undefined && schema.oneOf.filter(fits).length !== 1) own.push(path);
  if (schema.not !== undefined && fits(schema.not)) own.push(path);
  if (typeof value === "string") own.push(...textFaults(schema, value, path));
  if (typeof value === "number") own.push(...numberFaults(schema, value, path));
  if (Array.isArray(value)) own.push(...listFaults(schema, value, path));
  else if (typeof value === "object") own.push(...objectFaults(schema, value as JsonObject, path));
  return own;
}

function typeFaults(schema: Schema, value: JsonValue, path: string): string[] {
  const { type, nullable } = schema;
  const intOrString = schema["x-platform-int-or-string"] === true;
  if (value === null) return nullable === true || (type === undefined && !intOrString) ? [] : [path];
  const is: Readonly<Record<string, boolean>> = {
    string: typeof value === "string",
    boolean: typeof value === "boolean",
    integer: Number.isInteger(value),
    number: typeof value === "number",
    array: Array.isArray(value),
    object: typeof value === "object" && !Array.isArray(value),
  };
  if (intOrString) return is["integer"] === true || is["string"] === true ? [] : [path];
  return type === undefined || is[type] === true ? [] : [path];
}

function textFaults(
  { minLength = 0, maxLength = Infinity, pattern }: Schema,
  text: string,
  path: string,
): string[] {
  const { length } = Array.from(text);
  return [
    length < minLength,
    length > maxLength,
    pattern !== undefined && !new RegExp(pattern, "u").test(text),
  ]
    .filter(Boolean)
    .map(() => path);
}

function numberFaults(schema: Schema, value: number, path: string): string[] {
  const { minimum = -Infinity, maximum = Infinity, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  return [
    value < minimum || (exclusiveMinimum === true && value === minimum),
    value > maximum || (exclusiveMaximum === true && value === maximum),
    multipleOf !== undefined && value % multipleOf !== 0,
  ]
    .filter(Boolean)
    .map(() => path);
}

function listFaults(schema: Schema, list: readonly JsonValue[], path: string): string[] {
  const { minItems = 0, maxItems = Infinity, items } = schema;
  const faults = [list.length < minItems, list.length > maxItems].filter(Boolean).map(() => path);
  const below =
    items === undefined ? [] : list.flatMap((item, index) => faultsOf(items, item, `${path}[${index}]`));
  const listType = schema["x-platform-list-type"];
  const keyOf = (item: JsonValue): string => {
    if (listType !== "map" || !isPlain(item)) return inOrder(item);
    const { a } = item as JsonObject;
    return inOrder(a === undefined ? {} : { a });
  };
  const keys = list.map(keyOf);
  const twice = keys.flatMap((key, index) => (keys.indexOf(key) < index ? [`${path}[${index}]`] : []));
  return [...faults, ...below, ...(listType === undefined ? [] : twice)];
}

function isPlain(value: JsonValue): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** JSON with members in the order of their names. */
function inOrder(value: JsonValue): string {
  return JSON.stringify(value, (_, one: unknown) =>
    typeof one === "object" && one !== null && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  );
}

function objectFaults(schema: Schema, object: JsonObject, path: string): string[] {
  const { properties = {}, additionalProperties, required = [] } = schema;
  const { minProperties = 0, maxProperties = Infinity } = schema;
  const present = Object.keys(object);
  // What has too many or too few members isn't looked into.
  if (present.length < minProperties || present.length > maxProperties) return [path];
  const at = (name: string): string => (path === "" ? name : `${path}.${name}`);
  return [
    ...required.filter((name) => !Object.hasOwn(object, name)).map(at),
    ...present.flatMap((name) => {
      const below = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
      return typeof below === "object" ? faultsOf(below, object[name]!, at(name)) : [];
    }),
  ];
}

/** A value without what no schema knows, and with the defaults. */
function expectedOf(schema: Schema, value: JsonValue): JsonValue {
  if (Array.isArray(value))
    return value.map((item) => (schema.items === undefined ? item : expectedOf(schema.items, item)));
  if (!isPlain(value)) return value;
  const { properties = {}, additionalProperties } = schema;
  const members: [string, JsonValue][] = [];
  for (const [name, member] of Object.entries(value as JsonObject)) {
    const below = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
    const stray = member === null && typeof below === "object" && below.nullable !== true;
    if (typeof below !== "object") {
      if (schema["x-platform-preserve-unknown-fields"] === true) members.push([name, member]);
    } else if (!stray) members.push([name, expectedOf(below, member)]);
  }
  const present = new Set(members.map(([name]) => name));
  for (const [name, { default: given, ...below }] of Object.entries(properties)) {
    if (given !== undefined && !present.has(name)) members.push([name, expectedOf(below, given)]);
  }
  return Object.fromEntries(members);
}

// --- What the server makes of a value ---

function pruned(node: SchemaNode, object: JsonObject): { object: JsonObject; dropped: number } {
  let dropped = 0;
  const support = { unknown: () => void dropped++, metadata: (value: JsonValue) => value };
  return { object: pruneMembers(node, object, [], support), dropped };
}

function filled(node: SchemaNode, object: JsonObject): JsonObject {
  const copy = deepClone(object);
  expect(fillMembers(node, copy)).toBe(true);
  return copy;
}

function placesOfFaults(node: SchemaNode, object: JsonObject): string[] {
  const report = FieldReport.start();
  checkValue(node, object, report);
  // Repeated items name the members around them as keys.
  return report.faults.map(({ field }) => (field ?? "").replaceAll(/\[([^\d\]][^\]]*)\]/g, ".$1"));
}

interface Sample {
  readonly seed: number;
  readonly schema: Schema;
  readonly node: SchemaNode;
  /** As a client sends it. */
  readonly sent: JsonObject;
  /** Pruned and with defaults. */
  readonly object: JsonObject;
}

function* samples(noise: number): Generator<Sample> {
  for (let seed = 1; seed <= seeds; seed++) {
    const dice = new Dice(seed);
    const schema = objectSchema(dice, maxDepth);
    const node = parseSchema(schema, prefix);
    for (let index = 0; index < valuesOfSeed; index++) {
      const sent = objectValue(dice, schema, noise);
      yield { seed, schema, node, sent, object: filled(node, pruned(node, sent).object) };
    }
  }
}

describe("structural schemas, at random", () => {
  test("what is stored and read again is the same: pruned and filled in once", () => {
    for (const { seed, node, sent, object } of samples(0.1)) {
      const once = pruned(node, sent).object;
      expect(pruned(node, once), `seed ${seed}`).toEqual({ object: once, dropped: 0 });
      expect(filled(node, object), `seed ${seed}`).toEqual(object);
      expect(pruned(node, object), `seed ${seed}`).toEqual({ object, dropped: 0 });
    }
  });

  test("what is stored has what a schema knows or keeps of what was sent, and the defaults", () => {
    for (const { seed, schema, sent, object } of samples(0.1)) {
      const about = `seed ${seed}: ${JSON.stringify(schema)} of ${JSON.stringify(sent)}`;
      expect(object, about).toEqual(expectedOf(schema, sent));
    }
  });

  test("a value is accepted where JSON Schema, read plainly, accepts it, and nowhere else", () => {
    const counts = { accepted: 0, refused: 0 };
    for (const { seed, schema, node, object } of samples(0.05)) {
      const expected = faultsOf(schema, object, "");
      const found = placesOfFaults(node, object);
      if (expected.length === 0) counts.accepted++;
      else counts.refused++;
      const about = `seed ${seed}: ${JSON.stringify(schema)} of ${JSON.stringify(object)}: ${String(expected)}`;
      expect(found.length > 0, about).toBe(expected.length > 0);
    }
    // Both are tried often enough to mean something.
    expect(Math.min(counts.accepted, counts.refused)).toBeGreaterThan(seeds / 2);
  });

  test("each place that breaks a rule is named, and no other", () => {
    let compared = 0;
    for (const { seed, schema, node, object } of samples(0.1)) {
      // The faults of combined schemas have no place of their own.
      if (/"(?:allOf|anyOf|oneOf|not)":/.test(JSON.stringify(schema))) continue;
      compared++;
      const unique = (places: readonly string[]): string[] => [...new Set(places)].toSorted();
      const about = `seed ${seed}: ${JSON.stringify(schema)} of ${JSON.stringify(object)}`;
      expect(unique(placesOfFaults(node, object)), about).toEqual(unique(faultsOf(schema, object, "")));
    }
    expect(compared).toBeGreaterThan(seeds / 4);
  });
});
