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
  /** Neighbouring keys in order, none empty. */
  private readonly chunks: string[][] = [];

  /** Whether the key is new. */
  add(key: string): boolean {
    const last = this.chunks.at(-1);
    // Keys come in order while an index is built.
    if (last === undefined || compareKeys(last.at(-1)!, key) < 0) this.append(last, key);
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
    const place = firstNotBelow(chunk, key);
    if (chunk[place] !== key) return false;
    chunk.splice(place, 1);
    if (chunk.length === 0) this.chunks.splice(at, 1);
    this.size--;
    this.characters -= key.length;
    return true;
  }

  has(key: string): boolean {
    const chunk = this.chunks[this.chunkOf(key)];
    return chunk !== undefined && chunk[firstNotBelow(chunk, key)] === key;
  }

  /** Adds the keys of a range to an array, in order. */
  collect({ after, end }: KeyRange, into: string[]): void {
    for (let at = this.chunkOf(after); at < this.chunks.length; at++) {
      const chunk = this.chunks[at]!;
      if (compareKeys(chunk[0]!, end) >= 0) return;
      let from = firstNotBelow(chunk, after);
      if (chunk[from] === after) from++;
      const to = compareKeys(chunk.at(-1)!, end) < 0 ? chunk.length : firstNotBelow(chunk, end);
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
    const place = firstNotBelow(chunk, key);
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
      if (compareKeys(this.chunks[middle]![0]!, key) <= 0) low = middle + 1;
      else high = middle;
    }
    return Math.max(0, low - 1);
  }
}

function firstNotBelow(keys: readonly string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compareKeys(keys[middle]!, key) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
