/** By how much, of itself, a quotient may miss a whole number: numbers such as 0.3 and 0.1 aren't what they are written as. */
const tolerance = 1e-9;

/**
 * Whether a number is a multiple of another one (`multipleOf`): whole numbers exactly, others as the reference tells it.
 *
 * @param factor more than zero.
 */
export function isMultiple(value: number | bigint, factor: number): boolean {
  if (typeof value === "bigint" && Number.isInteger(factor)) return value % BigInt(factor) === 0n;
  const number = Number(value);
  if (Number.isInteger(number) && Number.isInteger(factor)) return number % factor === 0;
  const quotient = factor < 1 ? (1 / factor) * number : number / factor;
  return Math.abs(quotient - Math.round(quotient)) <= tolerance * Math.abs(quotient);
}
