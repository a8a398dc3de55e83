import { compare } from "../values/comparison.ts";
import { declareFunction, matching, traversal, type CelFunction } from "./function-table.ts";
import { formatText } from "../values/text-format.ts";
import { CelList, noOverload, Uint, type Value } from "../values/values.ts";
import { indexing } from "./texts.ts";

const quoteEscapes: Readonly<Record<string, string>> = {
  "\u0007": "\\a",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
  "\\": "\\\\",
  '"': '\\"',
};

/** Meter steps per quoted character. */
const stepsPerCharacter = 3;

/** Characters that may need an escape sequence. */
const quotable = /[\p{Cc}\\"]/gu;

/** String functions of later releases. */
export const laterTextFunctions: readonly (readonly [string, CelFunction])[] = [
  [
    "format",
    declareFunction(
      ["string.(list<dyn>) -> string"],
      ([text, args], meter) =>
        typeof text === "string" && args instanceof CelList ? formatText(text, args, meter) : noOverload,
      { cost: traversal, mixesTypes: true },
    ),
  ],
  [
    "strings.quote",
    declareFunction(
      ["(string) -> string"],
      ([text], meter) => {
        if (typeof text !== "string") return noOverload;
        meter.work(text.length * stepsPerCharacter);
        return `"${text.replaceAll(quotable, (character) => quoteEscapes[character] ?? character)}"`;
      },
      { cost: traversal },
    ),
  ],
];

/** `matches` as a function: `matches(a, b)`. */
export function globalMatches(member: CelFunction): readonly (readonly [string, CelFunction])[] {
  const signatures = ["string.(string) -> bool", "(string, string) -> bool"];
  return [["matches", declareFunction(signatures, member.run, { cost: matching, literal: member.literal! })]];
}

/** `indexOf` and `lastIndexOf`, which don't find anything beyond the end of a string instead of failing. */
export function lenientSearch(
  functions: ReadonlyMap<string, CelFunction>,
): readonly (readonly [string, CelFunction])[] {
  return ["indexOf", "lastIndexOf"].map((name) => {
    return [name, { ...functions.get(name)!, run: indexing(name === "lastIndexOf", true) }] as const;
  });
}

const numbers = ["int", "uint", "double"];
const mixedNumbers = numbers.flatMap((one) =>
  numbers.filter((other) => other !== one).map((other) => `(${one}, ${other}) -> bool`),
);

function isMixed([a, b]: readonly Value[]): boolean {
  return typeof a !== typeof b || a instanceof Uint !== b instanceof Uint;
}

function mixedComparison(name: string, holds: (order: number) => boolean): readonly [string, CelFunction] {
  const run = ([a, b]: readonly Value[]): Value => {
    const order = compare(a!, b!);
    return order === undefined ? noOverload : holds(order);
  };
  return [name, declareFunction(mixedNumbers, run, { accepts: isMixed })];
}

/** Comparisons of numbers of different types. */
export const mixedComparisons: readonly (readonly [string, CelFunction])[] = [
  mixedComparison("_<_", (order) => order < 0),
  mixedComparison("_<=_", (order) => order <= 0),
  mixedComparison("_>_", (order) => order > 0),
  mixedComparison("_>=_", (order) => order >= 0),
];
