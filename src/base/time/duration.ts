/** Nanoseconds of each unit. */
const unitNanos: ReadonlyMap<string, bigint> = new Map([
  ["ns", 1n],
  ["us", 1000n],
  ["µs", 1000n],
  ["μs", 1000n],
  ["ms", 1_000_000n],
  ["s", 1_000_000_000n],
  ["m", 60_000_000_000n],
  ["h", 3_600_000_000_000n],
]);

const maxNanos = 2n ** 63n - 1n;
const part = /(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/y;

/**
 * Parses a duration as Go's `time.ParseDuration`: numbers with units (`1h30m`, `1.5s`, `-10ms`), or `0`.
 *
 * @returns nanoseconds; undefined for invalid text and for values beyond 64 bits.
 */
export function parseDuration(text: string): bigint | undefined {
  const negative = text.startsWith("-");
  const rest = negative || text.startsWith("+") ? text.slice(1) : text;
  if (rest === "0") return 0n;
  if (rest === "" || rest.length > 128) return undefined;
  let total = 0n;
  part.lastIndex = 0;
  while (part.lastIndex < rest.length) {
    const match = part.exec(rest);
    if (match === null) return undefined;
    const [, whole = "", fraction = "", unit = ""] = match;
    if (whole === "" && fraction === "") return undefined;
    const nanos = unitNanos.get(unit)!;
    total += BigInt(whole === "" ? 0 : whole) * nanos;
    if (fraction !== "") total += (BigInt(fraction) * nanos) / 10n ** BigInt(fraction.length);
  }
  if (total > maxNanos) return undefined;
  return negative ? -total : total;
}

/** As {@link parseDuration}, but it may begin with a whole number of days: `30d`, `1d12h`. */
export function parseDurationInDays(text: string): bigint | undefined {
  const [, days, rest] = /^(\d{1,6})d(.*)$/s.exec(text) ?? [];
  if (days === undefined) return parseDuration(text);
  const part = rest === "" ? 0n : /^\d/.test(rest!) ? parseDuration(rest!) : undefined;
  const total = part === undefined ? undefined : BigInt(days) * 24n * unitNanos.get("h")! + part;
  return total === undefined || total > maxNanos ? undefined : total;
}

/** Formats a duration as Go does: `1h30m0s`, `1.5s`, `10ms`, `0s`. */
export function formatDuration(nanos: bigint): string {
  if (nanos === 0n) return "0s";
  const sign = nanos < 0n ? "-" : "";
  const size = nanos < 0n ? -nanos : nanos;
  if (size < 1000n) return `${sign}${size}ns`;
  if (size < 1_000_000n) return `${sign}${decimal(size, 3)}µs`;
  if (size < 1_000_000_000n) return `${sign}${decimal(size, 6)}ms`;
  const minutes = size / 60_000_000_000n;
  const seconds = `${decimal(size % 60_000_000_000n, 9)}s`;
  if (minutes === 0n) return sign + seconds;
  const hours = minutes / 60n;
  return hours === 0n ? `${sign}${minutes}m${seconds}` : `${sign}${hours}h${minutes % 60n}m${seconds}`;
}

/** Formats `value / 10^places` without trailing zeros. */
function decimal(value: bigint, places: number): string {
  const digits = value.toString().padStart(places + 1, "0");
  let end = digits.length;
  while (end > digits.length - places && digits[end - 1] === "0") end--;
  const fraction = digits.slice(digits.length - places, end);
  const whole = digits.slice(0, -places);
  return fraction === "" ? whole : `${whole}.${fraction}`;
}
