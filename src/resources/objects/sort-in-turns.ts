import type { YieldIfDue } from "../../base/turns/yielding.ts";

/** Number of items that are sorted at once, in about a millisecond. */
const runLength = 2048;
/** Number of items that are merged between two looks at the time. */
const mergeStep = 1024;

/** Sorts items; other work runs in between. Returns a new list; equal items keep their order. */
export async function sortInTurns<T>(
  items: readonly T[],
  compare: (a: T, b: T) => number,
  yieldIfDue: YieldIfDue,
): Promise<T[]> {
  let runs: T[][] = [];
  for (let from = 0; from < items.length; from += runLength) {
    runs.push(items.slice(from, from + runLength).toSorted(compare));
    await yieldIfDue();
  }
  while (runs.length > 1) {
    const merged: T[][] = [];
    for (let index = 0; index < runs.length; index += 2) {
      const other = runs[index + 1];
      merged.push(
        other === undefined ? runs[index]! : await mergeRuns(runs[index]!, other, compare, yieldIfDue),
      );
    }
    runs = merged;
  }
  return runs[0] ?? [];
}

async function mergeRuns<T>(
  one: readonly T[],
  other: readonly T[],
  compare: (a: T, b: T) => number,
  yieldIfDue: YieldIfDue,
): Promise<T[]> {
  const merged: T[] = [];
  let [a, b] = [0, 0];
  while (a < one.length || b < other.length) {
    const isFirst = b === other.length || (a < one.length && compare(one[a]!, other[b]!) <= 0);
    merged.push(isFirst ? one[a++]! : other[b++]!);
    if (merged.length % mergeStep === 0) await yieldIfDue();
  }
  return merged;
}
