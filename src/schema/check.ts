import type { Vocabulary } from "../vocabulary/vocabulary.ts";
import type { KindContext } from "./context.ts";
import type { FieldReport } from "./faults.ts";
import type { Field, FieldCheck, StructType, Type, Word } from "./types.ts";
import { formOf } from "./unions.ts";

/**
 * Checks what the fields' own lines demand (given, in the closed set, the line's rule) and what the structs' rules do.
 * The value is canonical (see `decode.ts`). Rules of the whole kind are checked by its `validate`.
 */
export function checkFields(
  type: StructType,
  value: Record<string, unknown>,
  report: FieldReport,
  context: KindContext,
): void {
  for (const name in type.fields) {
    const field = type.fields[name]!;
    const given = value[name];
    if (given === undefined || given === null || given === "") {
      if (field.facts.mustBeGiven) report.at(name).requiredUnlessSaid();
      continue;
    }
    if (!hasRules(field)) continue;
    const place = report.at(name);
    if (field.facts.check !== undefined) (field.facts.check as FieldCheck<unknown>)(given, place, context);
    if (field.facts.unchecked) continue;
    if (field.facts.oneOf !== undefined) checkOneOf(field, given, place, context.vocabulary);
    checkValue(field.type, given, place, context);
  }
  type.rules.check?.(value, report, context);
}

function checkValue(type: Type, value: unknown, report: FieldReport, context: KindContext): void {
  if (!mayHoldRules(type)) return;
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
      if (form !== undefined) checkValue(form.type, value, report, context);
      return;
    }
    case "scalar":
  }
}

function hasRules(field: Field): boolean {
  return field.facts.oneOf !== undefined || field.facts.check !== undefined || mayHoldRules(field.type);
}

/** Lists and maps of scalars have nothing below them to check. */
function mayHoldRules(type: Type): boolean {
  if (type.shape === "list") return mayHoldRules(type.element);
  if (type.shape === "map") return mayHoldRules(type.value);
  return type.shape !== "scalar";
}

function checkOneOf(field: Field, given: unknown, report: FieldReport, vocabulary: Vocabulary): void {
  const allowed = field.facts.oneOf!.map((word) => spell(word, vocabulary));
  const values = Array.isArray(given) ? (given as unknown[]) : [given];
  for (const value of values) {
    if (report.full) return;
    if (!allowed.includes(value as string)) report.notSupported(value, allowed.toSorted());
  }
}

/** A word in the given vocabulary. */
export function spell(word: Word, vocabulary: Vocabulary): string {
  return typeof word === "string" ? word : word(vocabulary);
}
