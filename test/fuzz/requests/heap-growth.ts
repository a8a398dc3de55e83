/** Windows at the begin in which caches fill. */
const warmUpWindows = 4;
/** Largest allowed growth from the first to the last third of the windows: caches have limits, and the code of more paths is compiled. */
export const maxHeapGrowth = 0.25;

/**
 * Returns the relative growth of the median of the last third of measurements over that of the first third, after a warm-up; 0 if there are
 * too few.
 */
export function heapGrowth(heapBytes: readonly number[]): number {
  const measured = heapBytes.slice(warmUpWindows);
  const third = Math.floor(measured.length / 3);
  if (third < 2) return 0;
  return median(measured.slice(-third)) / median(measured.slice(0, third)) - 1;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!;
}
