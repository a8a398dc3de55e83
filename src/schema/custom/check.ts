import { deepEqual, getMember, isObject, type JsonObject, type JsonValue } from "../../base/json/value.ts";
import type { FieldReport } from "../faults.ts";
import { hasFormat, rangeOf } from "./formats.ts";
import { checkListItems } from "./list-items.ts";
import type { Pattern } from "./pattern.ts";
import type { JsonTypeName, SchemaNode, ValueRules } from "./schema-node.ts";

/** Holds a value against a schema, with the reasons that the reference gives (spec: conventions 4.8). */
export function checkValue(node: SchemaNode, value: JsonValue, place: FieldReport): void {
  place.spend(1);
  if (place.full) return;
  if (!hasType(node, value, place)) return;
  const { rules } = node;
  checkParts(node, value, place);
  if (rules.enum !== undefined) checkEnum(rules.enum, value, place);
  if (typeof value === "string") checkText(rules, value, place);
  else if (typeof value === "number" || typeof value === "bigint") checkNumber(node, value, place);
  else if (Array.isArray(value)) checkList(node, value, place);
  else if (isObject(value)) checkObject(node, value, place);
}

/** How many scalars are compared in a unit of work, and how many units it takes to compare two values of other types. */
const comparisonsPerUnit = 8;
const comparisonUnits = 4;

function checkEnum(values: readonly unknown[], value: JsonValue, place: FieldReport): void {
  const isScalar = typeof value !== "object";
  place.spend(values.length * (isScalar ? 1 / comparisonsPerUnit : comparisonUnits));
  if (place.full) return;
  const isOne =
    typeof value === "string"
      ? values.includes(value)
      : values.some((one) => deepEqual(one as JsonValue, value));
  if (isOne) return;
  place.notSupported(
    value,
    values.map((one) => (typeof one === "string" ? one : JSON.stringify(one))),
  );
}

/** Whether a value has the type that it should; what the other rules say of values of other types means nothing. */
function hasType({ type, nullable, intOrString }: SchemaNode, value: JsonValue, place: FieldReport): boolean {
  const found = typeOf(value);
  if (found === "null") {
    if (nullable || (type === "" && !intOrString)) return true;
  } else if (intOrString) {
    if (found === "integer" || found === "string") return true;
  } else if (type === "" || type === found || (type === "number" && found === "integer")) return true;
  const wanted = intOrString ? "integer or string" : type;
  place.typeInvalid(value, `must be of type ${wanted}: ${JSON.stringify(found)}`);
  return false;
}

function typeOf(value: JsonValue): JsonTypeName | "null" {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  switch (typeof value) {
    case "string":
      return "string";
    case "boolean":
      return "boolean";
    case "number":
      return Number.isInteger(value) ? "integer" : "number";
    case "bigint":
      return "integer";
    default:
      return "object";
  }
}

function checkParts({ rules }: SchemaNode, value: JsonValue, place: FieldReport): void {
  const { allOf, anyOf, oneOf, not } = rules;
  for (const part of allOf) checkValue(part, value, place);
  if (anyOf.length > 0 && !anyOf.some((part) => fits(part, value, place))) {
    place.invalid(value, "must validate at least one schema (anyOf)");
  }
  if (oneOf.length > 0) {
    const fitting = oneOf.filter((part) => fits(part, value, place)).length;
    if (fitting !== 1) {
      const found = fitting === 0 ? "Found none valid" : `Found ${fitting} valid alternatives`;
      place.invalid(value, `must validate one and only one schema (oneOf). ${found}`);
    }
  }
  if (not !== undefined && fits(not, value, place))
    place.invalid(value, "must not validate the schema (not)");
}

function fits(node: SchemaNode, value: JsonValue, place: FieldReport): boolean {
  const report = place.aside();
  checkValue(node, value, report);
  return report.faults.length === 0;
}

/** How many characters of a text are looked at in a unit of work. */
const charactersPerUnit = 64;

