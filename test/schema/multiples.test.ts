import { expect, test } from "vitest";
import { isMultiple } from "../../src/schema/custom/multiples.ts";

test.each<readonly [value: number | bigint, factor: number, is: boolean]>([
  [6, 3, true],
  [7, 3, false],
  [-6, 3, true],
  [0, 0.1, true],
  // No binary number is a tenth.
  [0.3, 0.1, true],
  [1.1, 0.1, true],
  [0.35, 0.1, false],
  [7.5, 2.5, true],
  [7.6, 2.5, false],
  // Beyond the numbers whose last digits are kept.
  [9007199254740993n, 2, false],
  [9007199254740994n, 2, true],
])("%s is a multiple of %s: %s", (value, factor, is) => {
  expect(isMultiple(value, factor)).toBe(is);
});
