import { parseDurationInDays } from "../../base/time/duration.ts";
import { parseTime } from "../../base/time/timestamps.ts";

const nanosInMs = 1_000_000n;

/**
 * Returns the time of a text such as `2026-11-24T10:00:00Z`, or `30m` for half an hour ago; undefined for other texts.
 *
 * @param now milliseconds since 1970.
 */
export function timeNamed(text: string, now: number): string | undefined {
  const ago = parseDurationInDays(text);
  if (ago !== undefined && ago >= 0n) return new Date(now - Number(ago / nanosInMs)).toISOString();
  return parseTime(text) === undefined ? undefined : text;
}
