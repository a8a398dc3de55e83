import { parseDuration } from "../../base/duration.ts";

const second = 1_000_000_000n;

/** Units of the format `duration`: names that stand for one as they are, and one that it may begin with, as `min` of `minutes`. */
const units: readonly {
  readonly names: readonly string[];
  readonly start: string;
  readonly nanos: bigint;
}[] = [
  { names: ["ns"], start: "nano", nanos: 1n },
  { names: ["us", "µs"], start: "micro", nanos: 1_000n },
  { names: ["ms"], start: "milli", nanos: 1_000_000n },
  { names: ["s"], start: "sec", nanos: second },
  { names: ["m"], start: "min", nanos: 60n * second },
  { names: ["h", "hr"], start: "hour", nanos: 3_600n * second },
  { names: ["d"], start: "day", nanos: 86_400n * second },
  { names: ["w", "wk"], start: "week", nanos: 604_800n * second },
];

const number = /\d+/y;
const space = /[\t\n\f\r ]*/y;
const word = /[A-Za-zµ]+/y;
/** Digits that 64 bits hold. */
const maxDigits = 19;

/**
 * Reads text of the format `duration`: a length of time with units as in `1h30m`, or whole numbers with units in words (`2 weeks 3 days`),
 * of which those without a unit, and whatever is between them, don't count.
 *
 * @returns nanoseconds, in 64 bits; undefined for text in which there is no length of time.
 */
export function durationOfFormat(text: string): bigint | undefined {
  const plain = parseDuration(text);
  if (plain !== undefined) return plain;
  let total: bigint | undefined;
  for (let at = 0; at < text.length;) {
    const digits = matchAt(number, text, at);
    if (digits === undefined) {
      at++;
      continue;
    }
    at += digits.length;
    const gap = matchAt(space, text, at) ?? "";
    const name = matchAt(word, text, at + gap.length);
    if (name === undefined) continue;
    at += gap.length + name.length;
    const count = digits.replace(/^0+/, "");
    if (count.length > maxDigits) return undefined;
    const unit = unitOf(name.toLowerCase());
    if (unit !== undefined) total = (total ?? 0n) + BigInt(count === "" ? 0 : count) * unit;
  }
  return total === undefined ? undefined : BigInt.asIntN(64, total);
}

function unitOf(name: string): bigint | undefined {
  return units.find(({ names, start }) => names.includes(name) || name.startsWith(start))?.nanos;
}

function matchAt(expression: RegExp, text: string, at: number): string | undefined {
  expression.lastIndex = at;
  return expression.exec(text)?.[0];
}
