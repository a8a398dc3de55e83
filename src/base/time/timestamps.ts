import type { Clock } from "./clock.ts";

/** Formats times as in objects: RFC 3339 in UTC with seconds. Caches the text of the last second, as most times are the current one. */
export class Timestamps {
  private second = Number.NaN;
  private text = "";

  constructor(private readonly clock: Clock) {}

  /** Formats the current time. */
  now(): string {
    return this.at(this.clock.now());
  }

  /** Formats a time in milliseconds since 1970. */
  at(ms: number): string {
    const second = Math.floor(ms / 1000);
    if (second !== this.second) {
      this.text = `${new Date(ms).toISOString().slice(0, 19)}Z`;
      this.second = second;
    }
    return this.text;
  }
}

const timeForm = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;

/** Parses an RFC 3339 time; returns milliseconds since 1970, or undefined for any other text. */
export function parseTime(input: string): number | undefined {
  if (!timeForm.test(input) || !isOnCalendar(input)) return undefined;
  const timeMs = Date.parse(input.toUpperCase());
  return Number.isNaN(timeMs) ? undefined : timeMs;
}

/** Whether the date and time of a text in RFC 3339 form exist; false for 30 February and 24:00. */
export function isOnCalendar(input: string): boolean {
  const local = `${input.slice(0, 10)}T${input.slice(11, 19)}`;
  const timeMs = Date.parse(`${local}Z`);
  return !Number.isNaN(timeMs) && new Date(timeMs).toISOString().slice(0, 19) === local;
}
