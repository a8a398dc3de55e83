import { encodeJson } from "../../base/json/encode.ts";
import { deepEqual, getMember, isObject, type JsonObject, type JsonValue } from "../../base/json/value.ts";
import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import { checkInTurns } from "../check-in-turns.ts";
import type { FieldReport } from "../faults.ts";
import { checkEmbedded } from "./embedded.ts";
import { hasFormat } from "./formats.ts";
import { checkListItems, keyText } from "./list-items.ts";
import { isMultiple } from "./multiples.ts";
import { type OldValue, charactersPerUnit, comparisonsPerUnit } from "./old-value.ts";
import type { Pattern } from "./pattern.ts";
import type { JsonTypeName, SchemaNode, ValueRules } from "./schema-node.ts";

/**
 * Validates a value against a schema and reports faults with the reasons of Kubernetes (spec: conventions 4.8). Long work takes turns:
 * see {@link FieldReport.pauseIfDue}.
 *
 * @param old the value that it replaces: equal parts have no faults. Undefined if there is none, or if all faults count.
 */
export function checkValue(
  node: SchemaNode,
  value: JsonValue,
  report: FieldReport,
  old?: OldValue,
): MaybePromise<void> {
  report.spend(1);
  if (report.full) return;
  if (old === undefined) return checkRules(node, value, report, old);
  return andThen(old.equals(value, report), (isEqual) =>
    isEqual ? undefined : checkRules(node, value, report, old),
  );
}

function checkRules(
  node: SchemaNode,
  value: JsonValue,
  report: FieldReport,
  old: OldValue | undefined,
): MaybePromise<void> {
  checkType(node, value, report);
  // As in Kubernetes, `enum` is the only rule that is checked for null.
  const combined =
    value === null || !isCombined(node.rules) ? undefined : checkCombinedSchemas(node, value, report, old);
  return combined === undefined
    ? checkOwnRules(node, value, report, old)
    : combined.then(() => checkOwnRules(node, value, report, old));
}

/** Checks the rules of a node that aren't combined schemas, and what is below. */
function checkOwnRules(
  node: SchemaNode,
  value: JsonValue,
  report: FieldReport,
  old: OldValue | undefined,
): MaybePromise<void> {
  const { rules } = node;
  if (rules.enum !== undefined) checkEnum(rules.enum, value, report);
  if (value === null) return;
  if (typeof value === "string") return checkString(rules, value, report);
  if (typeof value === "number" || typeof value === "bigint") return checkNumber(node, value, report);
  if (Array.isArray(value)) return checkList(node, value, report, old);
  if (isObject(value)) return checkObject(node, value, report, old);
}

/** Units of work per comparison of lists and objects, and for reading one member or item. */
const comparisonUnits = 4;
const unitsPerMember = 2;

function checkEnum(values: readonly unknown[], value: JsonValue, report: FieldReport): void {
  report.spend(values.length * comparisonCost(value));
  if (report.full) return;
  const isAllowed =
    typeof value === "string"
      ? values.includes(value)
      : values.some((one) => deepEqual(one as JsonValue, value));
  if (isAllowed) return;
  report.notSupported(
    value,
    values.map((one) => (typeof one === "string" ? one : encodeJson(one as JsonValue))),
  );
}

/** Returns the units of work for comparing a value once. */
function comparisonCost(value: JsonValue): number {
  return typeof value === "object"
    ? comparisonUnits + unitsPerMember * memberCount(value)
    : 1 / comparisonsPerUnit;
}

/** Returns the number of members and items in a value, of all depths. */
function memberCount(value: JsonValue): number {
  if (typeof value !== "object" || value === null) return 0;
  let count = 0;
  for (const member of Object.values(value)) count += 1 + memberCount(member as JsonValue);
  return count;
}

function checkType({ type, nullable, intOrString }: SchemaNode, value: JsonValue, report: FieldReport): void {
  const actual = typeOf(value);
  if (actual === "null") {
    if (nullable || (type === "" && !intOrString)) return;
  } else if (intOrString) {
    if (actual === "integer" || actual === "string") return;
  } else if (type === "" || type === actual || (type === "number" && actual === "integer")) return;
  const expected = intOrString ? "integer or string" : type;
  // As in Kubernetes, the type stands for the value.
  report.typeInvalid(actual, `${inBody(report)} must be of type ${expected}: ${JSON.stringify(actual)}`);
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
      // Clients decode integers as 64 bits.
      return BigInt.asIntN(64, value) === value ? "integer" : "number";
    default:
      return "object";
  }
}

function isCombined({ allOf, anyOf, oneOf, not }: ValueRules): boolean {
  return allOf.length > 0 || anyOf.length > 0 || oneOf.length > 0 || not !== undefined;
}

