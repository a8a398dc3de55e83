import type { Vocabulary } from "../vocabulary/vocabulary.ts";
import type { FieldReport } from "./faults.ts";
import type { Field, StructType, Type, Word } from "./types.ts";

/**
 * Checks what the fields' own lines demand: required fields are given, closed sets hold. The value is canonical (see
 * `decode.ts`). Rules of the whole kind are checked by its `validate`.
 */
export function checkFields(
  type: StructType,
  value: Record<string, unknown>,
  report: FieldReport,
  vocabulary: Vocabulary,
): void {
  for (const name in type.fields) {
    const field = type.fields[name]!;
    const given = value[name];
    if (given === undefined || given === null || given === "") {
      if (field.facts.required) report.at(name).requiredUnlessSaid();
      continue;
    }
    if (field.facts.oneOf !== undefined) checkOneOf(field, given, report.at(name), vocabulary);
    if (mayHoldRules(field.type)) checkValue(field.type, given, report.at(name), vocabulary);
  }
}

function checkValue(type: Type, value: unknown, report: FieldReport, vocabulary: Vocabulary): void {
  switch (type.shape) {
    case "struct":
      checkFields(type, value as Record<string, unknown>, report, vocabulary);
      return;
    case "list":
      for (const [index, item] of (value as unknown[]).entries()) {
        if (report.full) return;
        checkValue(type.element, item, report.at(index), vocabulary);
      }
      return;
    case "map":
      for (const [key, item] of Object.entries(value as Record<string, unknown>)) {
        if (report.full) return;
        checkValue(type.value, item, report.key(key), vocabulary);
      }
      return;
    case "scalar":
  }
}

/** Lists and maps of scalars have nothing below them to check. */
function mayHoldRules(type: Type): boolean {
  if (type.shape === "list") return mayHoldRules(type.element);
  if (type.shape === "map") return mayHoldRules(type.value);
  return type.shape === "struct";
}

function checkOneOf(field: Field, given: unknown, report: FieldReport, vocabulary: Vocabulary): void {
  const allowed = field.facts.oneOf!.map((word) => spell(word, vocabulary));
  const values = Array.isArray(given) ? (given as unknown[]) : [given];
  for (const value of values) {
    if (!allowed.includes(value as string)) report.notSupported(value, allowed.toSorted());
  }
}

/** A word in the given vocabulary. */
export function spell(word: Word, vocabulary: Vocabulary): string {
  return typeof word === "string" ? word : word(vocabulary);
}
