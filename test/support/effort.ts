/** Whether the tests run in their long form (`npm run test:long`). */
const isLong = process.env["PLINTH_LONG_TESTS"] !== undefined;

/**
 * Returns how much a test does that searches at random or repeats: little in `npm test`, more in `npm run test:long`.
 *
 * @param short for `npm test`, a few seconds.
 */
export function effort<T>(short: T, long: T): T {
  return isLong ? long : short;
}
