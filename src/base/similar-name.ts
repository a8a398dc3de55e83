/** Texts that are longer are not compared. */
const maxLength = 64;

/**
 * Returns the candidate that a misspelled name most likely means; undefined if none is near. Case, `-` and `_` don't count; a third
 * of the characters may be wrong, missing, added or swapped with their neighbor.
 */
export function similarName(name: string, candidates: Iterable<string>): string | undefined {
  const wrong = normalized(name);
  if (wrong === "" || wrong.length > maxLength) return undefined;
  let best: string | undefined;
  let least = Math.floor(wrong.length / 3) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(wrong, normalized(candidate));
    if (distance >= least) continue;
    best = candidate;
    least = distance;
  }
  return best;
}

function normalized(name: string): string {
  return name.toLowerCase().replaceAll(/[-_]/g, "");
}

/** The number of edits that turn one text into another: insert, delete, replace, or swap two neighbors. */
function editDistance(one: string, other: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, length) => length);
  for (let i = 1; i <= one.length; i++) {
    const row = [i];
    for (let j = 1; j <= other.length; j++) {
      const replaced = last[j - 1]! + (one[i - 1] === other[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      const swapped = isSwap ? beforeLast[j - 2]! + 1 : Infinity;
      row.push(Math.min(replaced, swapped, last[j]! + 1, row[j - 1]! + 1));
    }
    [beforeLast, last] = [last, row];
  }
  return last[other.length]!;
}