/** Checks one kind of combination. */
type CombinationCheck = (
  rules: ValueRules,
  value: JsonValue,
  report: FieldReport,
  old: OldValue | undefined,
) => MaybePromise<void>;

/**
 * Validates a value against combined schemas. As in Kubernetes, the fault of a combination has no field but the path in its
 * message, and if no schema matches, the faults of the first schema are reported too.
 */
function checkCombinedSchemas(
  { rules }: SchemaNode,
  value: JsonValue,
  report: FieldReport,
  old: OldValue | undefined,
): MaybePromise<void> {
  return checkInTurns(combinationChecks, report, (check) => check(rules, value, report, old));
}

const combinationChecks: readonly CombinationCheck[] = [checkAnyOf, checkOneOf, checkAllOf, checkNot];

function checkAnyOf(
  { anyOf }: ValueRules,
  value: JsonValue,
  report: FieldReport,
  old: OldValue | undefined,
): MaybePromise<void> {
  if (anyOf.length === 0) return;
  return andThen(tryAlternatives(anyOf, value, report, old), ({ matchCount, firstReport }) => {
    if (matchCount > 0 || firstReport === undefined) return;
    reportWithoutField(report, "must validate at least one schema (anyOf)");
    report.addAll(firstReport);
  });
}

function checkOneOf(
  { oneOf }: ValueRules,
  value: JsonValue,
  report: FieldReport,
  old: OldValue | undefined,
): MaybePromise<void> {
  if (oneOf.length === 0) return;
  return andThen(tryAlternatives(oneOf, value, report, old), ({ matchCount, firstReport }) => {
    if (matchCount === 1 || firstReport === undefined) return;
    const detail = matchCount === 0 ? "Found none valid" : `Found ${matchCount} valid alternatives`;
    reportWithoutField(report, `must validate one and only one schema (oneOf). ${detail}`);
    if (matchCount === 0) report.addAll(firstReport);
  });
}

function checkAllOf(
  { allOf }: ValueRules,
  value: JsonValue,
  report: FieldReport,
  old: OldValue | undefined,
): MaybePromise<void> {
  const countBefore = report.faults.length;
  const checked = checkInTurns(allOf, report, (part) => checkValue(part, value, report, old));
  return andThen(checked, () => {
    if (report.faults.length > countBefore)
      reportWithoutField(report, "must validate all the schemas (allOf)");
  });
}

function checkNot(
  { not }: ValueRules,
  value: JsonValue,
  report: FieldReport,
  old: OldValue | undefined,
): MaybePromise<void> {
  if (not === undefined) return;
  return andThen(tryAlternatives([not], value, report, old), ({ matchCount }) => {
    if (matchCount > 0) reportWithoutField(report, "must not validate the schema (not)");
  });
}

/** The alternatives that a value matches. */
interface Matches {
  matchCount: number;
  /** The report of the first alternative; undefined if the work exceeded its limit before. */
  firstReport: FieldReport | undefined;
}

/** Validates a value against each alternative once. */
function tryAlternatives(
  parts: readonly SchemaNode[],
  value: JsonValue,
  report: FieldReport,
  old: OldValue | undefined,
): MaybePromise<Matches> {
  const matches: Matches = { matchCount: 0, firstReport: undefined };
  const tried = checkInTurns(parts, report, (part) => {
    const partReport = matches.firstReport === undefined ? report.separate() : report.probe();
    matches.firstReport ??= partReport;
    return andThen(checkValue(part, value, partReport, old), () => {
      if (partReport.faults.length === 0) matches.matchCount++;
    });
  });
  return andThen(tried, () => matches);
}

/** As in Kubernetes, the message doesn't show the value. */
function reportWithoutField(report: FieldReport, message: string): void {
  report.withoutField().invalid("", `${JSON.stringify(report.bodyPath)} ${message}`);
}

/** Returns the beginning of a message about the value, which names its path once more, as in Kubernetes. */
function inBody(report: FieldReport): string {
  return `${report.bodyPath} in body`;
}

function checkString(rules: ValueRules, text: string, report: FieldReport): void {
  const { pattern, format } = rules;
  report.spend(text.length / charactersPerUnit);
  if (report.full) return;
  // As in Kubernetes, the pattern isn't checked if the length is wrong.
  if (checkLength(rules, text, report) && pattern !== undefined) checkPattern(pattern, text, report);
  if (format !== undefined && !hasFormat(format, text)) {
    report.typeInvalid(
      text,
      `${inBody(report)} must be of type ${format}: ${JSON.stringify(text.slice(0, 64))}`,
    );
  }
}

