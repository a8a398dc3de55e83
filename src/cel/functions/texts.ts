import { declareFunction, traversal, type CelFunction, type Run } from "./function-table.ts";
import { chargeTraversal, type Meter } from "../costs/meter.ts";
import { CelList, characterCount, Fault, noOverload, type Value } from "../values/values.ts";
import { TextSearch } from "../values/text-search.ts";
import { indexInList } from "./lists.ts";
import { join, replace, split } from "./text-pieces.ts";

type OfTexts = (text: string, other: string, meter: Meter) => Value;

/** Adapts a function of two strings. */
function ofTwo(run: OfTexts): Run {
  return ([text, other], meter) =>
    typeof text === "string" && typeof other === "string" ? run(text, other, meter) : noOverload;
}

/** Adapts a function of one string. */
function ofOne(run: (text: string) => Value): Run {
  return ([text]) => (typeof text === "string" ? run(text) : noOverload);
}

const surrogate = /[\ud800-\udfff]/;

/** Returns the characters of a string for access by index; the string itself if it has no surrogates. */
function charactersOf(text: string, meter: Meter): string | readonly string[] {
  meter.work(text.length >> 4);
  if (!surrogate.test(text)) return text;
  meter.work(text.length * 4);
  return [...text];
}

function outOfRange(index: Value): Fault {
  return new Fault(`index out of range: ${typeof index === "bigint" ? index : "?"}`);
}

const charAt: Run = ([text, index], meter) => {
  if (typeof text !== "string" || typeof index !== "bigint") return noOverload;
  const characters = charactersOf(text, meter);
  if (index < 0n || index > characters.length) return outOfRange(index);
  return characters[Number(index)] ?? "";
};

function part(characters: string | readonly string[], from: number, to: number): string {
  return typeof characters === "string" ? characters.slice(from, to) : characters.slice(from, to).join("");
}

const substring: Run = ([text, from, to], meter) => {
  if (typeof text !== "string" || typeof from !== "bigint") return noOverload;
  if (to !== undefined && typeof to !== "bigint") return noOverload;
  const characters = charactersOf(text, meter);
  const end = to ?? BigInt(characters.length);
  if (from < 0n || from > characters.length) return outOfRange(from);
  if (end < 0n || end > characters.length) return outOfRange(end);
  if (from > end) return new Fault(`invalid substring range. start: ${from}, end: ${end}`);
  return part(characters, Number(from), Number(end));
};

/** Converts a position in UTF-16 code units to characters. */
function toCharacterIndex(text: string, unit: number, meter: Meter): bigint {
  if (unit < 0) return -1n;
  meter.work(unit >> 2);
  return BigInt(characterCount(text.slice(0, unit)));
}

/** Converts a character index to a position in UTF-16 code units. */
function unitOf(characters: string | readonly string[], index: number): number {
  if (typeof characters === "string") return index;
  let unit = 0;
  for (let at = 0; at < index; at++) unit += characters[at]!.length;
  return unit;
}

/**
 * `indexOf` and `lastIndexOf` of strings and lists.
 *
 * @param isLenient whether nothing is found beyond the end of a string; otherwise that is a fault.
 */
export function indexing(last: boolean, isLenient = false): Run {
  return (args, meter) => {
    const [text, target, offset] = args;
    if (text instanceof CelList)
      return args.length === 2 ? indexInList(text, target!, last, meter) : noOverload;
    if (typeof text !== "string" || typeof target !== "string") return noOverload;
    if (offset !== undefined && typeof offset !== "bigint") return noOverload;
    const characters = charactersOf(text, meter);
    // The empty string is found at the requested position.
    if (target === "") {
      const size = BigInt(characters.length);
      const at = offset ?? (last ? size : 0n);
      return isLenient && at > size ? size : isLenient && at < 0n ? outOfRange(at) : at;
    }
    const start = offset ?? BigInt(last ? characters.length - 1 : 0);
    if (isLenient && (start >= characters.length || characters.length === 0)) return -1n;
    if (start < 0n || start >= characters.length) return outOfRange(start);
    const from = unitOf(characters, Number(start));
    const search = new TextSearch({ text, needle: target, last }, meter);
    return toCharacterIndex(text, search.find(from), meter);
  };
}

