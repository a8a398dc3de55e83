import { parseDuration } from "../../base/time/duration.ts";
import { RecentMap } from "../../base/collections/recent-map.ts";
import { Duration, Fault, Timestamp, type Value } from "./values.ts";

const perSecond = 1_000_000_000n;
const perMs = 1_000_000n;
/** Years 1 to 9999. */
const minTime = -62_135_596_800n * perSecond;
const maxTime = 253_402_300_800n * perSecond - 1n;
const maxDuration = 2n ** 63n - 1n;

/** Parses an RFC 3339 time; undefined if it is malformed. */
export function parseTimestamp(text: string): Timestamp | undefined {
  // As in Go, the hour may have one digit.
  if (text.length > 64) return undefined;
  if (text[12] === ":") return parseTimestamp(`${text.slice(0, 11)}0${text.slice(11)}`);
  if (text[4] !== "-" || text[7] !== "-" || text[10] !== "T" || text[13] !== ":" || text[16] !== ":") {
    return undefined;
  }
  const day = dayNumber(digits(text, 0, 4), digits(text, 5, 7), digits(text, 8, 10));
  const [hour, minute, second] = [digits(text, 11, 13), digits(text, 14, 16), digits(text, 17, 19)];
  if (day === undefined || !(hour < 24 && minute < 60 && second < 60)) return undefined;
  const fractionEnd = text[19] === "." || text[19] === "," ? endOfDigits(text, 20) : 19;
  if (fractionEnd === 20) return undefined;
  const zone = text.slice(fractionEnd);
  const offset = zone === "Z" ? 0 : parseOffset(zone);
  if (offset === undefined) return undefined;
  const seconds = ((day * 24 + hour) * 60 + minute - offset) * 60 + second;
  const fraction = fractionEnd === 19 ? 0n : BigInt(text.slice(20, Math.min(fractionEnd, 29)).padEnd(9, "0"));
  const checked = checkedTime(BigInt(seconds) * perSecond + fraction, offset);
  return checked instanceof Timestamp ? checked : undefined;
}

/** Parses a range of digits; NaN for other characters. */
function digits(text: string, from: number, to: number): number {
  let value = 0;
  for (let at = from; at < to; at++) {
    const digit = text.charCodeAt(at) - 48;
    if (!(digit >= 0 && digit <= 9)) return Number.NaN;
    value = value * 10 + digit;
  }
  return value;
}

function endOfDigits(text: string, from: number): number {
  let at = from;
  while (at < text.length && !Number.isNaN(digits(text, at, at + 1))) at++;
  return at;
}

/** Returns the days since 1970-01-01; undefined for an invalid date. */
function dayNumber(year: number, month: number, day: number): number | undefined {
  if (!(month >= 1 && month <= 12 && day >= 1)) return undefined;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCDate() === day ? date.getTime() / 86_400_000 : undefined;
}

/** Parses a date (`2023-01-31`) as midnight UTC; undefined if it is malformed. */
export function parseDate(text: string): Timestamp | undefined {
  return /^\d{4}-\d\d-\d\d$/.test(text) ? parseTimestamp(`${text}T00:00:00Z`) : undefined;
}

export function parseCelDuration(text: string): Duration | undefined {
  const nanos = parseDuration(text);
  return nanos === undefined ? undefined : new Duration(nanos);
}

/** Creates a timestamp; a fault if it is out of range. @param offset offset of the time zone from UTC, in minutes. */
export function checkedTime(nanos: bigint, offset = 0): Value {
  return nanos < minTime || nanos > maxTime ? new Fault("timestamp overflow") : new Timestamp(nanos, offset);
}

export function checkedDuration(nanos: bigint): Value {
  return nanos > maxDuration || nanos < -maxDuration - 1n
    ? new Fault("duration overflow")
    : new Duration(nanos);
}

/** Formats a time as RFC 3339 in its time zone, without trailing zeros in the fraction. */
export function timestampText({ nanos, offset }: Timestamp): string {
  const seconds = floorDivide(nanos, perSecond);
  // The local time may be in the year 10000.
  const text = new Date((Number(seconds) + offset * 60) * 1000)
    .toISOString()
    .slice(0, -5)
    .replace(/^\+0/, "");
  const rest = nanos - seconds * perSecond;
  return `${text}${fractionText(rest)}${offset === 0 ? "Z" : offsetText(offset)}`;
}

function offsetText(offset: number): string {
  const minutes = Math.abs(offset);
  const [hour, minute] = [Math.floor(minutes / 60), minutes % 60].map((part) =>
    String(part).padStart(2, "0"),
  );
  return `${offset < 0 ? "-" : "+"}${hour}:${minute}`;
}

/** Formats a duration in seconds. */
export function durationText({ nanos }: Duration): string {
  const size = nanos < 0n ? -nanos : nanos;
  const rest = size % perSecond;
  return `${nanos < 0n ? "-" : ""}${size / perSecond}${fractionText(rest)}s`;
}

