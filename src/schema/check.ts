import { applies, since } from "../base/release-rows.ts";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";
import type { JsonObject } from "../base/json/value.ts";
import { andThen, type MaybePromise } from "../base/turns/maybe-promise.ts";
import { checkValue as checkOpenValue } from "./custom/check.ts";
import { OldValue } from "./custom/old-value.ts";
import type { SchemaNode } from "./custom/schema-node.ts";
import type { KindContext } from "./context.ts";
import type { FieldReport } from "./faults.ts";
import type { Field, FieldCheck, StructType, Type, VocabularyString } from "./types.ts";
import { formOf } from "./unions.ts";

/**
 * Validates the declared rules of fields (required, allowed values, `check`) and structs, and adds the faults to the report. The
 * value must be canonical (see `decode.ts`). Rules of the whole kind are in its `validate`. The faults are complete when the report
 * is finished ({@link FieldReport.finish}).
 *
 * @param live the object that an update replaces; only custom kinds use it.
 */
export function checkFields(
  type: StructType,
  value: Record<string, unknown>,
  report: FieldReport,
  context: KindContext,
  live?: object,
): void {
  for (const { name, field, deep, checksEmpty } of checkedFieldsOf(type)) {
    const fieldValue = value[name];
    if (fieldValue === undefined || fieldValue === null || (fieldValue === "" && !checksEmpty)) {
      if (field.facts.mustBeGiven) report.at(name).requiredUnlessReported();
      continue;
    }
    if (!deep && field.facts.oneOf === undefined && field.facts.check === undefined) continue;
    const fieldReport = report.at(name);
    if (field.facts.check !== undefined)
      (field.facts.check as FieldCheck<unknown>)(fieldValue, fieldReport, context);
    if (field.facts.unchecked) continue;
    if (field.facts.oneOf !== undefined) checkOneOf(field, fieldValue, fieldReport, context.vocabulary);
    if (deep) checkValue(field.type, fieldValue, fieldReport, context);
  }
  type.rules.check?.(value, report, context);
  const { open } = type;
  if (open !== undefined)
    report.defer((own) =>
      checkCustom(open, value as JsonObject, own, context, live as JsonObject | undefined),
    );
}

/** Whether a write of the status checks the status only. */
const checksStatusOnly = applies(since("1.28"));

/**
 * Validates a custom object against its schema: with a write to `status`, only the status (1.28 on). Faults in parts
 * that an update doesn't change are dropped if the gate says so.
 */
function checkCustom(
  node: SchemaNode,
  object: JsonObject,
  report: FieldReport,
  context: KindContext,
  live: JsonObject | undefined,
): MaybePromise<void> {
  const { subresource, enabled } = context;
  const status = node.properties.get("status");
  const isStatus = subresource === "status" && status !== undefined && checksStatusOnly(context);
  if (isStatus && object["status"] === undefined) return;
  const part = (from: JsonObject) => (isStatus ? from["status"] : from);
  const check = (at: FieldReport, old?: OldValue) =>
    checkOpenValue(isStatus ? status : node, part(object)!, isStatus ? at.bodyAt("status") : at, old);
  if (live === undefined || !enabled("CRDValidationRatcheting")) return check(report);
  // Most updates have no faults, so the old object is compared only if there are some.
  const probe = report.probe();
  return andThen(check(probe), () => {
    if (probe.faults.length === 0) return;
    const old = part(live);
    return check(report, old === undefined ? undefined : OldValue.of(old));
  });
}

/** Validates the parts of a value. */
function checkValue(type: Type, value: unknown, report: FieldReport, context: KindContext): void {
  switch (type.shape) {
    case "struct":
      checkFields(type, value as Record<string, unknown>, report, context);
      return;
    case "list":
      for (const [index, item] of (value as unknown[]).entries()) {
        if (report.full) return;
        checkValue(type.element, item, report.at(index), context);
      }
      return;
    case "map":
      for (const [key, item] of Object.entries(value as Record<string, unknown>)) {
        if (report.full) return;
        checkValue(type.value, item, report.key(key), context);
      }
      return;
    case "union": {
      const form = formOf(type, value);
      if (form !== undefined && hasRules(form.type)) checkValue(form.type, value, report, context);
      return;
    }
    case "scalar":
  }
}

/** A field with rules. */
interface CheckedField {
  readonly name: string;
  readonly field: Field;
  /** Whether its type, or a type inside, has rules. */
  readonly deep: boolean;
  /** Whether the rules apply to an empty string too. */
  readonly checksEmpty: boolean;
}

const checkedFieldsByType = new WeakMap<StructType, readonly CheckedField[]>();

/** Returns the fields of a struct that have rules, in declared order. Cached per type. */
function checkedFieldsOf(type: StructType): readonly CheckedField[] {
  let checkedFields = checkedFieldsByType.get(type);
  if (checkedFields === undefined) {
    checkedFields = Object.entries(type.fields)
      .map(([name, field]) => {
        const { checkedWhenEmpty, nullable, oneOf } = field.facts;
        // An empty string in an int-or-string field is a value, not an absent one.
        const maybeNumber = field.type.shape === "scalar" && field.type.name === "intOrString";
        const checksEmpty = checkedWhenEmpty ?? ((nullable && oneOf !== undefined) || maybeNumber);
        return { name, field, deep: hasRules(field.type), checksEmpty };
      })
      .filter(({ field, deep }) => deep || hasOwnRules(field));
    checkedFieldsByType.set(type, checkedFields);
  }
  return checkedFields;
}

function hasOwnRules({ facts }: Field): boolean {
  return facts.mustBeGiven || facts.oneOf !== undefined || facts.check !== undefined;
}

const hasRulesByType = new WeakMap<Type, boolean>();

/** Whether a type, or a type inside, has rules. Cached per type. */
function hasRules(type: Type): boolean {
  if (type.shape === "scalar") return false;
  let result = hasRulesByType.get(type);
  if (result === undefined) hasRulesByType.set(type, (result = searchRules(type, new Set())));
  return result;
}

function searchRules(type: Type, visited: Set<Type>): boolean {
  if (type.shape === "scalar" || visited.has(type)) return false;
  visited.add(type);
  switch (type.shape) {
    case "list":
      return searchRules(type.element, visited);
    case "map":
      return searchRules(type.value, visited);
    case "union":
      return Object.values(type.forms).some((form) => searchRules(form.type, visited));
    case "struct":
      if (type.rules.check !== undefined || type.open !== undefined) return true;
      return Object.values(type.fields).some(
        (field) => hasOwnRules(field) || searchRules(field.type, visited),
      );
  }
}

function checkOneOf(
  { facts }: Field,
  fieldValue: unknown,
  report: FieldReport,
  vocabulary: Vocabulary,
): void {
  const allowedValues = facts.oneOf!;
  const values = Array.isArray(fieldValue) ? (fieldValue as unknown[]) : [fieldValue];
  for (const value of values) {
    if (report.full) return;
    if (allowedValues.some((allowed) => resolveString(allowed, vocabulary) === value)) continue;
    report.notSupported(value, allowedValues.map((word) => resolveString(word, vocabulary)).toSorted());
  }
}

/** Returns the string for a vocabulary. */
export function resolveString(word: VocabularyString, vocabulary: Vocabulary): string {
  return typeof word === "string" ? word : word(vocabulary);
}
