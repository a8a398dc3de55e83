import type { FieldReport } from "../../schema/faults.ts";

/** Returns a check for a list of at most `max` unique and valid texts. */
export function uniqueSet(
  items: readonly string[],
  max: number,
  rule: (item: string, report: FieldReport) => void,
  report: FieldReport,
): void {
  const seen = new Set<string>();
  for (const [index, item] of items.entries()) {
    if (report.full) return;
    rule(item, report.at(index));
    if (seen.has(item)) report.at(index).duplicate(item);
    seen.add(item);
  }
  if (items.length > max) report.tooMany(items.length, max);
}
