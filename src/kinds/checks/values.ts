import { deepEqual, type JsonValue } from "../../base/json/value.ts";
import type { KindContext } from "../../schema/context.ts";
import type { FieldReport } from "../../schema/faults.ts";

/** Checks every item of a list; stops when further faults would not be reported. */
export function each<T>(
  rule: (item: T, report: FieldReport, context: KindContext) => void,
): (items: readonly T[], report: FieldReport, context: KindContext) => void {
  return (items, report, context) => {
    for (const [index, item] of items.entries()) {
      if (report.full) return;
      rule(item, report.at(index), context);
    }
  };
}

/** Returns a check that no two items of a list have the same key. */
export function uniqueBy<T>(
  keyOf: (item: T) => unknown,
  member?: string,
): (items: readonly T[], report: FieldReport) => void {
  return (items, report) => {
    const seen = new Set<unknown>();
    for (const [index, item] of items.entries()) {
      if (report.full) return;
      const key = keyOf(item);
      if (key === undefined || key === "") continue;
      if (seen.has(key)) (member === undefined ? report.at(index) : report.at(index, member)).duplicate(key);
      seen.add(key);
    }
  };
}

/** Returns true if two values are equal, regardless of the order of keys. */
export function same(a: unknown, b: unknown): boolean {
  return deepEqual(a as JsonValue, b as JsonValue);
}

/** Reports a change of an immutable value. */
export function unchanged(now: unknown, live: unknown, report: FieldReport): void {
  if (!same(now, live)) report.invalid(now, "field is immutable");
}

/** Requires at least one item. */
export function notEmpty(items: readonly unknown[], report: FieldReport): void {
  if (items.length === 0) report.required();
}