/** White space as in Go's `strings.TrimSpace`. */
const spaces: ReadonlySet<number> = new Set(
  Array.from(
    "\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000",
    (space) => space.charCodeAt(0),
  ),
);

function trimmed(text: string): string {
  let start = 0;
  while (start < text.length && spaces.has(text.charCodeAt(start))) start++;
  let end = text.length;
  while (end > start && spaces.has(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

/** Converts ASCII letters of one case to the other. */
function inCase(first: "A" | "a"): (text: string) => string {
  const from = first.charCodeAt(0);
  return (text) => {
    const units = Buffer.from(text, "utf16le");
    for (let at = 0; at < units.length; at += 2) {
      const letter = units[at]! - from;
      if (letter >= 0 && letter < 26 && units[at + 1] === 0) units[at]! ^= 0x20;
    }
    return units.toString("utf16le");
  };
}

const oneTraversal: Pick<CelFunction, "cost"> = {
  cost: traversal,
};
const twoTraversals = { cost: (size: number) => Math.ceil(size * 0.2) };
/** A search traverses the string or the list once. */
const looking: Pick<CelFunction, "charge"> = {
  charge: ([within], meter) => chargeTraversal(within!, meter),
};

const byArgument: Pick<CelFunction, "cost"> = { cost: (_, argument) => traversal(argument) };

/** `startsWith` and `endsWith` with the cost of the argument instead of the text, as in later releases. */
export const affixFunctions: readonly (readonly [string, CelFunction])[] = [
  [
    "startsWith",
    declareFunction(
      ["string.(string) -> bool"],
      ofTwo((text, other) => text.startsWith(other)),
      byArgument,
    ),
  ],
  [
    "endsWith",
    declareFunction(
      ["string.(string) -> bool"],
      ofTwo((text, other) => text.endsWith(other)),
      byArgument,
    ),
  ],
];

/** String functions of the standard and of the extension library. */
export const textFunctions: readonly (readonly [string, CelFunction])[] = [
  [
    "contains",
    declareFunction(
      ["string.(string) -> bool"],
      ofTwo((text, needle, meter) => new TextSearch({ text, needle }, meter).find(0) >= 0),
      {
        cost: (text, other) => traversal(text) * traversal(other),
      },
    ),
  ],
  [
    "startsWith",
    declareFunction(
      ["string.(string) -> bool"],
      ofTwo((text, other) => text.startsWith(other)),
      { cost: traversal },
    ),
  ],
  [
    "endsWith",
    declareFunction(
      ["string.(string) -> bool"],
      ofTwo((text, other) => text.endsWith(other)),
      { cost: traversal },
    ),
  ],
  ["charAt", declareFunction(["string.(int) -> string"], charAt)],
  [
    "indexOf",
    declareFunction(
      ["string.(string) -> int", "string.(string, int) -> int", "list<A>.(A) -> int"],
      indexing(false),
      looking,
    ),
  ],
  [
    "lastIndexOf",
    declareFunction(
      ["string.(string) -> int", "string.(string, int) -> int", "list<A>.(A) -> int"],
      indexing(true),
      looking,
    ),
  ],
  ["lowerAscii", declareFunction(["string.() -> string"], ofOne(inCase("A")), oneTraversal)],
  ["upperAscii", declareFunction(["string.() -> string"], ofOne(inCase("a")), oneTraversal)],
  ["trim", declareFunction(["string.() -> string"], ofOne(trimmed), oneTraversal)],
  [
    "substring",
    declareFunction(["string.(int) -> string", "string.(int, int) -> string"], substring, oneTraversal),
  ],
  [
    "replace",
    declareFunction(
      ["string.(string, string) -> string", "string.(string, string, int) -> string"],
      replace,
      {
        ...twoTraversals,
      },
    ),
  ],
  [
    "split",
    declareFunction(["string.(string) -> list<string>", "string.(string, int) -> list<string>"], split, {
      ...twoTraversals,
    }),
  ],
  [
    "join",
    declareFunction(["list<string>.() -> string", "list<string>.(string) -> string"], join, {
      charge: () => undefined,
    }),
  ],
];
