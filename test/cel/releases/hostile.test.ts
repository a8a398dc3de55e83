import { describe, expect, test } from "vitest";
import type { JsonValue } from "../../../src/base/json/value.ts";
import { bind, compile, type Environment } from "../../../src/cel/compile.ts";
import { languageOf } from "../../../src/cel/libraries.ts";
import { dyn } from "../../../src/cel/types/types.ts";
import { cpuStopwatch } from "../../support/cpu-time.ts";

const environment: Environment = {
  variables: new Map([["self", dyn]]),
  language: languageOf("1.37", "stored"),
};

const numbers = Array.from({ length: 10_000 }, (_, index) => index);
const self: JsonValue = {
  numbers,
  text: "a".repeat(1_000_000),
  part: "a".repeat(1000),
  digits: "1".repeat(500_000),
  map: Object.fromEntries(numbers.map((index) => [`k${index}`, index])),
};

/** An evaluation takes at most 50 ms of a quiet machine; the limit leaves room for others. */
const maxMs = 2_000;

describe("an expression of later releases ends within the limits of cost and work", () => {
  test.each([
    ["a chain of optional selections", `self${".?a".repeat(240)}`],
    ["a chain of optMap, whose targets are evaluated twice", `optional.of(1)${".optMap(x, x)".repeat(60)}`],
    ["long texts as addresses", "isIP(self.digits + ':') || isCIDR(self.digits)"],
    ["a long quantity", "isQuantity(self.digits)"],
    ["distant exponents", "quantity('1e2000000000').compareTo(quantity('1e-2000000000'))"],
    ["the sum of distant exponents", "quantity('1e999999999').add(quantity('1')).isInteger()"],
    [
      "sums of long sums",
      `[quantity('1e500')].map(a, a.add(quantity('1')))${".map(a, a.add(a))".repeat(20)}.size() == 1`,
    ],
    [
      "comparisons of long quantities",
      "self.numbers.all(n, quantity('1e500').add(quantity('1')) == quantity('1e500').add(quantity('1')))",
    ],
    [
      "comparisons of versions",
      "self.numbers.all(n, semver('1.2.3-' + self.part) == semver('1.2.3-' + self.part))",
    ],
    ["sorting by long texts", "self.numbers.map(n, self.part + string(n)).sort()"],
    ["a format of a long text, many times", "self.numbers.map(n, '%X'.format([self.text]))"],
    ["a long version", "isSemver(self.digits) || isSemver(self.digits, true)"],
    ["a formatted object", "'%s'.format([self])"],
    ["a long format", "('%%' + self.digits).format([])"],
    ["a quadratic comparison", "self.numbers.distinct()"],
    ["a quadratic comparison of sets", "self.numbers.all(n, sets.contains(self.numbers, [n]))"],
    ["sorting by keys", "self.numbers.sortBy(x, -x)"],
    ["a long range", "lists.range(1000000).map(x, x)"],
    ["nested macros", "self.numbers.all(i, a, self.numbers.all(j, b, true))"],
    ["maps of maps", "self.map.transformMap(k, v, self.map.transformMap(l, w, w))"],
    ["formats of a long text", "format.uuid().validate(self.digits)"],
  ])("%s", (_, expression) => {
    const usedMs = cpuStopwatch();
    const { program, faults } = compile(expression, environment);
    expect(faults).toBeUndefined();
    expect(program!.estimateCost(dyn).max).toBeGreaterThan(0);
    const { outcome } = program!.evaluate(bind(environment, { self }), Infinity);
    expect(["value", "fault", "cost exceeded"]).toContain(outcome);
    expect(usedMs()).toBeLessThan(maxMs);
  });

  test.each([
    ["optional selections", `self${".?a".repeat(300)}`],
    ["parentheses", `${"(".repeat(300)}1${")".repeat(300)}`],
    ["sums of parentheses", `${"(1 + ".repeat(200)}1${")".repeat(200)}`],
    ["macros with two variables", `${"[1].all(i, v, ".repeat(300)}true${")".repeat(300)}`],
  ])("too deep %s don't compile", (_, expression) => {
    expect(compile(expression, environment).faults?.[0]?.message).toContain("recursion limit");
  });
});
