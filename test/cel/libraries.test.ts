import { describe, expect, test } from "vitest";
import type { JsonValue } from "../../src/base/json/value.ts";
import { bind, compile, type Environment } from "../../src/cel/compile.ts";
import { dyn } from "../../src/cel/types/types.ts";

const environment: Environment = { variables: new Map([["self", dyn]]) };

/** Returns the value of an expression, or its error message. */
function outcome(expression: string, self: JsonValue = {}): unknown {
  const { program, faults } = compile(expression, environment);
  if (program === undefined) return faults[0]!.message;
  const result = program.evaluate(bind(environment, { self }), 1_000_000);
  return result.outcome === "value" ? result.value : result.message;
}

describe("lists", () => {
  test.each([
    "[1, 2, 2].isSorted() && !['b', 'a'].isSorted() && [].isSorted()",
    "[1, 2, 3].sum() == 6 && [1.5, 2.0].sum() == 3.5 && [1u, 2u].sum() == 3u",
    "[duration('1s'), duration('2s')].sum() == duration('3s')",
    "[3, 1, 2].min() == 1 && ['a', 'c', 'b'].max() == 'c'",
    "[timestamp('2020-01-01T00:00:00Z'), timestamp('2021-01-01T00:00:00Z')].max().getFullYear() == 2021",
    "[1, 2, 2, 3].indexOf(2) == 1 && [1, 2, 2, 3].lastIndexOf(2) == 2 && ['a'].indexOf('b') == -1",
  ])("%s", (expression) => expect(outcome(expression)).toBe(true));

  test.each([
    ["[].min() == 1", "min called on empty list"],
    ["self.l.sum() == 0", "no such overload"],
    ["[1, 2].sum() == 'x'", "found no matching overload for '_==_' applied to '(int, string)'"],
    ["['a'].sum() == 1", "found no matching overload for 'sum' applied to '(list(string))'"],
    ["[9223372036854775807, 1].sum() == 0", "integer overflow"],
  ])("%s: %s", (expression, why) => expect(outcome(expression, { l: ["a", 1] })).toBe(why));
});

describe("regular expressions", () => {
  test.each([
    "'abc 123'.find('[0-9]+') == '123' && 'abc'.find('[0-9]+') == ''",
    "'123 abc 456'.findAll('[0-9]+') == ['123', '456']",
    "'1 2 3'.findAll('[0-9]', 2) == ['1', '2'] && '1 2'.findAll('[0-9]', 0) == [] && '1 2'.findAll('x') == []",
    "'aXb'.matches('(?i)x') && 'a\\nb'.matches('(?s)a.b') && !'a'.matches('^b$')",
    "'👑x'.find('.') == '👑' && 'ab'.findAll('') == ['', '', '']",
  ])("%s", (expression) => expect(outcome(expression)).toBe(true));

  test.each([
    ["'a'.matches('(')", "missing closing )"],
    ["'aa'.matches('(a)\\\\1')", "invalid escape sequence"],
    ["'a'.matches(self.p)", "error parsing regexp"],
  ])("%s: %s", (expression, why) => expect(outcome(expression, { p: "a(?=b)" })).toContain(why));
});

describe("URLs", () => {
  test.each([
    "url('https://user@example.com:80/path?k=a&k=b&l=c%20d#x').getScheme() == 'https'",
    "url('https://example.com:80/p').getHost() == 'example.com:80' && url('https://example.com:80/').getPort() == '80'",
    "url('https://[::1]:80/').getHost() == '[::1]:80' && url('https://[::1]:80/').getHostname() == '::1'",
    "url('https://example.com/with space/').getEscapedPath() == '/with%20space/' && url('/abs').getEscapedPath() == '/abs'",
    "url('https://h/?k=a&k=b&l=c%20d+e').getQuery() == {'k': ['a', 'b'], 'l': ['c d e']}",
    "url('/path').getScheme() == '' && url('/path').getHost() == '' && url('https://h').getQuery() == {}",
    "isURL('https://a:80') && isURL('/a') && isURL('mailto:x@y')",
    "!isURL('../a') && !isURL('') && !isURL('https://a:b/') && !isURL('://x') && !isURL('https://%zz/') && !isURL('a\\nb')",
    "url('https://a/b') == url('https://a/b') && url('https://a/b') != url('https://a/c')",
  ])("%s", (expression) => expect(outcome(expression)).toBe(true));

  test("an invalid URL is an error", () => {
    expect(outcome("url('../x').getHost() == ''")).toContain("URL parse error");
  });
});

describe("names of fields", () => {
  const self = {
    "a-b": 1,
    "a.b": 2,
    "a/b": 3,
    a__b: 4,
    namespace: 5,
    plain_name: 6,
    __proto: 7,
    constructor: 8,
  } as JsonValue;

  test.each([
    ["self.a__dash__b == 1"],
    ["self.a__dot__b == 2"],
    ["self.a__slash__b == 3"],
    ["self.a__underscores__b == 4 && self.a__b == 4"],
    ["self.__namespace__ == 5 && self.namespace == 5"],
    ["self.plain_name == 6 && self.constructor == 8 && !has(self.toString) && !has(self.a__dash__c)"],
    ["self['a-b'] == 1 && 'a-b' in self && has(self.a__dash__b)"],
  ])("%s", (expression) => expect(outcome(expression, self)).toBe(true));
});

describe("values of objects", () => {
  test.each<readonly [string, JsonValue]>([
    ["self.i == 9007199254740993 && self.i + 1 == 9007199254740994", { i: 9007199254740993n }],
    ["self.i == 9223372036854775807 && type(self.i) == int", { i: 2n ** 63n - 1n }],
    ["type(self.d) == double && self.d > 1 && self.d < 2", { d: 1.5 }],
    ["type(self.p) == int ? self.p < 100 : self.p == '50%'", { p: "50%" }],
    ["self.q == '100Mi' && self.n == null && type(self.n) == null_type", { q: "100Mi", n: null }],
    ["self.m == {'a': [{'b': true}]} && self.m != {'a': [{'b': false}]}", { m: { a: [{ b: true }] } }],
    ["timestamp(self.t) < timestamp('2030-01-01T00:00:00Z')", { t: "2023-01-01T00:00:00Z" }],
    ["self.a + self.a == [1, 1] && (self.a + [2])[1] == 2 && size(self.a + self.a) == 2", { a: [1] }],
  ])("%s of %o", (expression, self) => expect(outcome(expression, self)).toBe(true));

  test.each([
    ["9223372036854775807 + 1 == 0", "integer overflow"],
    ["self.l[3] == 1", "index out of bounds: 3"],
    ["self.missing.x == 1", "no such key: missing"],
    ["1 / 0 == 1", "division by zero"],
  ])("%s: %s", (expression, why) => expect(outcome(expression, { l: [] })).toBe(why));
});
