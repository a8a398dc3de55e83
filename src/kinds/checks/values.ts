import { deepEqual, type JsonValue } from "../../base/json/value.ts";
import type { KindContext } from "../../schema/context.ts";
import type { FieldReport } from "../../schema/faults.ts";

/** Asks a rule of every item of a list; stops when more faults would no longer be told. */
export function each<T>(
  rule: (item: T, place: FieldReport, context: KindContext) => void,
): (items: readonly T[], place: FieldReport, context: KindContext) => void {
  return (items, place, context) => {
    for (const [index, item] of items.entries()) {
      if (place.full) return;
      rule(item, place.at(index), context);
    }
  };
}

/** Every item's key stands only once. */
export function uniqueBy<T>(
  keyOf: (item: T) => unknown,
  member?: string,
): (items: readonly T[], place: FieldReport) => void {
  return (items, place) => {
    const seen = new Set<unknown>();
    for (const [index, item] of items.entries()) {
      if (place.full) return;
      const key = keyOf(item);
      if (key === undefined || key === "") continue;
      if (seen.has(key)) (member === undefined ? place.at(index) : place.at(index, member)).duplicate(key);
      seen.add(key);
    }
  };
}

/** Whether two values of an object are the same, whatever the order of their keys. */
export function same(a: unknown, b: unknown): boolean {
  return deepEqual(a as JsonValue, b as JsonValue);
}

/** Refuses a change of what can't be changed. */
export function unchanged(now: unknown, live: unknown, place: FieldReport): void {
  if (!same(now, live)) place.invalid(now, "field is immutable");
}

/** At least one item. */
export function notEmpty(items: readonly unknown[], place: FieldReport): void {
  if (items.length === 0) place.required();
}
