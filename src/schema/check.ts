import type { Vocabulary } from "../vocabulary/vocabulary.ts";
import type { JsonObject } from "../base/json/value.ts";
import { checkValue as checkOpenValue } from "./custom/check.ts";
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
  for (const { name, field, deep, checksEmpty } of plansOf(type)) {
    const given = value[name];
    if (given === undefined || given === null || (given === "" && !checksEmpty)) {
      if (field.facts.mustBeGiven) report.at(name).requiredUnlessSaid();
      continue;
    }
    if (!deep && field.facts.oneOf === undefined && field.facts.check === undefined) continue;
    const place = report.at(name);
    if (field.facts.check !== undefined) (field.facts.check as FieldCheck<unknown>)(given, place, context);
    if (field.facts.unchecked) continue;
    if (field.facts.oneOf !== undefined) checkOneOf(field, given, place, context.vocabulary);
    if (deep) checkValue(field.type, given, place, context);
  }
  type.rules.check?.(value, report, context);
  if (type.open !== undefined) checkOpenValue(type.open, value as JsonObject, report);
}

/** Checks what is below a value of a type that has rules. */
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
      if (form !== undefined && holdsRules(form.type)) checkValue(form.type, value, report, context);
      return;
    }
    case "scalar":
  }
}

/** A field about which something is to be checked. */
interface CheckedField {
  readonly name: string;
  readonly field: Field;
  /** Whether there are rules at or below its type. */
  readonly deep: boolean;
  /** Whether an empty text is checked as others are. */
  readonly checksEmpty: boolean;
}

const plans = new WeakMap<StructType, readonly CheckedField[]>();

/** The fields of a struct about which something is to be checked, in their order. */
function plansOf(type: StructType): readonly CheckedField[] {
  let found = plans.get(type);
  if (found === undefined) {
    found = Object.entries(type.fields)
      .map(([name, field]) => {
        const { checkedWhenEmpty, nullable, oneOf } = field.facts;
        // A text in the place of a number is meant as one, however short.
        const maybeNumber = field.type.shape === "scalar" && field.type.name === "intOrString";
        const checksEmpty = checkedWhenEmpty ?? ((nullable && oneOf !== undefined) || maybeNumber);
        return { name, field, deep: holdsRules(field.type), checksEmpty };
      })
      .filter(({ field, deep }) => deep || demands(field));
    plans.set(type, found);
  }
  return found;
}

function demands({ facts }: Field): boolean {
  return facts.mustBeGiven || facts.oneOf !== undefined || facts.check !== undefined;
}

const ruled = new WeakMap<Type, boolean>();

/** Whether anything at or below a type has rules; searched once a type. */
function holdsRules(type: Type): boolean {
  if (type.shape === "scalar") return false;
  let found = ruled.get(type);
  if (found === undefined) ruled.set(type, (found = search(type, new Set())));
  return found;
}

function search(type: Type, visited: Set<Type>): boolean {
  if (type.shape === "scalar" || visited.has(type)) return false;
  visited.add(type);
  switch (type.shape) {
    case "list":
      return search(type.element, visited);
    case "map":
      return search(type.value, visited);
    case "union":
      return Object.values(type.forms).some((form) => search(form.type, visited));
    case "struct":
      if (type.rules.check !== undefined || type.open !== undefined) return true;
      return Object.values(type.fields).some((field) => demands(field) || search(field.type, visited));
  }
}

function checkOneOf({ facts }: Field, given: unknown, report: FieldReport, vocabulary: Vocabulary): void {
  const words = facts.oneOf!;
  const values = Array.isArray(given) ? (given as unknown[]) : [given];
  for (const value of values) {
    if (report.full) return;
    if (words.some((word) => spell(word, vocabulary) === value)) continue;
    report.notSupported(value, words.map((word) => spell(word, vocabulary)).toSorted());
  }
}

/** A word in the given vocabulary. */
export function spell(word: Word, vocabulary: Vocabulary): string {
  return typeof word === "string" ? word : word(vocabulary);
}
