import type { FieldReport } from "../../../schema/faults.ts";

/** Checks the items of a list that is not too long. */
export function limitedList<T>(
  items: readonly T[] | undefined,
  max: number,
  report: FieldReport,
  rule: (item: T, report: FieldReport) => void,
): void {
  if (items === undefined) return;
  if (items.length > max) return report.tooMany(items.length, max);
  for (const [index, item] of items.entries()) {
    if (report.full) return;
    rule(item, report.at(index));
  }
}

/** As {@link limitedList}; the items must have different keys. */
export function limitedSet<T>(
  items: readonly T[] | undefined,
  max: number,
  report: FieldReport,
  keyOf: (item: T) => string,
  rule: (item: T, report: FieldReport) => void,
): void {
  const seen = new Set<string>();
  limitedList(items, max, report, (item, itemReport) => {
    rule(item, itemReport);
    const key = keyOf(item);
    if (seen.has(key)) itemReport.duplicate(key);
    seen.add(key);
  });
}
