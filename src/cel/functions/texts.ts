import { ValueList } from "../collections.ts";
import { declared, traversal, type CelFunction, type Run } from "../function-table.ts";
import { chargeTraversal, type Meter } from "../meter.ts";
import { CelList, characterCount, Fault, noOverload, type Value } from "../values.ts";
import { indexInList } from "./lists.ts";

/** The longest text that an expression may make, in UTF-16 code units. */
const maxLength = 64 * 1024 * 1024;

type OfTexts = (text: string, other: string) => Value;

/** A function of a text and another one, each going through the first. */
function ofTwo(run: OfTexts): Run {
  return ([text, other]) =>
    typeof text === "string" && typeof other === "string" ? run(text, other) : noOverload;
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
function place(text: string, unit: number): bigint {
  if (unit < 0) return -1n;
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
    const characters = charactersOf(text, meter);
    meter.work(text.length >> 2);
    if (offset !== undefined) {
      if (typeof offset !== "bigint") return noOverload;
      if (offset < 0n || offset > characters.length) return outOfRange(offset);
    }
    if (last) {
      const from = offset === undefined ? text.length : unitOf(characters, Number(offset));
      return place(text, text.lastIndexOf(wanted, from));
    }
    const from = offset === undefined ? 0 : unitOf(characters, Number(offset));
    return place(text, text.indexOf(wanted, from));
  };
}

const replace: Run = ([text, old, by, limit], meter) => {
  if (typeof text !== "string" || typeof old !== "string" || typeof by !== "string") return noOverload;
  if (limit !== undefined && typeof limit !== "bigint") return noOverload;
  const most = limit === undefined || limit < 0n ? Infinity : Number(limit);
  // One more piece than there are places, and never more pieces than characters.
  const pieces = old === "" ? ["", ...text, ""] : text.split(old);
  const places = Math.min(pieces.length - 1, most);
  const length = text.length + places * (by.length - old.length);
  if (length > maxLength) return new Fault("the text is too long");
  meter.work((length + pieces.length) >> 2);
  if (places === pieces.length - 1 && old !== "") return pieces.join(by);
  const rest = pieces.slice(places).join(old);
  if (old !== "") return [...pieces.slice(0, places), rest].join(by);
  return replacedBetween(text, by, places);
};

/** Puts a text between the first characters of another one, before the first of them and behind the last. */
function replacedBetween(text: string, by: string, places: number): string {
  const characters = [...text];
  const head = characters.slice(0, places);
  const whole = head.map((character) => by + character).join("") + characters.slice(places).join("");
  return places > characters.length ? whole + by : whole;
}

const split: Run = ([text, separator, limit], meter) => {
  if (typeof text !== "string" || typeof separator !== "string") return noOverload;
  if (limit !== undefined && typeof limit !== "bigint") return noOverload;
  const most = limit === undefined || limit < 0n ? Infinity : Number(limit);
  if (most === 0) return new ValueList([]);
  meter.work(text.length);
  const pieces = separator === "" ? [...text] : text.split(separator);
  if (pieces.length <= most) return new ValueList(pieces);
  return new ValueList([...pieces.slice(0, most - 1), pieces.slice(most - 1).join(separator)]);
};

const join: Run = ([list, separator], meter) => {
  if (!(list instanceof CelList) || (separator !== undefined && typeof separator !== "string"))
    return noOverload;
  const between = separator ?? "";
  const pieces: string[] = [];
  let length = 0;
  for (let at = 0; at < list.size; at++) {
    const piece = list.get(at);
    if (typeof piece !== "string") return piece instanceof Fault ? piece : noOverload;
    meter.work(1);
    length += piece.length + (at === 0 ? 0 : between.length);
    if (length > maxLength) return new Fault("the text is too long");
    pieces.push(piece);
  }
  meter.charge(Math.ceil(length * 0.2));
  return pieces.join(between);
};

/** Spaces as Go's `strings.TrimSpace` knows them. */
const outerSpace = /^[\t\n\v\f\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/;
const spaces = "\t\n\v\f\r \u0085\u00a0\u1680\u2028\u2029\u202f\u205f\u3000";

function trimmed(text: string): string {
  let end = text.length;
  while (end > 0 && isSpace(text[end - 1]!)) end--;
  return text.slice(0, end).replace(outerSpace, "");
}

function isSpace(character: string): boolean {
  return spaces.includes(character) || (character >= "\u2000" && character <= "\u200a");
}

const oneTraversal: Pick<CelFunction, "cost" | "resultSize"> = {
  cost: traversal,
  resultSize: (size) => size,
};
const twoTraversals = { cost: (size: number) => Math.ceil(size * 0.2) };
/** Looking for something goes through the text, or the list, once. */
const looking: Pick<CelFunction, "charge" | "goesThrough"> = {
  charge: ([within], meter) => chargeTraversal(within!, meter),
  goesThrough: true,
};

/** Functions of texts: the standard ones, and those of the extension library. */
export const textFunctions: readonly (readonly [string, CelFunction])[] = [
  [
    "contains",
    declared(
      ["string.(string) -> bool"],
      ofTwo((text, other) => text.includes(other)),
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
  ["charAt", declared(["string.(int) -> string"], charAt, { resultSize: () => 1 })],
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
  [
    "lowerAscii",
    declared(
      ["string.() -> string"],
      ofOne((text) => text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase())),
      oneTraversal,
    ),
  ],
  [
    "upperAscii",
    declared(
      ["string.() -> string"],
      ofOne((text) => text.replaceAll(/[a-z]+/g, (letters) => letters.toUpperCase())),
      oneTraversal,
    ),
  ],
  ["trim", declared(["string.() -> string"], ofOne(trimmed), oneTraversal)],
  ["substring", declared(["string.(int) -> string", "string.(int, int) -> string"], substring, oneTraversal)],
  [
    "replace",
    declared(["string.(string, string) -> string", "string.(string, string, int) -> string"], replace, {
      ...twoTraversals,
      resultSize: (size) => size * 2,
    }),
  ],
  [
    "split",
    declared(["string.(string) -> list<string>", "string.(string, int) -> list<string>"], split, {
      ...twoTraversals,
      resultSize: (size) => size,
    }),
  ],
  [
    "join",
    declared(["list<string>.() -> string", "list<string>.(string) -> string"], join, {
      charge: () => undefined,
      cost: twoTraversals.cost,
    }),
  ],
];
