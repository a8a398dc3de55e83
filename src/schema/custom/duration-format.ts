import { parseDuration } from "../../base/time/duration.ts";

const second = 1_000_000_000n;

/** Units of the format `duration`: exact names, and a prefix, such as `min` for `minutes`. */
const units: readonly {
  readonly names: readonly string[];
  readonly prefix: string;
  readonly nanos: bigint;
}[] = [
  { names: ["ns"], prefix: "nano", nanos: 1n },
  { names: ["us", "µs"], prefix: "micro", nanos: 1_000n },
  { names: ["ms"], prefix: "milli", nanos: 1_000_000n },
  { names: ["s"], prefix: "sec", nanos: second },
  { names: ["m"], prefix: "min", nanos: 60n * second },
  { names: ["h", "hr"], prefix: "hour", nanos: 3_600n * second },
  { names: ["d"], prefix: "day", nanos: 86_400n * second },
  { names: ["w", "wk"], prefix: "week", nanos: 604_800n * second },
];

const number = /\d+/y;
const space = /[\t\n\f\r ]*/y;
const word = /[A-Za-zµ]+/y;
/** Maximum number of digits of a 64-bit integer. */
const maxDigits = 19;

/**
 * Parses a string of the format `duration`: a Go duration such as `1h30m`, or integers with units such as `2 weeks 3 days`. Numbers
 * without unit and other text are ignored.
 *
 * @returns nanoseconds, truncated to 64 bits; undefined if the string has no duration.
 */
export function parseDurationFormat(text: string): bigint | undefined {
  const plain = parseDuration(text);
  if (plain !== undefined) return plain;
  let total: bigint | undefined;
  for (let position = 0; position < text.length;) {
    const digits = matchAt(number, text, position);
    if (digits === undefined) {
      position++;
      continue;
    }
    position += digits.length;
    const gap = matchAt(space, text, position) ?? "";
    const name = matchAt(word, text, position + gap.length);
    if (name === undefined) continue;
    position += gap.length + name.length;
    const count = digits.replace(/^0+/, "");
    if (count.length > maxDigits) return undefined;
    const unit = unitOf(name.toLowerCase());
    if (unit !== undefined) total = (total ?? 0n) + BigInt(count === "" ? 0 : count) * unit;
  }
  return total === undefined ? undefined : BigInt.asIntN(64, total);
}

function unitOf(name: string): bigint | undefined {
  return units.find(({ names, prefix }) => names.includes(name) || name.startsWith(prefix))?.nanos;
}

function matchAt(expression: RegExp, text: string, at: number): string | undefined {
  expression.lastIndex = at;
  return expression.exec(text)?.[0];
}
