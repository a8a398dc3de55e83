import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import { nextTurn } from "../../base/turns/yielding.ts";
import type { Bindings, Evaluated } from "../../cel/compile.ts";
import { formatFaults } from "../../cel/syntax/fault-text.ts";
import { type LazyValue, Suspension } from "../../cel/evaluation/step.ts";
import { Fault, type Value } from "../../cel/values/values.ts";
import { declaredName } from "./declared-variables.ts";
import type { NamedExpression, PolicyExpression } from "./policy-expression.ts";

/** Cost of evaluations that are repeated after a suspension, after which a budget is exhausted. */
const maxLostCost = 20_000_000;

/** The cost that is left for some expressions, in the units of the reference. */
export class CostBudget {
  private lostCost = 0;

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

  /**
   * Evaluates an expression, again after each suspension; undefined if it doesn't compile. Only the last evaluation is charged.
   *
   * @param begin called before each evaluation.
   * @returns a promise only if the evaluation is suspended.
   */
  evaluate(
    expression: PolicyExpression,
    variables: Bindings,
    begin?: () => void,
  ): MaybePromise<Evaluated | undefined> {
    begin?.();
    try {
      return this.evaluateOnce(expression, variables);
    } catch (error) {
      if (!(error instanceof Suspension)) throw error;
      this.lose(error.lostCost);
      return andThen(error.work(), () => this.evaluate(expression, variables, begin));
    }
  }

  private lose(cost: number): void {
    this.lostCost += cost;
    if (this.lostCost > maxLostCost) this.own = 0;
    this.whole?.lose(cost);
  }

  /** @throws {Suspension} the evaluation is suspended. */
  evaluateOnce({ compiled }: PolicyExpression, variables: Bindings): Evaluated | undefined {
    const { program } = compiled;
    if (program === undefined) return undefined;
    const result = program.evaluate(variables, this.remaining);
    this.charge(result.cost);
    return result;
  }
}

/** Maximum number of variables that are evaluated within each other; it limits the depth of the stack. */
const maxNesting = 8;
/** Cost of the variables after which an evaluation is suspended, so that other requests run. */
const maxCostInTurn = 1_000_000;

/**
 * The variables of one evaluation of a policy. Those that the policy declares are evaluated when an expression needs their value, once; an
 * error is their value, so that only an expression that needs the value fails.
 */
export class EvaluationVariables {
  private readonly bindings: Record<string, Value | LazyValue>;
  private nesting = 0;
  /** Cost of the variables that the current evaluation has evaluated. */
  private cost = 0;

  /**
   * @param declared the variables of the policy.
   * @param base the values of the other variables.
   */
  constructor(
    declared: readonly NamedExpression[],
    base: Bindings,
    private readonly budget: CostBudget,
  ) {
    this.bindings = { ...base };
    for (const { name, expression } of declared) {
      const key = declaredName(name);
      this.bindings[key] = () => this.evaluateNested(key, name, expression);
    }
  }

  /** Evaluates an expression of the policy; undefined if it doesn't compile. A promise only if the evaluation is suspended. */
  evaluate(expression: PolicyExpression): MaybePromise<Evaluated | undefined> {
    return this.budget.evaluate(expression, this.bindings, () => {
      this.nesting = 0;
      this.cost = 0;
    });
  }

  /** Returns the value of a variable that another expression needs. */
  private evaluateNested(key: string, name: string, expression: PolicyExpression): Value {
    const existing = this.bindings[key]!;
    if (typeof existing !== "function") return existing;
    if (this.nesting >= maxNesting || this.cost > maxCostInTurn) {
      throw new Suspension(async () => {
        await nextTurn();
        this.bindings[key] = valueOf(name, expression, await this.evaluate(expression));
      });
    }
    this.nesting++;
    const result = this.budget.evaluateOnce(expression, this.bindings);
    this.nesting--;
    this.cost += result?.cost ?? 0;
    const value = valueOf(name, expression, result);
    this.bindings[key] = value;
    return value;
  }
}

function valueOf(name: string, { compiled }: PolicyExpression, result: Evaluated | undefined): Value {
  if (result === undefined) {
    const why = formatFaults(compiled.faults ?? []);
    return new Fault(`composited variable "${name}" fails to compile: ${why}`);
  }
  if (result.outcome === "value") return result.value;
  return new Fault(`composited variable "${name}" fails to evaluate: ${result.message}`);
}
