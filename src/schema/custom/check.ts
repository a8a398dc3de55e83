import { encodeJson } from "../../base/json/encode.ts";
import { deepEqual, getMember, isObject, type JsonObject, type JsonValue } from "../../base/json/value.ts";
import type { FieldReport } from "../faults.ts";
import { checkEmbedded } from "./embedded.ts";
import { hasFormat } from "./formats.ts";
import { checkListItems } from "./list-items.ts";
import { isMultiple } from "./multiples.ts";
import type { Pattern } from "./pattern.ts";
import type { JsonTypeName, SchemaNode, ValueRules } from "./schema-node.ts";

/** Holds a value against a schema, with the reasons that the reference gives (spec: conventions 4.8). */
export function checkValue(node: SchemaNode, value: JsonValue, place: FieldReport): void {
  place.spend(1);
  if (place.full) return;
  checkType(node, value, place);
  const { rules } = node;
  // Of the other rules, which go by the type that the value has, only the closed set is about null, as in the reference.
  if (value !== null) checkParts(node, value, place);
  if (rules.enum !== undefined) checkEnum(rules.enum, value, place);
  if (value === null) return;
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
    values.map((one) => (typeof one === "string" ? one : encodeJson(one as JsonValue))),
  );
}

function checkType({ type, nullable, intOrString }: SchemaNode, value: JsonValue, place: FieldReport): void {
  const found = typeOf(value);
  if (found === "null") {
    if (nullable || (type === "" && !intOrString)) return;
  } else if (intOrString) {
    if (found === "integer" || found === "string") return;
  } else if (type === "" || type === found || (type === "number" && found === "integer")) return;
  const wanted = intOrString ? "integer or string" : type;
  place.typeInvalid(value, `must be of type ${wanted}: ${JSON.stringify(found)}`);
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
      return Number.isSafeInteger(value) ? "integer" : "number";
    case "bigint":
      // Clients read integers in 64 bits.
      return BigInt.asIntN(64, value) === value ? "integer" : "number";
    default:
      return "object";
  }
}

/**
 * Holds a value against combined schemas. As in the reference, the fault of a combination has no place of its own but says it in
 * its message, and where no schema fits, the faults by the first stand beside it.
 */
function checkParts({ rules }: SchemaNode, value: JsonValue, place: FieldReport): void {
  const { allOf, anyOf, oneOf, not } = rules;
  if (anyOf.length > 0) {
    const { fitting, first } = tried(anyOf, value, place);
    if (fitting === 0) {
      refuseWhole(value, place, "must validate at least one schema (anyOf)");
      place.addAll(first!);
    }
  }
  if (oneOf.length > 0) {
    const { fitting, first } = tried(oneOf, value, place);
    if (fitting !== 1) {
      const found = fitting === 0 ? "Found none valid" : `Found ${fitting} valid alternatives`;
      refuseWhole(value, place, `must validate one and only one schema (oneOf). ${found}`);
    }
    if (fitting === 0) place.addAll(first!);
  }
  const before = place.faults.length;
  for (const part of allOf) checkValue(part, value, place);
  if (place.faults.length > before) refuseWhole(value, place, "must validate all the schemas (allOf)");
  if (not !== undefined && tried([not], value, place).fitting > 0) {
    refuseWhole(value, place, "must not validate the schema (not)");
  }
}

/**
 * Holds a value against alternatives, each once, however deeply they are nested.
 *
 * @returns how many fit, and what the first one finds.
 */
function tried(
  parts: readonly SchemaNode[],
  value: JsonValue,
  place: FieldReport,
): { readonly fitting: number; readonly first: FieldReport | undefined } {
  let fitting = 0;
  let first: FieldReport | undefined;
  for (const part of parts) {
    const report = first === undefined ? place.separate() : place.probe();
    first ??= report;
    checkValue(part, value, report);
    if (report.faults.length === 0) fitting++;
  }
  return { fitting, first };
}

function refuseWhole(value: JsonValue, place: FieldReport, message: string): void {
  place.withoutField().invalid(value, `${JSON.stringify(place.path)} ${message}`);
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

/** Refuses members without a schema, at the object, as the reference does. */
function refuseOthers({ properties }: SchemaNode, names: readonly string[], place: FieldReport): void {
  for (const name of names) {
    if (place.full) return;
    if (!properties.has(name)) place.invalid(name, "must not have members that the schema doesn't name");
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

function checkNumber({ rules }: SchemaNode, value: number | bigint, place: FieldReport): void {
  const { maximum, exclusiveMaximum, minimum, exclusiveMinimum, multipleOf } = rules;
  if (multipleOf !== undefined && multipleOf > 0 && !isMultiple(value, multipleOf)) {
    place.invalid(value, `should be a multiple of ${multipleOf}`);
  }
  if (maximum !== undefined && (exclusiveMaximum ? value >= maximum : value > maximum)) {
    place.invalid(value, `should be less than ${exclusiveMaximum ? "" : "or equal to "}${maximum}`);
  }
  if (minimum !== undefined && (exclusiveMinimum ? value <= minimum : value < minimum)) {
    place.invalid(value, `should be greater than ${exclusiveMinimum ? "" : "or equal to "}${minimum}`);
  }
  // Formats of numbers (int32, float) bound nothing, as in the reference.
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
  if (node.listType === "set" || node.listType === "map") checkListItems(node, list, place.withKeys());
}

function checkObject(node: SchemaNode, object: JsonObject, place: FieldReport): void {
  const { maxProperties, minProperties, required } = node.rules;
  const names = Object.keys(object);
  if (node.embedded) checkEmbedded(object, place.withKeys());
  // As in the reference, what has too many or too few members isn't looked into.
  if (maxProperties !== undefined && names.length > maxProperties) {
    return place.tooMany(names.length, maxProperties);
  }
  if (minProperties !== undefined && names.length < minProperties) {
    return place.invalid(names.length, `should have at least ${minProperties} properties`);
  }
  place.spend(required.length / comparisonsPerUnit);
  for (const name of required) if (getMember(object, name) === undefined) place.at(name).required();
  if (node.closed) refuseOthers(node, names, place);
  if (node.properties.size === 0 && node.additional === undefined) return;
  for (const name of names) {
    if (place.full) return;
    const value: JsonValue | undefined = object[name];
    if (value === undefined) continue;
    const property = node.properties.get(name);
    if (property !== undefined) checkValue(property, value, place.at(name));
    else if (node.additional !== undefined) checkValue(node.additional, value, place.entry(name));
  }
}
