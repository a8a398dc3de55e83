/** Largest number of attempts; an attempt runs the target once. */
const maxAttempts = 2000;

/**
 * Reduces a failing input by delta debugging: removes ever smaller ranges as long as it still fails, then replaces bytes by simple ones.
 *
 * @param fails whether an input still fails in the same way.
 * @returns an input that fails and is not longer.
 */
export async function minimize(
  input: Buffer,
  fails: (candidate: Buffer) => Promise<boolean>,
): Promise<Buffer> {
  let best = input;
  let attempts = 0;
  const accepts = async (candidate: Buffer): Promise<boolean> => {
    if (++attempts > maxAttempts || !(await fails(candidate))) return false;
    best = candidate;
    return true;
  };
  for (let width = Math.ceil(best.length / 2); width >= 1; width = width === 1 ? 0 : Math.ceil(width / 2)) {
    for (let start = 0; start < best.length && attempts < maxAttempts;) {
      const shorter = Buffer.concat([best.subarray(0, start), best.subarray(start + width)]);
      if (!(await accepts(shorter))) start += width;
    }
  }
  for (let at = 0; at < best.length && attempts < maxAttempts; at++) {
    for (const simple of ["a", "0", " "]) {
      if (best[at] === simple.charCodeAt(0)) break;
      const changed = Buffer.from(best);
      changed.write(simple, at, "latin1");
      if (await accepts(changed)) break;
    }
  }
  return best;
}
