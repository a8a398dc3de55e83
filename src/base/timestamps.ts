import type { Clock } from "./clock.ts";

/** Writes times as objects carry them: RFC 3339 in UTC with seconds. Most are the present, so the last second's text is kept. */
export class Timestamps {
  private second = Number.NaN;
  private text = "";

  constructor(private readonly clock: Clock) {}

  /** The present. */
  now(): string {
    return this.at(this.clock.now());
  }

  /** A time in milliseconds since 1970. */
  at(ms: number): string {
    const second = Math.floor(ms / 1000);
    if (second !== this.second) {
      this.text = `${new Date(ms).toISOString().slice(0, 19)}Z`;
      this.second = second;
    }
    return this.text;
  }
}
