import type { FieldReport } from "../../schema/faults.ts";

/** Returns a check for a list of at most `max` unique and valid texts. */
export function uniqueSet(
  items: readonly string[],
  max: number,
  rule: (item: string, place: FieldReport) => void,
  place: FieldReport,
): void {
  const seen = new Set<string>();
  for (const [index, item] of items.entries()) {
    if (place.full) return;
    rule(item, place.at(index));
    if (seen.has(item)) place.at(index).duplicate(item);
    seen.add(item);
  }
  if (items.length > max) place.tooMany(items.length, max);
}
