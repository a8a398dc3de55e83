import { ValueList } from "../values/collections.ts";
import type { Run } from "./function-table.ts";
import type { Meter } from "../costs/meter.ts";
import { TextSearch } from "../values/text-search.ts";
import { CelList, Fault, noOverload } from "../values/values.ts";

/** Maximum length of a string that an expression creates, in UTF-16 code units. */
const maxLength = 64 * 1024 * 1024;
/** Meter steps per piece. */
const stepsPerPiece = 6;

const tooLong = new Fault("the string is too long");

/** `replace`: replaces all occurrences, or the first ones up to a limit. */
export const replace: Run = ([text, old, by, limit], meter) => {
  if (typeof text !== "string" || typeof old !== "string" || typeof by !== "string") return noOverload;
  if (limit !== undefined && typeof limit !== "bigint") return noOverload;
  const maxCount = limit === undefined || limit < 0n ? Infinity : Number(limit);
  if (old === "") return replaceBetween(text, by, maxCount, meter);
  const pieces = piecesOf(text, old, maxCount + 1, meter);
  const length = text.length + (pieces.length - 1) * (by.length - old.length);
  if (length > maxLength) return tooLong;
  meter.work(length >> 2);
  return pieces.join(by);
};

/** `replace` of the empty string: inserts `by` before each character and at the end, up to a limit. */
function replaceBetween(text: string, by: string, limit: number, meter: Meter): string | Fault {
  meter.work(text.length >> 2);
  const pieces: string[] = [];
  let rest = 0;
  for (const character of text) {
    if (pieces.length >= limit) break;
    meter.work(stepsPerPiece);
    rest += character.length;
    pieces.push(character);
  }
  const isWhole = rest === text.length && pieces.length < limit;
  const length = text.length + (pieces.length + (isWhole ? 1 : 0)) * by.length;
  if (length > maxLength) return tooLong;
  meter.work(length >> 2);
  if (pieces.length === 0) return isWhole ? by : text;
  return by + pieces.join(by) + (isWhole ? by : "") + text.slice(rest);
}

/** `split`: splits a string at separators into at most `limit` pieces. */
export const split: Run = ([text, separator, limit], meter) => {
  if (typeof text !== "string" || typeof separator !== "string") return noOverload;
  if (limit !== undefined && typeof limit !== "bigint") return noOverload;
  const maxPieces = limit === undefined || limit < 0n ? Infinity : Number(limit);
  if (maxPieces === 0) return new ValueList([]);
  return new ValueList(
    separator === "" ? charactersOf(text, maxPieces, meter) : piecesOf(text, separator, maxPieces, meter),
  );
};

/** Splits a string into characters; the last piece is the rest. */
function charactersOf(text: string, maxPieces: number, meter: Meter): string[] {
  const pieces: string[] = [];
  let rest = 0;
  for (const character of text) {
    if (pieces.length === maxPieces - 1) break;
    meter.work(stepsPerPiece);
    rest += character.length;
    pieces.push(character);
  }
  if (rest < text.length) pieces.push(text.slice(rest));
  return pieces;
}

/** Splits a string at a separator; the last piece is the rest. */
function piecesOf(text: string, separator: string, maxPieces: number, meter: Meter): string[] {
  const search = new TextSearch({ text, needle: separator }, meter);
  const pieces: string[] = [];
  let rest = 0;
  while (pieces.length < maxPieces - 1) {
    const at = search.find(rest);
    if (at < 0) break;
    meter.work(stepsPerPiece);
    pieces.push(text.slice(rest, at));
    rest = at + separator.length;
  }
  pieces.push(text.slice(rest));
  return pieces;
}

/** `join`: concatenates the strings of a list with a separator. */
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