function checkText(rules: ValueRules, text: string, place: FieldReport): void {
  const { maxLength, minLength, pattern, format } = rules;
  place.spend(text.length / charactersPerUnit);
  if (place.full) return;
  if (maxLength !== undefined || minLength !== undefined) {
    // Characters, not the units of which some have two.
    const length = lengthOf(text);
    if (maxLength !== undefined && length > maxLength) place.tooLong(maxLength, "characters");
    if (minLength !== undefined && length < minLength) {
      place.invalid(text, `should be at least ${minLength} chars long`);
    }
  }
  if (pattern !== undefined) checkPattern(pattern, text, place);
  if (format !== undefined && !hasFormat(format, text)) {
    place.typeInvalid(text, `must be of type ${format}: ${JSON.stringify(text.slice(0, 64))}`);
  }
}

/** How many instructions of a pattern are held against how many characters in a unit of work, multiplied. */
const patternStepsPerUnit = 10;

function checkPattern(pattern: Pattern, text: string, place: FieldReport): void {
  place.spend((text.length * pattern.size) / patternStepsPerUnit);
  if (place.full || pattern.matches(text)) return;
  place.invalid(text, `should match '${pattern.source}'`);
}

function lengthOf(text: string): number {
  let length = text.length;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    // The first half of a pair.
    if (unit >= 0xd800 && unit < 0xdc00) length--;
  }
  return length;
}

function checkNumber({ rules, type }: SchemaNode, value: number | bigint, place: FieldReport): void {
  const { maximum, exclusiveMaximum, minimum, exclusiveMinimum, multipleOf, format } = rules;
  if (multipleOf !== undefined && multipleOf > 0) {
    const quotient = Number(value) / multipleOf;
    if (!Number.isInteger(quotient)) place.invalid(value, `should be a multiple of ${multipleOf}`);
  }
  if (maximum !== undefined && (exclusiveMaximum ? value >= maximum : value > maximum)) {
    place.invalid(value, `should be less than ${exclusiveMaximum ? "" : "or equal to "}${maximum}`);
  }
  if (minimum !== undefined && (exclusiveMinimum ? value <= minimum : value < minimum)) {
    place.invalid(value, `should be greater than ${exclusiveMinimum ? "" : "or equal to "}${minimum}`);
  }
  const range = rangeOf(format ?? (type === "integer" ? "int64" : ""));
  if (range !== undefined && (value < range[0] || value > range[1])) {
    place.invalid(value, `should be between ${range[0]} and ${range[1]}`);
  }
}

function checkList(node: SchemaNode, list: readonly JsonValue[], place: FieldReport): void {
  const { maxItems, minItems } = node.rules;
  if (maxItems !== undefined && list.length > maxItems) place.tooMany(list.length, maxItems);
  if (minItems !== undefined && list.length < minItems) {
    place.invalid(list.length, `should have at least ${minItems} items`);
  }
  if (node.items === undefined) return;
  for (const [index, item] of list.entries()) {
    if (place.full) return;
    checkValue(node.items, item, place.at(index));
  }
  checkListItems(node, list, place);
}

function checkObject(node: SchemaNode, object: JsonObject, place: FieldReport): void {
  const { maxProperties, minProperties, required } = node.rules;
  const names = Object.keys(object);
  if (maxProperties !== undefined && names.length > maxProperties) place.tooMany(names.length, maxProperties);
  if (minProperties !== undefined && names.length < minProperties) {
    place.invalid(names.length, `should have at least ${minProperties} properties`);
  }
  place.spend(required.length / comparisonsPerUnit);
  for (const name of required) if (getMember(object, name) === undefined) place.at(name).required();
  if (node.properties.size === 0 && node.additional === undefined) return;
  for (const name of names) {
    if (place.full) return;
    const value: JsonValue | undefined = object[name];
    const below = node.properties.get(name) ?? node.additional;
    if (below !== undefined && value !== undefined) checkValue(below, value, place.at(name));
  }
}
