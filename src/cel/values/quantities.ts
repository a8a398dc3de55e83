import { decimalExponents } from "../../base/quantity.ts";
import { quantityType } from "../types/opaque-types.ts";
import { Fault, OpaqueValue } from "./values.ts";

/** Maximum length of the text of a quantity. */
const maxLength = 512;
/** Largest exponent of an exact sum or comparison; larger ones would need too much memory. */
const maxExponent = 1024;
/** Limit of the digits of a sum; without one, a chain of sums would make numbers of unlimited length. */
const maxDigits = 10n ** 2048n;
const maxInt = 2n ** 63n - 1n;

/** A decimal number with a suffix, such as `1.5Gi`. */
export class QuantityValue extends OpaqueValue {
  override readonly type = quantityType;
  private cachedCount: number | undefined;

  /**
   * @param digits the value is `digits * 10^exponent`.
   * @param isSmall whether the reference stores the value in 64 bits; it converts only such values to an integer.
   */
  constructor(
    readonly digits: bigint,
    readonly exponent: number,
    readonly isSmall: boolean,
  ) {
    super();
  }

  override equals(other: OpaqueValue): boolean {
    return other instanceof QuantityValue && compareQuantities(this, other) === 0;
  }

  override get stepsToCompare(): number {
    return this.digitCount;
  }

  /** Number of digits. */
  get digitCount(): number {
    const { digits } = this;
    return (this.cachedCount ??= String(digits < 0n ? -digits : digits).length);
  }

  /** Returns the value as an integer of 64 bits; undefined if it is none. */
  get integer(): bigint | undefined {
    if (!this.isSmall || this.exponent < 0 || this.exponent > 18) return undefined;
    return fitted(this.digits * 10n ** BigInt(this.exponent));
  }

  get approximate(): number {
    return this.exponent === 0 ? Number(this.digits) : Number(this.digits) * powerOfTen(this.exponent);
  }
}

/** As Go's `math.Pow10`. */
function powerOfTen(exponent: number): number {
  if (exponent < -323) return 0;
  return exponent > 308 ? Infinity : Number(`1e${exponent}`);
}

function fitted(value: bigint): bigint | undefined {
  return value > maxInt || value < -maxInt - 1n ? undefined : value;
}

export function signOf({ digits }: QuantityValue): number {
  return digits === 0n ? 0 : digits > 0n ? 1 : -1;
}

/** Compares two quantities of any size: -1, 0 or 1. */
export function compareQuantities(a: QuantityValue, b: QuantityValue): number {
  const [signA, signB] = [signOf(a), signOf(b)];
  if (signA !== signB || signA === 0) return signA < signB ? -1 : signA > signB ? 1 : 0;
  // Different orders of magnitude are compared without aligning the numbers.
  const [sizeA, sizeB] = [magnitude(a), magnitude(b)];
  if (sizeA !== sizeB) return sizeA < sizeB ? -signA : signA;
  const [first, second] = aligned(a, b);
  return first < second ? -1 : first > second ? 1 : 0;
}

/** Returns the power of ten of the first digit. */
function magnitude({ digitCount, exponent }: QuantityValue): number {
  return digitCount + exponent;
}

function aligned(a: QuantityValue, b: QuantityValue): [bigint, bigint] {
  const exponent = Math.min(a.exponent, b.exponent);
  return [a.digits * 10n ** BigInt(a.exponent - exponent), b.digits * 10n ** BigInt(b.exponent - exponent)];
}

/** Returns the sum of two quantities; a fault if their exponents are too far apart, or the sum is too long. */
export function addQuantities(a: QuantityValue, b: QuantityValue): QuantityValue | Fault {
  if (b.digits === 0n && a.isSmall && b.isSmall) return a;
  if (a.digits === 0n && a.isSmall && b.isSmall) return b;
  if (Math.abs(a.exponent - b.exponent) > maxExponent) return new Fault("the exponents are too far apart");
  const [first, second] = aligned(a, b);
  const sum = first + second;
  if (sum > maxDigits || sum < -maxDigits) return new Fault("the sum has too many digits");
  const isSmall = a.isSmall && b.isSmall && [first, second, sum].every((one) => fitted(one) !== undefined);
  return new QuantityValue(sum, Math.min(a.exponent, b.exponent), isSmall);
}

export function negated({ digits, exponent, isSmall }: QuantityValue): QuantityValue {
  return new QuantityValue(-digits, exponent, isSmall);
}

const form = /^([+-]?)([0-9]*)(?:\.([0-9]*))?((?:[eEinumkKMGTP]+[-+]?|[-+])[0-9]*)?$/;

const binarySuffixes = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

const wrongFormat = new Fault(
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
);
const wrongSuffix = new Fault("unable to parse quantity's suffix");
/** Digits of the largest power of ten in 64 bits. */
const maxSmallDigits = 18;

/** Parses a quantity; fractions smaller than 10^-9 are rounded away from zero. */
export function parseQuantityText(text: string): QuantityValue | Fault {
  const match = text === "" || text.length > maxLength ? null : form.exec(text);
  if (match === null) return wrongFormat;
  const [, sign, whole = "", fraction = "", suffix = ""] = match;
  const power = binarySuffixes.indexOf(suffix) + 1;
  const exponent = power > 0 ? 0 : (decimalExponents.get(suffix) ?? exponentOf(suffix));
  if (exponent === undefined) return wrongSuffix;
  const digits = BigInt(whole + fraction === "" ? "0" : whole + fraction);
  const [unit, scale] = [1n << BigInt(10 * power), exponent - fraction.length];
  const significant = whole.replace(/^0+/, "").length + fraction.length;
  const precision =
    power > 0 ? (fraction === "" ? 14 - significant - 3 * power : -1) : maxSmallDigits - significant;
  const value = sign === "-" ? -digits * unit : digits * unit;
  if (precision >= 0 && scale >= -9 && fitted(value) !== undefined)
    return new QuantityValue(value, scale, true);
  return rounded(power > 0 ? clamped(value, -scale) : value, scale);
}

/** Returns the exponent of a suffix such as `e3`; undefined if it is none. */
function exponentOf(suffix: string): number | undefined {
  if (!/^[eE][-+]?[0-9]{1,18}$/.test(suffix)) return undefined;
  const exponent = Number(BigInt.asIntN(32, BigInt(suffix.slice(1).replace("+", ""))));
  return exponent;
}

/** Limits a number with this number of fraction digits to 64 bits, as the reference does for binary suffixes. */
function clamped(value: bigint, fractionDigits: number): bigint {
  const limit = maxInt * 10n ** BigInt(fractionDigits);
  return value > limit ? limit : value < -limit ? -limit : value;
}

/** Rounds to a precision of 10^-9, away from zero. */
function rounded(value: bigint, scale: number): QuantityValue {
  if (value === 0n) return new QuantityValue(0n, 0, false);
  // Larger numbers than this are kept as they are, because they would need too much memory.
  if (scale > maxExponent) return new QuantityValue(value, scale, false);
  if (scale >= -9) return new QuantityValue(value * 10n ** BigInt(scale + 9), -9, false);
  const dropped = -9 - scale;
  // The text has at most 512 digits, so a smaller number rounds to 10^-9.
  if (dropped > 2 * maxLength) return new QuantityValue(value < 0n ? -1n : 1n, -9, false);
  const divisor = 10n ** BigInt(dropped);
  const more = value % divisor === 0n ? 0n : value < 0n ? -1n : 1n;
  return new QuantityValue(value / divisor + more, -9, false);
}
