import { describe, expect, test } from "vitest";
import type { JsonValue } from "../../src/base/json/value.ts";
import { bind, compile, type Environment } from "../../src/cel/compile.ts";
import { environmentOf } from "../../src/admission/policies/environment.ts";
import { Rule, rulesOf } from "../../src/kinds/apiextensions/rule-tree.ts";
import { parseSchema } from "../../src/schema/custom/schema-node.ts";
import { hostileExpressions, hostileObject, hostileSchema, plainExpression } from "./hostile-expressions.ts";

/** What `docs/cel.md` promises of one evaluation, on a machine that is fast enough. */
const promisedMs = 50;
/** Measurements vary; an expression that isn't charged for what it does takes many times as long. */
const tolerance = 2.5;

/** The environment of a rule at the node that the schema is. */
function environmentOfRules(): Environment {
  const schema = { ...hostileSchema, "x-platform-validations": [{ rule: "true" }] };
  const [rule] = rulesOf(
    parseSchema({ type: "object", properties: { spec: schema } }, "x-platform-"),
  )!.properties.get("spec")!.rules as [Rule];
  return rule.environment();
}

const places = [
  { place: "policies", environment: environmentOf(false), variable: "object" },
  { place: "rules", environment: environmentOfRules(), variable: "self" },
];

/** How often an expression is evaluated at most: other work on the machine slows down some of the evaluations. */
const maxRounds = 10;
/** An evaluation that takes so many times as long as it may isn't repeated. */
const hopeless = 5;

/**
 * The least processor time of one evaluation of an expression, in milliseconds.
 *
 * @param enoughMs no further evaluation is measured once one took less.
 */
function leastMs(expression: string, environment: Environment, variable: string, enoughMs = 0): number {
  const named = expression.replaceAll(/\bself\b/g, variable);
  const { program, faults } = compile(named, environment);
  if (program === undefined) throw new Error(faults[0]!.message);
  const bindings = bind(environment, { [variable]: hostileObject as JsonValue });
  let least = Infinity;
  for (let round = 0; round < maxRounds && least >= enoughMs; round++) {
    const startUs = process.cpuUsage().user;
    program.evaluate(bindings, Infinity);
    least = Math.min(least, (process.cpuUsage().user - startUs) / 1000);
    if (enoughMs > 0 && least > hopeless * enoughMs) break;
  }
  return least;
}

describe.each(places)("an evaluation in $place", ({ environment, variable }) => {
  const paceMs = Math.max(promisedMs, leastMs(plainExpression, environment, variable));

  test.each(hostileExpressions)("ends in the promised time for $title", ({ expression }) => {
    const limitMs = tolerance * paceMs;
    expect(leastMs(expression, environment, variable, limitMs)).toBeLessThan(limitMs);
  });
});
