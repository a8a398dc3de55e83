import { describe, expect, test } from "vitest";
import { compile } from "../../src/cel/compile.ts";
import { int, listOf, mapOf, objectType, string, type CelType } from "../../src/cel/types/types.ts";

const short: CelType = { is: "string", maxSize: 10 };
const fields: Readonly<Record<string, CelType>> = {
  n: int,
  t: short,
  l: listOf(int, 20),
  names: listOf(short, 5),
  nested: listOf(listOf(int, 4), 3),
  m: mapOf(string, int, 7),
};
const root = objectType(
  "self",
  () => new Map(Object.entries(fields).map(([jsonName, type]) => [jsonName, { type, jsonName }])),
);

function estimateOf(expression: string, type: CelType = root): number {
  const { program, faults } = compile(expression, { variables: new Map([["self", type]]) });
  if (program === undefined) throw new Error(faults[0]!.message);
  return program.estimateCost(type).max;
}

describe("the estimated cost equals the reference", () => {
  test.each([
    ["a number has no size", "self.n == 1", 2],
    ["a string has the declared maximum length", "self.t.matches('abcdefgh')", 2 + 2 * 2],
    [
      "concatenated strings have the sum of the lengths",
      "(self.t + self.t).matches('abcdefgh')",
      2 + 2 + 2 + 3 * 2,
    ],
    [
      "a loop multiplies the cost by the maximum number of items",
      "self.l.all(x, x > 0)",
      2 + 20 * (3 + 1 + 1) + 1,
    ],
    ["nested loops multiply", "self.nested.all(x, x.all(y, y > 0))", 2 + 3 * (3 + 1 + 4 * (3 + 2) + 1) + 1],
    ["map keys have no size", "self.m.all(key, !key.contains('*'))", 2 + 7 * (3 + 1 + 0 + 1) + 1],
    ["startsWith depends on the length of its argument", "self.t.startsWith('abcdefghijklmno')", 2 + 2],
    ["comparing strings depends on their lengths", "self.names.isSorted()", 2 + 5 * (1 + 1)],
    [
      "an item of a call's result has the size of self",
      "self.t.split('/')[0].matches('abcd')",
      2 + 2 + 1 + 1,
    ],
  ])("%s: %s costs at most %s", (_, expression, most) => {
    expect(estimateOf(expression)).toBe(most);
  });

  test("an item of the result of a call is as long as a string self", () => {
    expect(estimateOf("self.split('/', 2)[0].matches('abcd')", short)).toBe(1 + 2 + 1 + 2);
  });

  test("a result of unknown size is unlimited", () => {
    expect(estimateOf("self.l.map(x, x).exists(x, x == 1)")).toBeGreaterThan(1e19);
  });
});