/** Formats the nanoseconds of a second as a fraction without trailing zeros; empty for 0. */
function fractionText(nanos: bigint): string {
  if (nanos === 0n) return "";
  const digits = nanos.toString().padStart(9, "0");
  let end = digits.length;
  while (digits[end - 1] === "0") end--;
  return `.${digits.slice(0, end)}`;
}

export type TimePart =
  | "getFullYear"
  | "getMonth"
  | "getDayOfYear"
  | "getDayOfMonth"
  | "getDate"
  | "getDayOfWeek"
  | "getHours"
  | "getMinutes"
  | "getSeconds"
  | "getMilliseconds";

/** Returns a component of a time in a time zone (`America/New_York`, `-08:00`); the default is UTC. */
export function timePart({ nanos }: Timestamp, part: TimePart, zone: string | undefined): Value {
  const ms = Number(floorDivide(nanos, perMs));
  const offset = zone === undefined ? 0 : zoneOffsetMs(zone, ms);
  if (offset === undefined) return new Fault(`unknown time zone ${zone!.slice(0, 64)}`);
  const date = new Date(ms + offset);
  return BigInt(partOf(date, part));
}

function partOf(date: Date, part: TimePart): number {
  switch (part) {
    case "getFullYear":
      return date.getUTCFullYear();
    case "getMonth":
      return date.getUTCMonth();
    case "getDayOfYear": {
      const first = new Date(0);
      first.setUTCFullYear(date.getUTCFullYear(), 0, 1);
      return Math.floor((date.getTime() - first.getTime()) / 86_400_000);
    }
    case "getDayOfMonth":
      return date.getUTCDate() - 1;
    case "getDate":
      return date.getUTCDate();
    case "getDayOfWeek":
      return date.getUTCDay();
    case "getHours":
      return date.getUTCHours();
    case "getMinutes":
      return date.getUTCMinutes();
    case "getSeconds":
      return date.getUTCSeconds();
    case "getMilliseconds":
      return date.getUTCMilliseconds();
  }
}

/** Parses an RFC 3339 offset (`+01:30`) to minutes; as in Go, up to 24 hours and 60 minutes. */
function parseOffset(zone: string): number | undefined {
  const match = /^([+-])(\d\d):(\d\d)$/.exec(zone);
  if (match === null) return undefined;
  const [hours, minutes] = [Number(match[2]), Number(match[3])];
  if (hours > 24 || minutes > 60) return undefined;
  return (match[1] === "-" ? -1 : 1) * (hours * 60 + minutes);
}

/** Parses a time zone of the form `-8:30` to minutes. */
function zoneOffset(zone: string): number | undefined {
  const match = /^([+-]?\d{1,4}):([+-]?\d{1,4})$/.exec(zone);
  if (match === null) return undefined;
  const [hours, minutes] = [Number(match[1]), Number(match[2])];
  return zone.startsWith("-") ? hours * 60 - minutes : hours * 60 + minutes;
}

/** Cache of formats: creating one takes about 50 microseconds. */
const formats = new RecentMap<Intl.DateTimeFormat>({ entries: 32, cost: 0 });

function zoneOffsetMs(zone: string, ms: number): number | undefined {
  if (zone === "") return 0;
  const minutes = zoneOffset(zone);
  if (minutes !== undefined) return minutes * 60_000;
  const format = formatOf(zone);
  if (format === undefined) return undefined;
  const parts = Object.fromEntries(format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]));
  const local = new Date(0);
  local.setUTCFullYear(parts["year"]!, parts["month"]! - 1, parts["day"]);
  local.setUTCHours(parts["hour"]!, parts["minute"], parts["second"], 0);
  return local.getTime() - Math.floor(ms / 1000) * 1000;
}

function formatOf(zone: string): Intl.DateTimeFormat | undefined {
  const cached = formats.get(zone);
  if (cached !== undefined) return cached;
  if (!/^[A-Za-z][\w+\-/]{0,63}$/.test(zone)) return undefined;
  try {
    const numeric = "numeric";
    const format = new Intl.DateTimeFormat("en-US", {
      timeZone: zone,
      calendar: "gregory",
      hourCycle: "h23",
      year: numeric,
      month: numeric,
      day: numeric,
      hour: numeric,
      minute: numeric,
      second: numeric,
    });
    // Only canonical names of time zones are accepted.
    const { timeZone } = format.resolvedOptions();
    if (timeZone !== zone && timeZone.toLowerCase() === zone.toLowerCase()) return undefined;
    formats.set(zone, format);
    return format;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function floorDivide(value: bigint, by: bigint): bigint {
  const quotient = value / by;
  return value % by < 0n ? quotient - 1n : quotient;
}
