import { expect, test } from "vitest";
import { EvictableValues } from "../../src/base/collections/evictable-values.ts";

function values(limit: number, costs: readonly number[]) {
  const all = new EvictableValues(limit);
  const made = costs.map(() => 0);
  const ask = costs.map((cost, index) =>
    all.value(() => {
      made[index]!++;
      return { value: index, cost };
    }),
  );
  return { made, ask };
}

test("a value is made when it is first asked for, and kept while there is room", () => {
  const { made, ask } = values(10, [5, 5]);
  expect(made).toEqual([0, 0]);
  for (let round = 0; round < 3; round++) expect(ask.map((one) => one())).toEqual([0, 1]);
  expect(made).toEqual([1, 1]);
});

test("what wasn't asked for lately makes room, and is made again", () => {
  const { made, ask } = values(10, [5, 5, 5]);
  ask[0]!();
  ask[1]!();
  ask[0]!();
  expect(ask[2]!()).toBe(2);
  ask[0]!();
  expect(made).toEqual([1, 1, 1]);
  expect(ask[1]!()).toBe(1);
  expect(made).toEqual([1, 2, 1]);
});

test("a value that costs more than all may is kept alone", () => {
  const { made, ask } = values(10, [5, 50]);
  ask[0]!();
  ask[1]!();
  ask[1]!();
  expect(made).toEqual([1, 1]);
  ask[0]!();
  ask[1]!();
  expect(made).toEqual([2, 2]);
});
