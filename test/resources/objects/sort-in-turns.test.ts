import { expect, test } from "vitest";
import { sortInTurns } from "../../../src/resources/objects/sort-in-turns.ts";
import { compareValues, sortValue } from "../../../src/resources/objects/sort-order.ts";
import { Dice } from "../../support/dice.ts";

test("sortInTurns sorts like toSorted, stably, and pauses", async () => {
  const dice = new Dice(3);
  for (const length of [0, 1, 2047, 2048, 2049, 10_000]) {
    const items = Array.from({ length }, (_, index) => ({ value: dice.below(500), index }));
    let pauses = 0;
    const pause = () => {
      pauses++;
      return undefined;
    };
    const compare = (a: { value: number }, b: { value: number }) => a.value - b.value;
    expect(await sortInTurns(items, compare, pause)).toEqual(items.toSorted(compare));
    if (length > 2048) expect(pauses).toBeGreaterThan(length / 2048);
  }
});

test("values are a total order: integers by size, then texts", () => {
  const texts = ["-5", "0", "9", "10", "999999999999999", "", "-", "00", "1.5", "a", "b"];
  const values = texts.map(sortValue);
  for (const [i, one] of values.entries()) {
    for (const [j, other] of values.entries())
      expect(Math.sign(compareValues(one, other))).toBe(Math.sign(i - j));
  }
  expect(sortValue("1234567890123456")).toBe("1234567890123456");
});
