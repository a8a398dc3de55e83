import type { Dice } from "../../support/dice.ts";
import { cpuStopwatch } from "../../support/cpu-time.ts";

/** Two ranges of an input that are repeated: the first where it is, the second after it. Equal ranges are repeated once. */
export interface Repetition {
  readonly input: Buffer;
  readonly first: readonly [start: number, end: number];
  readonly second: readonly [start: number, end: number];
}

/** An input whose processor time grows faster than n log n. */
export interface FastGrowth {
  readonly repetition: Repetition;
  /** Lengths of the inputs, in bytes. */
  readonly bytes: readonly number[];
  /** Processor time for each length, in milliseconds. */
  readonly ms: readonly number[];
}

/** Times below are noise, in milliseconds. */
const smallMs = 12;
/** Eight times the input costs 8 times the time, or 10 times with n log n, and 64 times if the time is quadratic. */
const maxFactor = 24;
const lengths = [4096, 8192, 32_768] as const;
/** An attempt to measure again when the growth is too fast: the compiler or the garbage collector may have disturbed one. */
const maxAttempts = 4;

/** Chooses ranges of an input at random. */
export function randomRepetition(input: Buffer, dice: Dice): Repetition {
  const start = dice.below(input.length);
  const end = Math.min(input.length, start + 1 + dice.below(dice.chance(0.5) ? 4 : 40));
  const first = [start, end] as const;
  if (dice.chance(0.5)) return { input, first, second: first };
  const from = end + dice.below(input.length - end + 1);
  return { input, first, second: [from, Math.min(input.length, from + 1 + dice.below(8))] };
}

/** Repeats the ranges until the input has about the given length. */
function repeatTo({ input, first, second }: Repetition, length: number): Buffer {
  const [start, end] = first;
  const [from, to] = second;
  const isOne = first === second;
  const unit = end - start + (isOne ? 0 : to - from);
  const times = Math.max(1, Math.floor((length - input.length) / Math.max(1, unit)));
  const repeated = (part: Buffer) => (part.length === 0 ? part : Buffer.alloc(part.length * times, part));
  if (isOne) {
    return Buffer.concat([
      input.subarray(0, start),
      repeated(input.subarray(start, end)),
      input.subarray(end),
    ]);
  }
  return Buffer.concat([
    input.subarray(0, start),
    repeated(input.subarray(start, end)),
    input.subarray(end, from),
    repeated(input.subarray(from, to)),
    input.subarray(to),
  ]);
}

/**
 * Measures the processor time of a target over growing inputs.
 *
 * @param run runs the target; returns false if it failed, which ends the measurement.
 * @returns the measurement if the time grows too fast; undefined otherwise, or if the inputs are too fast to tell.
 */
export async function fastGrowthOf(
  run: (input: Buffer) => Promise<boolean>,
  repetition: Repetition,
): Promise<FastGrowth | undefined> {
  const inputs = lengths.map((length) => repeatTo(repetition, length));
  const best = lengths.map(() => Number.POSITIVE_INFINITY);
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    // The largest input first: if it is fast, nothing else is to be measured.
    for (let index = lengths.length - 1; index >= 0; index--) {
      const stopwatch = cpuStopwatch();
      if (!(await run(inputs[index]!))) return undefined;
      best[index] = Math.min(best[index]!, stopwatch());
      if (index === lengths.length - 1 && best[index]! < smallMs) return undefined;
    }
    if (best.at(-1)! <= maxFactor * Math.max(best[0]!, smallMs / maxFactor)) return undefined;
  }
  return { repetition, bytes: inputs.map(({ length }) => length), ms: best };
}
