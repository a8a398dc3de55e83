import { describe, expect, test } from "vitest";
import { bind, compile } from "../../src/cel/compile.ts";
import { dyn } from "../../src/cel/types/types.ts";
import type { JsonValue } from "../../src/base/json/value.ts";

const environment = { variables: new Map([["self", dyn]]) };

function costOf(expression: string, self: JsonValue): number | string {
  const { program, faults } = compile(expression, environment);
  if (program === undefined) return faults.map(({ message }) => message).join();
  const result = program.evaluate(bind(environment, { self }), 1_000_000);
  return result.outcome === "cost exceeded" ? result.message : result.cost;
}

/** Costs according to the interpreter of the reference. */
const table: readonly (readonly [string, JsonValue, number])[] = [
  ["self.a", { a: 1 }, 2],
  ["self.a == self.b", { a: 1, b: 1 }, 5],
  ["type(self.a) == int", { a: 1 }, 4],
  ["double(self.a) < 10.0", { a: 5 }, 4],
  ["double(5) < 10.0", {}, 1],
  ["self.a in ['x', 'y']", { a: "x" }, 2],
  ["1 in self.a", { a: [1, 2, 3] }, 5],
  ["self.b[0] in self.a", { a: [1, 2, 3], b: [3] }, 8],
  ["'k' in self.m", { m: { k: 1 } }, 3],
  ["self.m == {'k': 'a'}", { m: { k: "a" } }, 3],
  ["has(self.a.b)", { a: { b: 1 } }, 2],
  ["!has(self.a.c)", { a: { b: 1 } }, 3],
  ["self.t.startsWith('Rook')", { t: "Rook takes 👑" }, 4],
  ["self.t.matches('^[^0-9]*$')", { t: "Rook takes 👑" }, 8],
  ["self.t.charAt(3) == 'k'", { t: "Rook takes 👑" }, 4],
  ["self.t.indexOf('o') == 1", { t: "Rook takes 👑" }, 4],
  ["self.t.replace(' ', 'x') == 'Rookxtakesx👑'", { t: "Rook takes 👑" }, 7],
  ["self.t.split(' ') == ['Rook', 'takes', '👑']", { t: "Rook takes 👑" }, 6],
  ["self.t.substring(4, 10).trim() == 'takes'", { t: "Rook takes 👑" }, 6],
  ["self.t.upperAscii() == 'ROOK TAKES 👑'", { t: "Rook takes 👑" }, 6],
  ["self.a + self.b == [1, 2, 1, 2]", { a: [1, 2], b: [1, 2] }, 6],
  ["self.m.all(k, self.m[k] > 0)", { m: { b: 1, d: 2 } }, 17],
  ["self.m.exists_one(k, self.m[k] == 2)", { m: { b: 1, d: 2 } }, 14],
  ["size(self.m.filter(k, self.m[k] > 1)) == 1", { m: { b: 1, d: 2 } }, 26],
  ["self.l.all(m, m.k.startsWith('a'))", { l: [{ k: "a1" }, { k: "a2" }, { k: "a3" }] }, 21],
  ["self.l.exists(m, m.k.endsWith('1'))", { l: [{ k: "a1" }, { k: "a2" }, { k: "a3" }] }, 13],
  ["self.l.exists(m, m.v == 'z')", { l: [{}, {}, { v: "z" }] }, 24],
  ["self.l.map(m, m.v).exists(v, v == 'b1')", { l: [{ v: "b1" }, { v: "b2" }, { v: "b3" }] }, 55],
  ["self.l[0] == [self.l[0][0], self.l[0][1]]", { l: [[{}, {}]] }, 22],
  ["self.l.map(e, e * 20).filter(e, e > 50).exists(e, e == 60)", { l: [1, 1, 2, 2, 3, 3, 4, 5] }, 194],
  ["type(self.s) == int ? self.s == 1 : self.s == '25%'", { s: "25%" }, 7],
  ["self.s == 1 || self.s == '25%'", { s: "25%" }, 6],
];

describe("the cost of an evaluation equals the reference", () => {
  test.each(table)("%s of %j: %d", (expression, self, cost) => {
    expect(costOf(expression, self)).toBe(cost);
  });
});
