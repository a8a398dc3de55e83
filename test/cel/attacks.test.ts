import { describe, expect, test } from "vitest";
import type { JsonValue } from "../../src/base/json/value.ts";
import { bind, compile, type Environment } from "../../src/cel/compile.ts";
import { dyn } from "../../src/cel/types/types.ts";

const environment: Environment = { variables: new Map([["object", dyn]]) };
const numbers = Array.from({ length: 10_000 }, (_, index) => index);
const object = {
  l: numbers,
  s: Array.from({ length: 3_000 }, (_, index) => `string-${index}${"x".repeat(300)}`),
  t: "a".repeat(1_000_000),
  ab: Array.from({ length: 50_000 }, (_, index) => (((index * 7919) % 13) % 2 === 1 ? "a" : "b")).join(""),
  nested: Array.from({ length: 300 }, () => numbers.slice(0, 300)),
  m: Object.fromEntries(numbers.map((index) => [`k${index}`, index])),
  emoji: "👑".repeat(300_000),
  halves: "\ud800".repeat(1_000),
} as JsonValue;

/** Returns the CPU time of this process in milliseconds. */
function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Runs a function that must use less than 1.5 seconds of CPU time. */
function bounded<T>(work: () => T): T {
  const startMs = processorMs();
  const result = work();
  expect(processorMs() - startMs).toBeLessThan(1_500);
  return result;
}

function run(expression: string): { outcome: string; message?: string } {
  return bounded(() => {
    const { program, faults } = compile(expression, environment);
    if (program === undefined) return { outcome: "rejected", message: faults[0]!.message };
    return program.evaluate(bind(environment, { object }), 1_000_000);
  });
}

/** Returns a nested expression. */
function nest(levels: number, start: string, level: (inner: string) => string): string {
  let expression = start;
  for (let count = 0; count < levels; count++) expression = level(expression);
  return expression;
}

const doubled = (inner: string) => `[${inner}].map(s, s + s)[0]`;
const paired = (inner: string) => `[${inner}].map(s, [s, s])[0]`;
const manyKeys = `{${numbers.slice(0, 3_000).map((index) => `'k${index}':${index}`)}}`;

describe("an expensive expression ends at the cost limit", () => {
  test.each([
    ["nested loops", "object.l.all(a, object.l.all(b, object.l.all(c, true)))"],
    ["nested loops that create lists", "object.l.map(a, object.l.map(b, [a, b])).size() > 0"],
    ["a string that is doubled repeatedly", `${nest(28, "'aaaaaaaaaa'", doubled)} == ''`],
    ["a list that is doubled repeatedly", `${nest(28, "object.l", doubled)}.all(x, true)`],
    ["comparing doubled lists", `[${nest(24, "object.l", doubled)}].all(x, x == x + [1] || x == x)`],
    ["comparing nested pairs", `[${nest(20, "1", paired)}].all(x, x == x)`],
    ["comparing large lists in a loop", "object.l.all(x, object.nested == object.nested)"],
    ["comparing large strings in a loop", "object.l.all(x, object.t == object.t + '')"],
    ["comparing large maps in a loop", `object.l.all(i, ${manyKeys} == ${manyKeys})`],
    ["searching strings in a list of strings", "object.s.all(x, x in object.s)"],
    [
      "nested replacements",
      `${nest(8, "'aaaa'", (inner) => `${inner}.replace('a', '${"a".repeat(20)}')`)} == ''`,
    ],
    ["joining in a loop", "object.l.map(x, object.s.join(',')).size() > 0"],
    ["splitting in a loop", "object.l.all(x, object.t.split('').size() > 0)"],
    ["a regular expression with many states", "object.ab.matches('(a|b)*a(a|b){12}$')"],
    ["a large regular expression", "object.ab.matches('[ab]*a[ab]{900}[cd]')"],
    [
      "a new regular expression for each item",
      "object.l.all(i, 'abc'.matches('a{' + string(i % 1000) + '}') || true)",
    ],
    ["a regular expression that is tried at every position", "object.t.findAll('a.*b|a').size() > 0"],
    ["time zones in a loop", "object.l.all(i, timestamp(i).getHours('America/New_York') >= 0)"],
    ["counting characters", "object.l.all(i, object.emoji.size() > 0)"],
    ["characters in a loop", "object.l.all(i, object.emoji.charAt(i) != '')"],
    ["keys in a loop", "object.l.all(i, object.m.all(k, true))"],
    ["sums in a loop", "object.l.all(i, object.l.sum() >= 0)"],
    ["URLs in a loop", "object.l.all(i, isURL('http://a/' + object.t))"],
    ["bytes in a loop", "object.l.all(i, bytes(object.t) == bytes(object.t))"],
    ["replacing with a large string", "object.t.replace('a', object.t) == ''"],
    ["replacing the empty string with a large string", "object.t.replace('', object.t) == ''"],
    ["escaped names in a loop", `object.l.all(i, object.l.all(j, !has(object.m.${"a__".repeat(9_000)}b)))`],
  ])("%s", (_, expression) => {
    expect(run(expression).outcome).toBe("cost exceeded");
  });

  test.each([
    [
      "replacing long substrings with a large string",
      "object.t.replace(object.t.substring(990000), object.t) == ''",
    ],
    ["joining large strings", "object.l.map(x, object.t).join() == ''"],
  ])("%s is an error", (_, expression) => {
    expect(run(expression)).toMatchObject({ outcome: "fault", message: "the string is too long" });
  });

  test("patterns that are slow in backtracking engines are matched in linear time", () => {
    expect(run("object.t.matches('^(a+)+$')").outcome).toBe("value");
  });
});

