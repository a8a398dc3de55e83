import { deepClone, type JsonObject, type JsonValue } from "../../src/base/json/value.ts";
import type { Dice } from "../support/dice.ts";
import { faultsOf, type Schema } from "./schema-model.ts";

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

export function objectSchema(dice: Dice, depth: number): Schema {
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

export function objectValue(dice: Dice, schema: Schema, noise: number): JsonObject {
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
