/** Relative tolerance of a quotient, because decimals such as 0.3 and 0.1 aren't exact in binary. */
const tolerance = 1e-9;

/**
 * Whether a number is a multiple of another one (`multipleOf`). Integers are compared exactly, others as in Kubernetes.
 *
 * @param factor greater than zero.
 */
export function isMultiple(value: number | bigint, factor: number | bigint): boolean {
  const [whole, wholeFactor] = [toInteger(value), toInteger(factor)];
  if (whole !== undefined && wholeFactor !== undefined) return whole % wholeFactor === 0n;
  return isQuotientWhole(Number(value), Number(factor));
}

function toInteger(value: number | bigint): bigint | undefined {
  if (typeof value === "bigint") return value;
  return Number.isInteger(value) ? BigInt(value) : undefined;
}

function isQuotientWhole(number: number, factor: number): boolean {
  const quotient = factor < 1 ? (1 / factor) * number : number / factor;
  return Math.abs(quotient - Math.round(quotient)) <= tolerance * Math.abs(quotient);
}
