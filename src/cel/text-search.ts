import type { Meter } from "./meter.ts";

/** Texts of so many units at most are searched for by the engine's own functions, whose worst case is the product of the lengths. */
const shortNeedle = 8;

/** The searches for one text in another one. */
export interface TextSearchOptions {
  readonly text: string;
  /** What is searched for. */
  readonly needle: string;
  /** Whether the last place is searched for instead of the first one. */
  readonly last?: boolean;
}

/**
 * Finds a text in another one, in time that grows with the sum of both lengths and not with their product (Knuth, Morris and
 * Pratt). Places are counted in UTF-16 code units.
 */
export class TextSearch {
  private readonly text: string;
  private readonly needle: string;
  private readonly last: boolean;
  /** Of each beginning of the needle, how long its longest end is that is a beginning too; read from the back for the last place. */
  private readonly borders: Int32Array | undefined;

  /** @param meter counts the work of all searches that don't overlap. */
  constructor({ text, needle, last = false }: TextSearchOptions, meter: Meter) {
    this.text = text;
    this.needle = needle;
    this.last = last;
    const isShort = needle.length <= shortNeedle;
    meter.work(isShort ? text.length >> 2 : text.length + 2 * needle.length);
    if (!isShort && needle.length <= text.length) this.borders = bordersOf(needle, last);
  }

  /**
   * The place of the needle; -1 for none.
   *
   * @param from the first place that counts, or the last one where the last place is searched for.
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
