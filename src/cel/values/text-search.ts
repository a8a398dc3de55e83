import type { Meter } from "../costs/meter.ts";

/** Needles up to this length use `String.indexOf`, whose worst case is the product of the lengths. */
const shortNeedle = 8;

/** Options of a search. */
export interface TextSearchOptions {
  readonly text: string;
  /** The string to search for. */
  readonly needle: string;
  /** Whether to find the last occurrence instead of the first one. */
  readonly last?: boolean;
}

/**
 * Finds a string in another one, in time proportional to the sum of both lengths (Knuth, Morris and Pratt). Positions are in UTF-16
 * code units.
 */
export class TextSearch {
  private readonly text: string;
  private readonly needle: string;
  private readonly last: boolean;
  /** Length of the longest border (prefix that is also a suffix) of each prefix of the needle; reversed for the last occurrence. */
  private readonly borders: Int32Array | undefined;

  /** @param meter counts the work of all non-overlapping searches. */
  constructor({ text, needle, last = false }: TextSearchOptions, meter: Meter) {
    this.text = text;
    this.needle = needle;
    this.last = last;
    const isShort = needle.length <= shortNeedle;
    meter.work(isShort ? text.length >> 2 : text.length + 2 * needle.length);
    if (!isShort && needle.length <= text.length) this.borders = bordersOf(needle, last);
  }

  /**
   * Returns the position of the needle; -1 if it isn't found.
   *
   * @param from the first position of the search; for the last occurrence, the last position.
   */
  find(from: number): number {
    const { text, needle, borders } = this;
    if (needle.length > text.length) return -1;
    if (borders === undefined) return this.last ? text.lastIndexOf(needle, from) : text.indexOf(needle, from);
    return this.last ? this.backward(from, borders) : this.forward(from, borders);
  }

  private forward(from: number, borders: Int32Array): number {
    const { text, needle } = this;
    let matched = 0;
    for (let at = from; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      while (matched > 0 && needle.charCodeAt(matched) !== unit) matched = borders[matched - 1]!;
      if (needle.charCodeAt(matched) === unit) matched++;
      if (matched === needle.length) return at + 1 - matched;
    }
    return -1;
  }

  private backward(from: number, borders: Int32Array): number {
    const { text, needle } = this;
    const end = needle.length - 1;
    let matched = 0;
    for (let at = Math.min(from + end, text.length - 1); at >= 0; at--) {
      const unit = text.charCodeAt(at);
      while (matched > 0 && needle.charCodeAt(end - matched) !== unit) matched = borders[matched - 1]!;
      if (needle.charCodeAt(end - matched) === unit) matched++;
      if (matched === needle.length) return at;
    }
    return -1;
  }
}

function bordersOf(needle: string, reversed: boolean): Int32Array {
  const borders = new Int32Array(needle.length);
  const end = needle.length - 1;
  const unitAt = (at: number): number => needle.charCodeAt(reversed ? end - at : at);
  let matched = 0;
  for (let at = 1; at < needle.length; at++) {
    while (matched > 0 && unitAt(matched) !== unitAt(at)) matched = borders[matched - 1]!;
    if (unitAt(matched) === unitAt(at)) matched++;
    borders[at] = matched;
  }
  return borders;
}
