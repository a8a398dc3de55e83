import { compareKeys } from "../../storage/keys.ts";

/** The most keys of one chunk. */
const chunkKeys = 256;

/** Which keys are wanted: those above `after`, and below `end`. */
export interface KeyRange {
  readonly after: string;
  readonly end: string;
}

/** Whether a key is in a range. */
export function isWithin(key: string, { after, end }: KeyRange): boolean {
  return compareKeys(after, key) < 0 && compareKeys(key, end) < 0;
}

/** A set of keys in the order of the store. It takes 8 to 16 bytes a key beside the text of the key itself. */
export class KeySet {
  size = 0;
  /** Of all keys together. */
  characters = 0;
  /** No key has a character above those in which the order of strings is that of keys, so that the engine's own comparison serves. */
  private plain = true;
  /** Neighbouring keys in order, none empty. */
  private readonly chunks: string[][] = [];

  /** Whether the key is new. */
  add(key: string): boolean {
    this.plain &&= !special.test(key);
    const last = this.chunks.at(-1);
    // Keys come in order while an index is built.
    if (last === undefined || this.isBelow(last.at(-1)!, key)) this.append(last, key);
    else if (!this.insert(key)) return false;
    this.size++;
    this.characters += key.length;
    return true;
  }

  /** Whether the key was in the set. */
  delete(key: string): boolean {
    const at = this.chunkOf(key);
    const chunk = this.chunks[at];
    if (chunk === undefined) return false;
    const place = this.firstNotBelow(chunk, key);
    if (chunk[place] !== key) return false;
    chunk.splice(place, 1);
    if (chunk.length === 0) this.chunks.splice(at, 1);
    this.size--;
    this.characters -= key.length;
    return true;
  }

  has(key: string): boolean {
    const chunk = this.chunks[this.chunkOf(key)];
    return chunk !== undefined && chunk[this.firstNotBelow(chunk, key)] === key;
  }

  /** Adds the keys of a range to an array, in order. */
  collect({ after, end }: KeyRange, into: string[]): void {
    for (let at = this.chunkOf(after); at < this.chunks.length; at++) {
      const chunk = this.chunks[at]!;
      if (compareKeys(chunk[0]!, end) >= 0) return;
      let from = this.firstNotBelow(chunk, after);
      if (chunk[from] === after) from++;
      const to = compareKeys(chunk.at(-1)!, end) < 0 ? chunk.length : this.firstNotBelow(chunk, end);
      for (let place = from; place < to; place++) into.push(chunk[place]!);
    }
  }

  private append(last: string[] | undefined, key: string): void {
    if (last !== undefined && last.length < chunkKeys) last.push(key);
    else this.chunks.push([key]);
  }

  private insert(key: string): boolean {
    const at = this.chunkOf(key);
    const chunk = this.chunks[at]!;
    const place = this.firstNotBelow(chunk, key);
    if (chunk[place] === key) return false;
    chunk.splice(place, 0, key);
    if (chunk.length > chunkKeys) this.chunks.splice(at + 1, 0, chunk.splice(chunkKeys >> 1));
    return true;
  }

  /** The last chunk that begins at or below a key; the first where none does. */
  private chunkOf(key: string): number {
    let low = 0;
    let high = this.chunks.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.isBelow(key, this.chunks[middle]![0]!)) high = middle;
      else low = middle + 1;
    }
    return Math.max(0, low - 1);
  }

  /** A key that is only looked for may have such characters in any set. */
  private isBelow(key: string, other: string): boolean {
    return this.plain ? key < other : compareKeys(key, other) < 0;
  }

  private firstNotBelow(keys: readonly string[], key: string): number {
    let low = 0;
    let high = keys.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.isBelow(keys[middle]!, key)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Characters from here on are ordered by UTF-8 in another way than by UTF-16. */
const special = /[\ud800-\uffff]/;
