import { describe, expect, test } from "vitest";
import type { JsonValue } from "../../src/base/json/value.ts";
import { bind, compile, type Environment } from "../../src/cel/compile.ts";
import { environmentOf } from "../../src/admission/policies/environment.ts";
import { Rule, rulesOf } from "../../src/kinds/custom/rule-tree.ts";
import { readSchema } from "../../src/schema/custom/schema-node.ts";
import { hostileExpressions, hostileObject, hostileSchema, plainExpression } from "./hostile-expressions.ts";

/** What `docs/cel.md` promises of one evaluation, on a machine that is fast enough. */
const promisedMs = 50;
/** Measurements vary; an expression that isn't charged for what it does takes many times as long. */
const tolerance = 2.5;

/** The environment of a rule at the node that the schema is. */
function environmentOfRules(): Environment {
  const schema = { ...hostileSchema, "x-platform-validations": [{ rule: "true" }] };
  const [rule] = rulesOf(
    readSchema({ type: "object", properties: { spec: schema } }, "x-platform-"),
  )!.properties.get("spec")!.rules as [Rule];
  return rule.environment();
}

const places = [
  { place: "policies", environment: environmentOf(false), variable: "object" },
  { place: "rules", environment: environmentOfRules(), variable: "self" },
];

/** Evaluates an expression a few times; the least processor time of one evaluation. */
function leastMs(expression: string, environment: Environment, variable: string): number {
  const named = expression.replaceAll(/\bself\b/g, variable);
  const { program, faults } = compile(named, environment);
  if (program === undefined) throw new Error(faults[0]!.message);
  const bindings = bind(environment, { [variable]: hostileObject as JsonValue });
  let least = Infinity;
  for (let round = 0; round < 3; round++) {
    const startUs = process.cpuUsage().user;
    program.evaluate(bindings, Infinity);
    least = Math.min(least, (process.cpuUsage().user - startUs) / 1000);
  }
  return least;
}

describe.each(places)("an evaluation in $place", ({ environment, variable }) => {
  const paceMs = Math.max(promisedMs, leastMs(plainExpression, environment, variable));

  test.each(hostileExpressions)("ends in the promised time for $title", ({ expression }) => {
    expect(leastMs(expression, environment, variable)).toBeLessThan(tolerance * paceMs);
  });
});
