/** Amounts of resources by their names, such as `cpu` or `requests.cpu`. */
export type Amounts = ReadonlyMap<string, Quantity>;

const noAmounts: Amounts = new Map();

/** Parses amounts. @throws QuantityFault */
export function parseAmounts(texts: Readonly<Record<string, string>> | undefined): Amounts {
  if (texts === undefined) return noAmounts;
  return new Map(Object.entries(texts).map(([name, text]) => [name, parseQuantity(text)]));
}

/** Adds the amounts of `from` to `into`. */
export function addAmounts(into: Map<string, Quantity>, from: Amounts): void {
  for (const [name, amount] of from) {
    const before = into.get(name);
    into.set(name, before === undefined ? amount : addQuantities(before, amount));
  }
}

/** Raises the amounts of `into` to those of `from` if these are larger. */
export function raiseAmounts(into: Map<string, Quantity>, from: Amounts): void {
  for (const [name, amount] of from) {
    const before = into.get(name);
    if (before === undefined || compareQuantities(amount, before) > 0) into.set(name, amount);
  }
}

/** Format of a quantity, which the canonical text keeps: `1500m`, `2Gi` or `12e6`. */
export type QuantityFormat = "DecimalSI" | "BinarySI" | "DecimalExponent";

/** A fixed-point number with a precision of 10^-9 (`resource.Quantity`). */
export interface Quantity {
  /** The value times 10^9. */
  readonly nanos: bigint;
  readonly format: QuantityFormat;
}

/** Invalid text for a quantity. */
export class QuantityFault extends Error {
  override name = "QuantityFault";
  constructor(text: string) {
    const shown = text.length > 64 ? `${text.slice(0, 64)}…` : text;
    super(`${JSON.stringify(shown)} is not a quantity; it must match '${pattern}'`);
  }
}

const pattern = "^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$";
const form =
  /^([+-]?)(?=\.?[0-9])([0-9]*)(?:\.([0-9]*))?(?:([KMGTPE]i)|([numkMGTPE]?)|[eE]([+-]?[0-9]{1,18}))$/;
/** Maximum length of a quantity's text; it bounds the time for parsing. */
const maxLength = 512;

const nano = 10n ** 9n;
/** Numbers beyond 64 bits are clamped, as in the reference. */
const maxNanos = (2n ** 63n - 1n) * nano;

/** Powers of ten of the decimal suffixes. */
export const decimalExponents: ReadonlyMap<string, number> = new Map([
  ["n", -9],
  ["u", -6],
  ["m", -3],
  ["", 0],
  ["k", 3],
  ["M", 6],
  ["G", 9],
  ["T", 12],
  ["P", 15],
  ["E", 18],
]);
const decimalSuffixes = new Map([...decimalExponents].map(([suffix, exponent]) => [exponent, suffix]));
const binarySuffixes = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/**
 * Parses a quantity: a decimal number with a binary suffix (`Ki` to `Ei`), a decimal suffix (`n` to `E`), or an exponent (`e3`).
 * Fractions smaller than 10^-9 are rounded away from zero; values beyond 64 bits are clamped.
 * @throws QuantityFault
 */
export function parseQuantity(text: string): Quantity {
  const match = text.length <= maxLength ? form.exec(text) : null;
  if (match === null) throw new QuantityFault(text);
  const [, sign, whole, fraction = "", binary, decimal, exponent] = match;
  const digits = BigInt(whole! + fraction);
  const negative = sign === "-";
  if (binary !== undefined) {
    const magnitude = scale(digits << BigInt(10 * binarySuffixes.indexOf(binary)), 9 - fraction.length);
    return { nanos: signed(magnitude, negative), format: "BinarySI" };
  }
  const power = exponent === undefined ? decimalExponents.get(decimal!)! : Number(exponent);
  const magnitude = scale(digits, power + 9 - fraction.length);
  return {
    nanos: signed(magnitude, negative),
    format: exponent === undefined ? "DecimalSI" : "DecimalExponent",
  };
}

const powersOfTen = Array.from({ length: 31 }, (_, power) => 10n ** BigInt(power));

/** Returns `digits * 10^power` in units of 10^-9, rounded up and clamped. */
function scale(digits: bigint, power: number): bigint {
  if (digits === 0n) return 0n;
  // With other powers the result is the maximum or rounds to the minimum, because `digits` is below 10^512.
  if (power >= powersOfTen.length) return maxNanos;
  if (power < -2 * maxLength) return 1n;
  const scaled = power >= 0 ? digits * powersOfTen[power]! : divideUp(digits, 10n ** BigInt(-power));
  return scaled > maxNanos ? maxNanos : scaled;
}

function divideUp(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor;
}

function signed(magnitude: bigint, negative: boolean): bigint {
  return negative ? -magnitude : magnitude;
}

/**
 * Returns the canonical text in the quantity's format: an integer with the largest suffix that keeps it an integer. Values below
 * 1024 in BinarySI are written in decimal; fractions of larger ones are rounded away from zero.
 */
export function formatQuantity({ nanos, format }: Quantity): string {
  if (nanos === 0n) return "0";
  const sign = nanos < 0n ? "-" : "";
  const magnitude = nanos < 0n ? -nanos : nanos;
  if (format === "BinarySI" && magnitude >= 1024n * nano)
    return sign + formatBinary(divideUp(magnitude, nano));
  const [mantissa, exponent] = decimalParts(magnitude, format === "DecimalExponent");
  if (format === "DecimalExponent") return `${sign}${mantissa}${exponent === 0 ? "" : `e${exponent}`}`;
  return sign + mantissa + decimalSuffixes.get(exponent)!;
}

function formatBinary(whole: bigint): string {
  let mantissa = whole;
  let suffix = 0;
  while (suffix < binarySuffixes.length - 1 && mantissa % 1024n === 0n) {
    mantissa /= 1024n;
    suffix++;
  }
  return `${mantissa}${binarySuffixes[suffix]!}`;
}

/** Returns mantissa and exponent. The exponent is a multiple of 3, and at most that of the suffix `E` unless `anyExponent`. */
function decimalParts(nanos: bigint, anyExponent: boolean): [mantissa: bigint, exponent: number] {
  let mantissa = nanos;
  let exponent = -9;
  while (mantissa % 1000n === 0n && (anyExponent || exponent < 18)) {
    mantissa /= 1000n;
    exponent += 3;
  }
  return [mantissa, exponent];
}

/** Compares two quantities by value: returns a negative number, zero or a positive number. */
export function compareQuantities(a: Quantity, b: Quantity): number {
  return a.nanos < b.nanos ? -1 : a.nanos > b.nanos ? 1 : 0;
}

/** Returns the sum in the format of the first operand, or of the second if the first is zero. */
export function addQuantities(a: Quantity, b: Quantity): Quantity {
  return { nanos: a.nanos + b.nanos, format: a.nanos === 0n ? b.format : a.format };
}

/** Creates a quantity from an integer. */
export function quantityOf(whole: bigint | number, format: QuantityFormat = "DecimalSI"): Quantity {
  return { nanos: BigInt(whole) * nano, format };
}
