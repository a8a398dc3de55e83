import { describe, expect, test } from "vitest";
import type { JsonValue } from "../../src/base/json/value.ts";
import { bind, compile, type Environment } from "../../src/cel/compile.ts";
import { policyEnvironment } from "../../src/admission/policies/environment.ts";
import { Rule, rulesOf } from "../../src/kinds/apiextensions/rule-tree.ts";
import { parseSchema } from "../../src/schema/custom/schema-node.ts";
import { effort } from "../support/effort.ts";
import { hostileExpressions, hostileObject, hostileSchema, plainExpression } from "./hostile-expressions.ts";

/** Maximum time of an evaluation according to `docs/cel.md`, on a fast machine. */
const promisedMs = 50;
/** Tolerance for varying measurements. An expression with a wrong cost takes many times as long. */
const tolerance = 2.5;

/** Returns the environment of a validation rule in the schema. */
function environmentOfRules(): Environment {
  const schema = { ...hostileSchema, "x-platform-validations": [{ rule: "true" }] };
  const [rule] = rulesOf(
    parseSchema({ type: "object", properties: { spec: schema } }, "x-platform-"),
  )!.properties.get("spec")!.rules as [Rule];
  return rule.environment();
}

const places = [
  { place: "policies", environment: policyEnvironment({ params: undefined }, undefined), variable: "object" },
  { place: "rules", environment: environmentOfRules(), variable: "self" },
];

/** Maximum number of evaluations of an expression: other processes slow down some of them. */
const maxRounds = 10;
/** An evaluation that takes longer than this multiple of the limit isn't repeated. */
const maxFactor = 5;

/**
 * Returns the shortest CPU time of an evaluation, in milliseconds.
 *
 * @param enoughMs stops after an evaluation that took less.
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
    if (enoughMs > 0 && least > maxFactor * enoughMs) break;
  }
  return least;
}

// In short every expression is evaluated in one of the places, which share the functions and their costs.
describe.each(places)("an evaluation in $place", ({ place, environment, variable }) => {
  const own = hostileExpressions.filter(
    (_, index) => index % places.length === places.findIndex((one) => one.place === place),
  );
  const paceMs = Math.max(promisedMs, leastMs(plainExpression, environment, variable));

  test.each(effort(own, hostileExpressions))(
    "takes at most the documented time: $title",
    ({ expression }) => {
      const limitMs = tolerance * paceMs;
      expect(leastMs(expression, environment, variable, limitMs)).toBeLessThan(limitMs);
    },
  );
});
