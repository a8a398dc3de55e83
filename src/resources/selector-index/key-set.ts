import { compareKeys } from "../../storage/keys.ts";

/** Maximum number of keys in a chunk. */
const chunkKeys = 256;

/** A range of keys; both bounds are exclusive. */
export interface KeyRange {
  readonly after: string;
  readonly end: string;
}

/** Whether a key is in a range. */
export function isWithin(key: string, { after, end }: KeyRange): boolean {
  return compareKeys(after, key) < 0 && compareKeys(key, end) < 0;
}

/** A sorted set of keys. It takes 8 to 16 bytes for each key in addition to the text of the key. */
export class KeySet {
  size = 0;
  /** Number of characters of all keys. */
  characters = 0;
  /** Whether no key has characters that JavaScript's string comparison orders differently than the store ({@link special}). */
  private plain = true;
  /** Sorted keys, in sorted chunks that are not empty. */
  private readonly chunks: string[][] = [];

  /** Adds a key; false if it is in the set. */
  add(key: string): boolean {
    this.plain &&= !special.test(key);
    const last = this.chunks.at(-1);
    // Building an index adds the keys in order.
    if (last === undefined || this.isBelow(last.at(-1)!, key)) this.append(last, key);
    else if (!this.insert(key)) return false;
    this.size++;
    this.characters += key.length;
    return true;
  }

  /** Removes a key; false if it isn't in the set. */
  delete(key: string): boolean {
    const at = this.chunkOf(key);
    const chunk = this.chunks[at];
    if (chunk === undefined) return false;
    const index = this.firstNotBelow(chunk, key);
    if (chunk[index] !== key) return false;
    chunk.splice(index, 1);
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
      for (let index = from; index < to; index++) into.push(chunk[index]!);
    }
  }

  private append(last: string[] | undefined, key: string): void {
    if (last !== undefined && last.length < chunkKeys) last.push(key);
    else this.chunks.push([key]);
  }

  private insert(key: string): boolean {
    const at = this.chunkOf(key);
    const chunk = this.chunks[at]!;
    const index = this.firstNotBelow(chunk, key);
    if (chunk[index] === key) return false;
    chunk.splice(index, 0, key);
    if (chunk.length > chunkKeys) this.chunks.splice(at + 1, 0, chunk.splice(chunkKeys >> 1));
    return true;
  }

  /** Index of the last chunk that begins at or below a key; 0 if there is none. */
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

  /** Whether a key sorts before another. In a plain set the comparison of JavaScript is right even if the searched key has special characters. */
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

/** Characters whose order differs between UTF-8 and UTF-16. */
const special = /[\ud800-\uffff]/;
