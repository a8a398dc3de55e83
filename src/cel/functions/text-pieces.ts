import { ValueList } from "../collections.ts";
import type { Run } from "../function-table.ts";
import type { Meter } from "../meter.ts";
import { TextSearch } from "../text-search.ts";
import { CelList, Fault, noOverload } from "../values.ts";

/** The longest text that an expression may make, in UTF-16 code units. */
const maxLength = 64 * 1024 * 1024;
/** Steps for cutting one piece off a text, as the meter counts them. */
const stepsPerPiece = 6;

const tooLong = new Fault("the text is too long");

/** `replace`: puts a text in the place of another one, everywhere or at the first places. */
export const replace: Run = ([text, old, by, limit], meter) => {
  if (typeof text !== "string" || typeof old !== "string" || typeof by !== "string") return noOverload;
  if (limit !== undefined && typeof limit !== "bigint") return noOverload;
  const places = limit === undefined || limit < 0n ? Infinity : Number(limit);
  if (old === "") return replaceBetween(text, by, places, meter);
  const pieces = piecesOf(text, old, places + 1, meter);
  const length = text.length + (pieces.length - 1) * (by.length - old.length);
  if (length > maxLength) return tooLong;
  meter.work(length >> 2);
  return pieces.join(by);
};

/** Puts a text before the first characters of another one, and behind the last if there are places left. */
function replaceBetween(text: string, by: string, places: number, meter: Meter): string | Fault {
  meter.work(text.length >> 2);
  const pieces: string[] = [];
  let rest = 0;
  for (const character of text) {
    if (pieces.length >= places) break;
    meter.work(stepsPerPiece);
    rest += character.length;
    pieces.push(character);
  }
  const isWhole = rest === text.length && pieces.length < places;
  const length = text.length + (pieces.length + (isWhole ? 1 : 0)) * by.length;
  if (length > maxLength) return tooLong;
  meter.work(length >> 2);
  if (pieces.length === 0) return isWhole ? by : text;
  return by + pieces.join(by) + (isWhole ? by : "") + text.slice(rest);
}

/** `split`: the pieces of a text between separators, at most as many as the limit says. */
export const split: Run = ([text, separator, limit], meter) => {
  if (typeof text !== "string" || typeof separator !== "string") return noOverload;
  if (limit !== undefined && typeof limit !== "bigint") return noOverload;
  const most = limit === undefined || limit < 0n ? Infinity : Number(limit);
  if (most === 0) return new ValueList([]);
  return new ValueList(
    separator === "" ? charactersOf(text, most, meter) : piecesOf(text, separator, most, meter),
  );
};

/** The first characters of a text, and the rest of it in one piece. */
function charactersOf(text: string, most: number, meter: Meter): string[] {
  const pieces: string[] = [];
  let rest = 0;
  for (const character of text) {
    if (pieces.length === most - 1) break;
    meter.work(stepsPerPiece);
    rest += character.length;
    pieces.push(character);
  }
  if (rest < text.length) pieces.push(text.slice(rest));
  return pieces;
}

/** The pieces of a text between the places of another one. The last one has the rest where there would be too many. */
function piecesOf(text: string, separator: string, most: number, meter: Meter): string[] {
  const search = new TextSearch({ text, needle: separator }, meter);
  const pieces: string[] = [];
  let rest = 0;
  while (pieces.length < most - 1) {
    const at = search.find(rest);
    if (at < 0) break;
    meter.work(stepsPerPiece);
    pieces.push(text.slice(rest, at));
    rest = at + separator.length;
  }
  pieces.push(text.slice(rest));
  return pieces;
}

/** `join`: the texts of a list behind each other, with a separator between them. */
export const join: Run = ([list, separator], meter) => {
  if (!(list instanceof CelList) || (separator !== undefined && typeof separator !== "string")) {
    return noOverload;
  }
  const between = separator ?? "";
  const pieces: string[] = [];
  let length = 0;
  for (let at = 0; at < list.size; at++) {
    const piece = list.get(at);
    if (typeof piece !== "string") return piece instanceof Fault ? piece : noOverload;
    meter.work(stepsPerPiece);
    length += piece.length + (at === 0 ? 0 : between.length);
    if (length > maxLength) return tooLong;
    pieces.push(piece);
  }
  meter.charge(Math.ceil(length * 0.2));
  return pieces.join(between);
};