describe("parsing", () => {
  const recursion = "expression recursion limit exceeded: 250";
  test.each([
    ["parentheses", "(".repeat(50_000), recursion],
    ["indexes", "object[".repeat(14_000), recursion],
    ["selections", `object${".a".repeat(40_000)} == 1`, recursion],
    ["conditions", `${"true?1:".repeat(14_000)}1 == 1`, recursion],
    ["sums", `1${"+1".repeat(40_000)} == 1`, recursion],
    ["lists", "[".repeat(50_000), recursion],
    ["macros", `${"[1].all(x,".repeat(260)}true${")".repeat(260)}`, recursion],
    ["has macros", "has(".repeat(10_000), recursion],
    [
      "an expression of one megabyte",
      `true${" && true".repeat(130_000)}`,
      "expression code point size exceeds limit",
    ],
    [
      "a string of one megabyte of wide characters",
      `'${"👑".repeat(500_000)}'`,
      "expression code point size exceeds limit",
    ],
    ["quotes", "'".repeat(99_999), "unterminated string"],
    ["comments", "//".repeat(49_000), "an expression expected"],
    ["digits", "9".repeat(99_999), "invalid int literal"],
    ["a lone surrogate", "\ud800 == 1", "token recognition error"],
    ["a zero byte", "\0", "token recognition error"],
  ])("rejects %s within 1.5 seconds", (_, expression, why) => {
    const { outcome, message } = run(expression);
    expect([outcome, message]).toEqual(["rejected", expect.stringContaining(why)]);
    expect(message!.length).toBeLessThanOrEqual(500);
  });

  test.each([
    ["minus signs", `${"-".repeat(99_990)}1 == 1`],
    ["a long chain of conjunctions", `true${"&&true".repeat(16_000)}`],
    ["a long list", `[${"1,".repeat(49_000)}1].size() > 0`],
    ["a long list of empty lists", `[${"[],".repeat(20_000)}[]].size() > 0`],
    ["many equalities", `1 == 1${" && 1 == 1".repeat(9_000)}`],
    ["many memberships", `1 in []${" || 1 in []".repeat(8_000)} || true`],
    [
      "deep macros",
      `${numbers
        .slice(0, 40)
        .map((x) => `[1].all(x${x},`)
        .join("")}true${")".repeat(40)}`,
    ],
  ])("accepts %s", (_, expression) => {
    expect(run(expression).outcome).toBe("value");
  });

  test("members of Object.prototype are not accessible", () => {
    for (const name of ["__proto__", "constructor", "toString", "hasOwnProperty"]) {
      expect(run(`object.${name} == null`)).toMatchObject({
        outcome: "fault",
        message: `no such key: ${name}`,
      });
      expect(run(`object['${name}'] == null`).outcome).toBe("fault");
    }
  });

  test("lone surrogates are valid characters of strings", () => {
    const checks = [
      "object.halves.size() == 1000 && object.halves.substring(999).size() == 1",
      "object.halves.split('').size() == 1000 && bytes(object.halves).size() == 3000",
      "object.halves.matches('.') && !object.halves.contains('a') && object.halves.lowerAscii() == object.halves",
      "object.halves.indexOf(object.halves.charAt(1)) == 0 && isURL('http://a/' + object.halves)",
    ];
    for (const check of checks) expect(run(check)).toMatchObject({ outcome: "value", value: true });
  });
});
