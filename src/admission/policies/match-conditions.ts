import { createYielder } from "../../base/turns/yielding.ts";
import type { Bindings } from "../../cel/compile.ts";
import { formatFaults } from "../../cel/syntax/fault-text.ts";
import { CostBudget } from "./evaluation-variables.ts";
import type { NamedExpression } from "./policy-expression.ts";

/** Cost limit of all conditions of a policy or webhook for one request, in the units of the reference. */
const conditionBudget = 2_500_000;

/** Result of match conditions: whether all hold, or the error of one if none is false. */
export type ConditionOutcome =
  | { readonly matches: boolean; readonly error?: undefined }
  | { readonly matches?: undefined; readonly error: string };

/**
 * Evaluates match conditions, in turns with other requests. The first one that is false decides; errors count only if none is false.
 *
 * @param whole the budget of the request, which pays too.
 */
export async function checkConditions(
  conditions: readonly NamedExpression[],
  variables: Bindings,
  whole?: CostBudget,
): Promise<ConditionOutcome> {
  const budget = new CostBudget(conditionBudget, whole);
  const yieldIfDue = createYielder();
  const errors: string[] = [];
  for (const { name, expression } of conditions) {
    await yieldIfDue();
    const result = await budget.evaluate(expression, variables);
    if (result?.outcome === "value") {
      if (result.value === true) continue;
      return { matches: false };
    }
    const why = result === undefined ? formatFaults(expression.compiled.faults ?? []) : result.message;
    errors.push(`matchCondition '${name}' failed: ${why}`);
    if (budget.isExhausted) break;
  }
  return errors.length === 0 ? { matches: true } : { error: errors.join("; ") };
}
