import { declared, traversal, type CelFunction, type Run } from "../function-table.ts";
import { chargeTraversal, type Meter } from "../meter.ts";
import { CelList, characterCount, Fault, noOverload, type Value } from "../values.ts";
import { TextSearch } from "../text-search.ts";
import { indexInList } from "./lists.ts";
import { join, replace, split } from "./text-pieces.ts";

type OfTexts = (text: string, other: string, meter: Meter) => Value;

/** A function of a text and another one, each going through the first. */
function ofTwo(run: OfTexts): Run {
  return ([text, other], meter) =>
    typeof text === "string" && typeof other === "string" ? run(text, other, meter) : noOverload;
}

/** A function of one text. */
function ofOne(run: (text: string) => Value): Run {
  return ([text]) => (typeof text === "string" ? run(text) : noOverload);
}

const surrogate = /[\ud800-\udfff]/;

/** The characters of a text by their number; the text itself where each is one code unit. */
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

/** The place of a text in another, counted in characters. */
function place(text: string, unit: number, meter: Meter): bigint {
  if (unit < 0) return -1n;
  meter.work(unit >> 2);
  return BigInt(characterCount(text.slice(0, unit)));
}

/** The code unit at which a character begins. */
function unitOf(characters: string | readonly string[], index: number): number {
  if (typeof characters === "string") return index;
  let unit = 0;
  for (let at = 0; at < index; at++) unit += characters[at]!.length;
  return unit;
}

function indexing(last: boolean): Run {
  return (args, meter) => {
    const [text, wanted, offset] = args;
    if (text instanceof CelList)
      return args.length === 2 ? indexInList(text, wanted!, last, meter) : noOverload;
    if (typeof text !== "string" || typeof wanted !== "string") return noOverload;
    if (offset !== undefined && typeof offset !== "bigint") return noOverload;
    const characters = charactersOf(text, meter);
    // Nothing is found anywhere, so the place that was asked for is the answer, whatever it is.
    if (wanted === "") return offset ?? BigInt(last ? characters.length : 0);
    const start = offset ?? BigInt(last ? characters.length - 1 : 0);
    if (start < 0n || start >= characters.length) return outOfRange(start);
    const from = unitOf(characters, Number(start));
    const search = new TextSearch({ text, needle: wanted, last }, meter);
    return place(text, search.find(from), meter);
  };
}

/** Spaces as Go's `strings.TrimSpace` has them. */
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

/** Moves the letters of one case of ASCII to the other one. */
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
/** Looking for something goes through the text, or the list, once. */
const looking: Pick<CelFunction, "charge"> = {
  charge: ([within], meter) => chargeTraversal(within!, meter),
};

/** Functions of texts: the standard ones, and those of the extension library. */
export const textFunctions: readonly (readonly [string, CelFunction])[] = [
  [
    "contains",
    declared(
      ["string.(string) -> bool"],
      ofTwo((text, needle, meter) => new TextSearch({ text, needle }, meter).find(0) >= 0),
      {
        cost: (text, other) => traversal(text) * traversal(other),
      },
    ),
  ],
  [
    "startsWith",
    declared(
      ["string.(string) -> bool"],
      ofTwo((text, other) => text.startsWith(other)),
      { cost: traversal },
    ),
  ],
  [
    "endsWith",
    declared(
      ["string.(string) -> bool"],
      ofTwo((text, other) => text.endsWith(other)),
      { cost: traversal },
    ),
  ],
  ["charAt", declared(["string.(int) -> string"], charAt)],
  [
    "indexOf",
    declared(
      ["string.(string) -> int", "string.(string, int) -> int", "list<A>.(A) -> int"],
      indexing(false),
      looking,
    ),
  ],
  [
    "lastIndexOf",
    declared(
      ["string.(string) -> int", "string.(string, int) -> int", "list<A>.(A) -> int"],
      indexing(true),
      looking,
    ),
  ],
  ["lowerAscii", declared(["string.() -> string"], ofOne(inCase("A")), oneTraversal)],
  ["upperAscii", declared(["string.() -> string"], ofOne(inCase("a")), oneTraversal)],
  ["trim", declared(["string.() -> string"], ofOne(trimmed), oneTraversal)],
  ["substring", declared(["string.(int) -> string", "string.(int, int) -> string"], substring, oneTraversal)],
  [
    "replace",
    declared(["string.(string, string) -> string", "string.(string, string, int) -> string"], replace, {
      ...twoTraversals,
    }),
  ],
  [
    "split",
    declared(["string.(string) -> list<string>", "string.(string, int) -> list<string>"], split, {
      ...twoTraversals,
    }),
  ],
  [
    "join",
    declared(["list<string>.() -> string", "list<string>.(string) -> string"], join, {
      charge: () => undefined,
    }),
  ],
];
