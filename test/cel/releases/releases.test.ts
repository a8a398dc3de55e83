import { describe, expect, test } from "vitest";
import { differences } from "./differences.ts";
import { expressions } from "./expressions/index.ts";
import { resultOf, shown } from "./outcomes.ts";
import { readResults } from "./result-file.ts";

const theirs = readResults();
const different = new Set(differences.flatMap(({ expressions: listed }) => listed));

describe("value, cost and estimated cost of an expression equal the reference", () => {
  test.each(expressions.filter((one) => !different.has(one)))("%s", (expression) => {
    expect(shown(resultOf(expression))).toEqual(shown(theirs.get(expression)!));
  });
});

test("results of the reference exist for all expressions, which are unique", () => {
  expect([...theirs.keys()]).toEqual(expressions);
  expect(new Set(expressions).size).toBe(expressions.length);
});

test("every difference names expressions whose results differ", () => {
  expect([...different].filter((one) => !expressions.includes(one))).toEqual([]);
  const equal = [...different].filter(
    (one) => JSON.stringify(shown(resultOf(one))) === JSON.stringify(shown(theirs.get(one)!)),
  );
  expect(equal).toEqual([]);
});
