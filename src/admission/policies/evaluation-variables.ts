import type { Bindings, Evaluated } from "../../cel/compile.ts";
import { declaredName } from "./declared-variables.ts";
import { formatFaults } from "../../cel/fault-text.ts";
import { Fault, type Value } from "../../cel/values.ts";
import type { PolicyExpression } from "./policy-expression.ts";
import type { Policy } from "./policy.ts";

/** The cost that is left for some expressions, in the units of the reference. */
export class CostBudget {
  /** @param whole a budget of which this one is a part: it pays too. */
  constructor(
    private own: number,
    private readonly whole?: CostBudget,
  ) {}

  get isExhausted(): boolean {
    return this.remaining <= 0;
  }

  private get remaining(): number {
    return Math.min(this.own, this.whole?.remaining ?? Infinity);
  }

  private charge(cost: number): void {
    this.own -= cost;
    this.whole?.charge(cost);
  }

  /** Evaluates an expression; undefined if it doesn't compile. */
  evaluate({ compiled }: PolicyExpression, variables: Bindings): Evaluated | undefined {
    const { program } = compiled;
    if (program === undefined) return undefined;
    const result = program.evaluate(variables, this.remaining);
    this.charge(result.cost);
    return result;
  }
}

/**
 * The variables of one evaluation of a policy. Those that the policy declares are evaluated when an expression uses them, once; an error is
 * their value, so that only an expression that needs the value fails.
 */
export class EvaluationVariables {
  private readonly values: Record<string, Value>;

  /** @param base the values of the other variables. */
  constructor(
    private readonly policy: Policy,
    base: Bindings,
    private readonly budget: CostBudget,
  ) {
    this.values = { ...base };
  }

  /** Evaluates an expression of the policy; undefined if it doesn't compile. */
  evaluate(expression: PolicyExpression): Evaluated | undefined {
    this.provide(expression);
    return this.budget.evaluate(expression, this.values);
  }

  /** Evaluates the declared variables that an expression uses, and those that they use. */
  private provide({ compiled }: PolicyExpression): void {
    for (const used of compiled.program?.variables ?? []) {
      if (!used.startsWith(declaredPrefix) || Object.hasOwn(this.values, used)) continue;
      const name = used.slice(declaredPrefix.length);
      const declared = this.policy.variables.find((one) => one.name === name);
      // A variable uses only those before it, so the recursion ends.
      if (declared !== undefined) this.values[used] = this.valueOf(name, declared.expression);
    }
  }

  private valueOf(name: string, expression: PolicyExpression): Value {
    const result = this.evaluate(expression);
    if (result === undefined) {
      const why = formatFaults(expression.compiled.faults ?? []);
      return new Fault(`composited variable "${name}" fails to compile: ${why}`);
    }
    if (result.outcome === "value") return result.value;
    return new Fault(`composited variable "${name}" fails to evaluate: ${result.message}`);
  }
}

const declaredPrefix = declaredName("");
