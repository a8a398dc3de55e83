import { parseDuration } from "./duration.ts";

/** Allowed range of a schedule's field, and names of values. */
interface Bounds {
  readonly min: number;
  readonly max: number;
  readonly names: ReadonlyMap<string, number>;
}

function bounds(min: number, max: number, names: readonly string[] = []): Bounds {
  return { min, max, names: new Map(names.map((name, index) => [name, min + index])) };
}

const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const weekdays = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/** Minute, hour, day of the month, month, day of the week. */
const fieldBounds: readonly Bounds[] = [
  bounds(0, 59),
  bounds(0, 23),
  bounds(1, 31),
  bounds(1, 12, months),
  bounds(0, 6, weekdays),
];

const descriptors = new Set([
  "@yearly",
  "@annually",
  "@monthly",
  "@weekly",
  "@daily",
  "@midnight",
  "@hourly",
]);

/**
 * Validates the schedule of a cron job: five fields with lists, ranges and steps, or a descriptor such as `@daily`, after an
 * optional `TZ=zone` or `CRON_TZ=zone`.
 *
 * @returns the error message; undefined for a valid schedule.
 */
export function scheduleFault(schedule: string): string | undefined {
  const zoned = /^(?:CRON_)?TZ=([^ ]*)( .*)?$/s.exec(schedule);
  if (zoned === null) return withoutZoneFault(schedule);
  const [, zone = "", rest] = zoned;
  if (rest === undefined) return "a schedule must follow the time zone";
  if (zone !== "" && zone !== "Local" && timeZoneFault(zone) !== undefined) {
    return `provided bad location ${zone}`;
  }
  return withoutZoneFault(rest.trim());
}

function withoutZoneFault(schedule: string): string | undefined {
  if (schedule.startsWith("@")) return descriptorFault(schedule);
  const fields = schedule.split(/\s+/).filter((field) => field !== "");
  if (fields.length !== fieldBounds.length) {
    return `expected exactly ${fieldBounds.length} fields, found ${fields.length}: ${JSON.stringify(schedule)}`;
  }
  for (const [index, field] of fields.entries()) {
    for (const part of field.split(",")) {
      const fault = part === "" ? undefined : rangeFault(part, fieldBounds[index]!);
      if (fault !== undefined) return `${fault}: ${part}`;
    }
  }
  return undefined;
}

function descriptorFault(text: string): string | undefined {
  if (descriptors.has(text)) return undefined;
  const every = "@every ";
  if (!text.startsWith(every)) return `unrecognized descriptor: ${text}`;
  return parseDuration(text.slice(every.length)) === undefined
    ? `failed to parse duration ${text}`
    : undefined;
}

/** Validates `*`, a value or a range, with an optional step after a slash. */
function rangeFault(text: string, { min, max, names }: Bounds): string | undefined {
  const [range = "", step, ...further] = text.split("/");
  if (further.length > 0) return "too many slashes";
  const [low = "", high, ...rest] = range.split("-");
  let start = min;
  let end = max;
  if (low !== "*" && low !== "?") {
    if (rest.length > 0) return "too many hyphens";
    start = numberOf(low, names);
    // A single value with a step is a range up to the maximum.
    end = high === undefined ? (step === undefined ? start : max) : numberOf(high, names);
  }
  if (Number.isNaN(start) || Number.isNaN(end)) return "failed to parse number";
  if (start < min) return `beginning of range (${start}) below minimum (${min})`;
  if (end > max) return `end of range (${end}) above maximum (${max})`;
  if (start > end) return `beginning of range (${start}) beyond end of range (${end})`;
  if (step === undefined) return undefined;
  const size = numberOf(step, new Map());
  if (Number.isNaN(size)) return "failed to parse number";
  return size === 0 ? "step of range should be a positive number" : undefined;
}

function numberOf(text: string, names: ReadonlyMap<string, number>): number {
  return names.get(text.toLowerCase()) ?? (/^\+?\d{1,15}$/.test(text) ? Number(text) : Number.NaN);
}

/** Returns the error message for an unknown time zone; undefined for a valid one. */
export function timeZoneFault(zone: string): string | undefined {
  const unknown = `unknown time zone ${zone}`;
  if (!/^[A-Za-z]/.test(zone)) return unknown;
  let canonicalName: string;
  try {
    canonicalName = new Intl.DateTimeFormat("en", { timeZone: zone }).resolvedOptions().timeZone;
  } catch {
    return unknown;
  }
  // Names are case-sensitive in the reference; Intl ignores case.
  const sameName = canonicalName.toLowerCase() === zone.toLowerCase();
  return sameName && canonicalName !== zone ? unknown : undefined;
}
