import { describe, expect, test } from "vitest";
import { bind, compile, type Environment } from "../../src/cel/compile.ts";
import { bool, dyn, int, listOf, mapOf, string, type CelType } from "../../src/cel/types.ts";

const short: CelType = { ...string, maxSize: 10 } as CelType;
const environment: Environment = {
  variables: new Map<string, CelType>([
    ["n", int],
    ["t", short],
    ["free", string],
    ["l", listOf(int, 20)],
    ["names", listOf(short, 5)],
    ["nested", listOf(listOf(int, 4), 3)],
    ["m", mapOf(string, int, 7)],
    ["any", dyn],
  ]),
};

function estimateOf(expression: string): { min: number; max: number } {
  const { program, faults } = compile(expression, environment);
  if (program === undefined) throw new Error(faults[0]!.message);
  return program.estimate;
}

describe("the estimate knows the sizes that the types allow", () => {
  test.each([
    ["n == 1", 2],
    ["t == 'abc'", 2],
    ["l.all(x, x > 0)", 1 + 20 * (3 + 2) + 1],
    ["l.exists(x, x > 0)", 1 + 20 * (4 + 2) + 1],
    ["nested.all(x, x.all(y, y > 0))", 1 + 3 * (3 + 1 + 4 * (3 + 2) + 1) + 1],
    ["1 in l", 1 + 20],
    ["names.isSorted()", 1 + 5 * 1],
    ["t.matches('abcdefgh')", 1 + 2 * 2],
    ["(t + t).matches('abcdefgh')", 1 + 1 + 2 + 3 * 2],
    ["has(any.x) ? n : 1", 2],
  ])("%s costs at most %d", (expression, most) => {
    expect(estimateOf(expression).max).toBe(most);
  });

  test("what nothing limits is limited by the size of a request", () => {
    expect(estimateOf("free.matches('aaaa')").max).toBe(1 + Math.ceil((3 * 1024 * 1024 - 1) * 0.1));
    expect(estimateOf("any.all(x, any.all(y, x == y))").max).toBeGreaterThan(1e12);
  });
});

const values = [
  { n: 0, t: "", free: "", l: [], names: [], nested: [], m: {}, any: [] },
  {
    n: 1,
    t: "abcdefghij",
    free: "free ".repeat(100),
    l: Array.from({ length: 20 }, (_, item) => item),
    names: Array.from({ length: 5 }, () => "abcdefghij"),
    nested: Array.from({ length: 3 }, () => [1, 2, 3, 4]),
    m: { a: 1, b: 2, c: 3, d: 4, e: 5, f: 6, g: 7 },
    any: [{ a: 1 }, "x", 3],
  },
];

describe("no evaluation costs less or more than estimated", () => {
  test.each([
    "l.all(x, l.exists(y, x == y))",
    "l.map(x, x * 2).filter(x, x > 3).exists_one(x, x == 4)",
    "names.join(',').split(',').size() > 1 || m.all(k, m[k] > 0)",
    "t.replace('a', 'bb') + t == free.substring(0, 1) || n > 3",
    "nested.all(x, x.sum() > 0) && names.indexOf('abcdefghij') == 0",
    "(any.exists(x, x == 'x') ? [n, n + 1].max() : size(free)) >= 0",
    "{'a': n, 'b': 2}.all(k, k in m) && l[0] == nested[0][0] && has(m.a)",
    "string(n) + free == 'x' || bytes(free) == b'x' || free.contains(t) || free.find('f+') == ''",
    "dyn(l) == dyn(names) || type(any) == list || !(n in l) || -n == 1",
    "free.lowerAscii().trim().startsWith(t) || url('http://a/' + t).getHost() == t",
  ])("%s", (expression) => {
    const { program } = compile(expression, { ...environment, result: bool });
    for (const json of values) {
      const { cost } = program!.evaluate(bind(environment, json), 1_000_000);
      const { min, max } = program!.estimate;
      expect(cost).toBeGreaterThanOrEqual(min);
      expect(cost).toBeLessThanOrEqual(max);
    }
  });
});
