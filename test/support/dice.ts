/** Random choices that a seed repeats. */
export class Dice {
  constructor(private state: number) {}

  /** A number from 0 up to, not including, 1. */
  next(): number {
    // Mulberry32.
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  below(count: number): number {
    return Math.floor(this.next() * count);
  }

  chance(part: number): boolean {
    return this.next() < part;
  }

  /** Returns independent choices that depend on this one's. */
  split(): Dice {
    return new Dice(this.below(2 ** 31));
  }

  pick<T>(from: readonly T[]): T {
    return from[this.below(from.length)]!;
  }
}
