/** Random choices that are the same for the same seed. Not for secrets. */
export class SeededRandom {
  private state: number;

  /** @param seed any text or number. */
  constructor(seed: string | number) {
    this.state = hashOf(String(seed));
  }

  /** Returns a number of at least 0 and less than 1. */
  fraction(): number {
    // Mulberry32.
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Returns an integer of at least 0 and less than `limit`. */
  below(limit: number): number {
    return Math.floor(this.fraction() * limit);
  }

  /** Returns true with a probability from 0 to 1. */
  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  /** Returns one item of a list that isn't empty. */
  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!;
  }
}

/** Hashes a text to 32 bits (FNV-1a, with the finalizer of MurmurHash3 so that similar texts have different hashes). */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