/** Validates the length in characters, not UTF-16 code units; returns whether it is allowed. */
function checkLength({ maxLength, minLength }: ValueRules, text: string, report: FieldReport): boolean {
  if (maxLength === undefined && minLength === undefined) return true;
  const length = countCharacters(text);
  if (maxLength !== undefined && length > maxLength) {
    report.tooLong(maxLength, "characters");
    return false;
  }
  if (minLength === undefined || length >= minLength) return true;
  report.invalid(text, `${inBody(report)} should be at least ${minLength} chars long`);
  return false;
}

/** Reports members without a schema. As in Kubernetes, the faults have the path of the object. */
function rejectUnknownMembers(
  { properties }: SchemaNode,
  names: readonly string[],
  report: FieldReport,
): void {
  for (const name of names) {
    if (report.full) return;
    if (!properties.has(name)) report.invalid(name, "must not have members that the schema doesn't name");
  }
}

/** Product of pattern instructions and characters per unit of work. */
const patternStepsPerUnit = 10;

function checkPattern(pattern: Pattern, text: string, report: FieldReport): void {
  if (pattern.isNew) report.lookAtClock();
  report.spend((text.length * pattern.size) / patternStepsPerUnit);
  if (report.full || pattern.matches(text)) return;
  report.invalid(text, `${inBody(report)} should match '${pattern.source}'`);
}

function countCharacters(text: string): number {
  let length = text.length;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    // The high surrogate of a pair.
    if (unit >= 0xd800 && unit < 0xdc00) length--;
  }
  return length;
}

function checkNumber({ rules }: SchemaNode, value: number | bigint, report: FieldReport): void {
  const { maximum, exclusiveMaximum, minimum, exclusiveMinimum, multipleOf } = rules;
  if (multipleOf !== undefined && multipleOf > 0 && !isMultiple(value, multipleOf)) {
    report.invalid(value, `${inBody(report)} should be a multiple of ${multipleOf}`);
  }
  if (maximum !== undefined && (exclusiveMaximum ? value >= maximum : value > maximum)) {
    report.invalid(
      value,
      `${inBody(report)} should be less than ${exclusiveMaximum ? "" : "or equal to "}${maximum}`,
    );
  }
  if (minimum !== undefined && (exclusiveMinimum ? value <= minimum : value < minimum)) {
    report.invalid(
      value,
      `${inBody(report)} should be greater than ${exclusiveMinimum ? "" : "or equal to "}${minimum}`,
    );
  }
  // As in Kubernetes, formats of numbers (int32, float) are not checked.
}

function checkList(
  node: SchemaNode,
  list: readonly JsonValue[],
  report: FieldReport,
  old: OldValue | undefined,
): MaybePromise<void> {
  const { maxItems, minItems } = node.rules;
  if (maxItems !== undefined && list.length > maxItems) report.tooMany(list.length, maxItems);
  if (minItems !== undefined && list.length < minItems) {
    report.invalid(list.length, `${inBody(report)} should have at least ${minItems} items`);
  }
  const { items } = node;
  if (items === undefined) return;
  const oldItems = old?.itemsByKey(node, report);
  if (oldItems !== undefined) report.spend(list.length * node.listMapKeys.length);
  const checked = checkInTurns(list, report, (item, index) =>
    checkValue(items, item, report.at(index), oldItems?.get(keyText(node, item))),
  );
  if (node.listType !== "set" && node.listType !== "map") return checked;
  return andThen(checked, () => checkListItems(node, list, report.withKeys()));
}

function checkObject(
  node: SchemaNode,
  object: JsonObject,
  report: FieldReport,
  old: OldValue | undefined,
): MaybePromise<void> {
  const { maxProperties, minProperties, required } = node.rules;
  const names = Object.keys(object);
  report.spend(names.length * unitsPerMember);
  if (report.full) return;
  if (node.embedded) checkEmbedded(object, report.withKeys());
  // As in Kubernetes, members aren't validated if there are too many or too few.
  if (maxProperties !== undefined && names.length > maxProperties) {
    return report.tooMany(names.length, maxProperties);
  }
  if (minProperties !== undefined && names.length < minProperties) {
    return report.invalid(names.length, `${inBody(report)} should have at least ${minProperties} properties`);
  }
  report.spend(required.length / comparisonsPerUnit);
  for (const name of required) if (getMember(object, name) === undefined) report.at(name).required();
  if (node.closed) rejectUnknownMembers(node, names, report);
  if (node.properties.size === 0 && node.additional === undefined) return;
  return checkInTurns(names, report, (name) => {
    const value: JsonValue | undefined = object[name];
    if (value === undefined) return;
    const property = node.properties.get(name);
    if (property !== undefined) return checkValue(property, value, report.at(name), old?.member(name));
    if (node.additional === undefined) return;
    return checkValue(node.additional, value, report.entry(name), old?.member(name));
  });
}
