import { tests } from "@bufbuild/cel-spec/testdata/conformance.js";
import { describe, expect, test } from "vitest";
import { equal } from "../../src/cel/values/comparison.ts";
import { compile } from "../../src/cel/compile.ts";
import { Meter } from "../../src/cel/costs/meter.ts";
import { typeText, type CelType } from "../../src/cel/types/types.ts";
import type { Value } from "../../src/cel/values/values.ts";
import { leftOut, leftOutSuites } from "./conformance-left-out.ts";
import { typeNamed, valueOf, type Json } from "./conformance-values.ts";

interface Suite {
  readonly name: string;
  readonly suites?: readonly Suite[];
  readonly tests?: readonly { readonly original: Json & { readonly expr: string; readonly name?: string } }[];
}

interface Case {
  readonly name: string;
  readonly original: Json & { readonly expr: string };
}

function casesOf(suite: Suite, path: string): Case[] {
  return [
    ...(suite.tests ?? []).map(({ original }) => ({
      name: `${path}/${original.name ?? original.expr}`,
      original,
    })),
    ...(suite.suites ?? []).flatMap((one) => casesOf(one, path === "" ? one.name : `${path}/${one.name}`)),
  ];
}

/** Returns the value of an expression of the suite, or its error message. */
function outcomeOf(original: Case["original"]): { value?: Value; type?: CelType; problem?: string } {
  const declarations = (original["typeEnv"] ?? []) as { name: string; ident: { type: Json } }[];
  const variables = new Map(declarations.map(({ name, ident }) => [name, typeNamed(ident.type)]));
  const { program, faults } = compile(original.expr, { variables, mixedLiterals: true });
  if (program === undefined) return { problem: faults.map(({ message }) => message).join() };
  if (original["checkOnly"] === true) return { type: program.type };
  const given = Object.entries((original["bindings"] ?? {}) as Record<string, { value: Json }>);
  const bindings = Object.fromEntries(given.map(([name, { value }]) => [name, valueOf(value)]));
  const result = program.evaluate(bindings, Infinity);
  if (result.outcome === "value") return { value: result.value, type: program.type };
  return { problem: result.message };
}

function isNaNValue(value: Value): boolean {
  return typeof value === "number" && Number.isNaN(value);
}

function assertConforms(original: Case["original"]): void {
  const { value, type, problem } = outcomeOf(original);
  if (original["evalError"] !== undefined || original["anyEvalErrors"] !== undefined) {
    expect(problem, "an error is expected").toBeDefined();
    return;
  }
  expect(problem).toBeUndefined();
  const typed = original["typedResult"] as { result?: Json; deducedType?: Json } | undefined;
  if (typed?.deducedType !== undefined) expect(typeText(type!)).toBe(typeText(typeNamed(typed.deducedType)));
  const expected = (original["value"] ?? typed?.result) as Json | undefined;
  if (original["checkOnly"] === true) return;
  const expectedValue = expected === undefined ? true : valueOf(expected);
  const same = isNaNValue(expectedValue)
    ? isNaNValue(value!)
    : equal(expectedValue, value!, new Meter(Infinity));
  expect([typeof value, same], `expected ${JSON.stringify(expected)}`).toEqual([typeof expectedValue, true]);
}

const all = casesOf(tests, "");
const suiteOf = (name: string) => leftOutSuites.find(([prefix]) => name.startsWith(prefix));
const run = all.filter(({ name }) => suiteOf(name) === undefined && !leftOut.has(name));

describe("the CEL conformance suite", () => {
  test.each(run.map(({ name, original }) => [name, original] as const))("%s", (_, original) => {
    assertConforms(original);
  });

  test("every skipped case exists in the suite and fails", () => {
    const names = new Set(all.map(({ name }) => name));
    expect([...leftOut.keys()].filter((name) => !names.has(name))).toEqual([]);
    expect(leftOutSuites.filter(([prefix]) => !all.some(({ name }) => name.startsWith(prefix)))).toEqual([]);
    const passing = all.filter(({ name, original }) => leftOut.has(name) && conforms(original));
    expect(passing.map(({ name }) => name)).toEqual([]);
  });
});

function conforms(original: Case["original"]): boolean {
  try {
    assertConforms(original);
    return true;
  } catch {
    return false;
  }
}
