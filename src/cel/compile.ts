import { check, type Checked } from "./checker.ts";
import { estimate, type CostEstimate } from "./estimate.ts";
import { valueOfJson } from "./json-values.ts";
import { functions } from "./libraries.ts";
import { CostExceeded, Meter } from "./meter.ts";
import { parse } from "./parser.ts";
import { Planner } from "./plan.ts";
import type { Step } from "./step.ts";
import { ExpressionError, type Expression, type ExpressionFault } from "./syntax.ts";
import { sameType } from "./assignability.ts";
import { typeText, type CelType } from "./types.ts";
import { Fault, type Value } from "./values.ts";
import type { JsonValue } from "../base/json/value.ts";

/** The most that one evaluation of one expression may cost, as in the reference. */
const maxCallCost = 1_000_000;

/** Names in an expression may be long; what is said of them isn't. */
const maxMessageLength = 500;

/** What an expression is compiled for. */
export interface Environment {
  /** The variables, with their types. */
  readonly variables: ReadonlyMap<string, CelType>;
  /** The type that the expression must have; absent where any will do. */
  readonly result?: CelType;
  /** Whether lists and maps that the expression makes may mix types; they may not, unless said. */
  readonly mixedLiterals?: boolean;
}

/** An expression that compiled, or what is wrong with it. */
export type Compiled =
  | { readonly program: Program; readonly faults?: undefined }
  | { readonly program?: undefined; readonly faults: readonly ExpressionFault[] };

/** What became of an evaluation, and what it cost. */
export type Evaluated = { readonly cost: number } & (
  | { readonly outcome: "value"; readonly value: Value }
  | { readonly outcome: "fault"; readonly message: string }
  | { readonly outcome: "cost exceeded"; readonly message: string }
);

/** An expression that can be evaluated, by any number of requests at the same time. */
export interface Program {
  readonly type: CelType;
  /** The variables of the environment that the expression names. */
  readonly variables: ReadonlySet<string>;
  /**
   * What an evaluation is estimated to cost; see {@link estimate}.
   *
   * @param root the type of the variables, of which all have the same.
   */
  estimateCost(root: CelType): CostEstimate;
  /**
   * Evaluates the expression, in one go.
   *
   * @param variables values of the environment's variables, by their names; made by {@link bind}.
   * @param budget what it may cost, in the units of the reference. Never more than {@link maxCallCost} is spent.
   */
  evaluate(variables: Bindings, budget: number): Evaluated;
}

/** Values of variables. Several programs may be given the same ones. */
export type Bindings = Readonly<Record<string, Value>>;

/**
 * Makes values of JSON values for the variables of an environment. Nothing is copied: the JSON must stay as it is meanwhile.
 * A variable that is missing is null.
 */
export function bind({ variables }: Environment, json: Readonly<Record<string, JsonValue>>): Bindings {
  const bindings: Record<string, Value> = {};
  for (const [name, type] of variables) {
    const given = json[name];
    bindings[name] = given === undefined ? null : valueOfJson(given, type);
  }
  return bindings;
}

/** Compiles an expression: reads it, checks its types, and plans its evaluation. Takes some 20 to 100 microseconds. */
export function compile(text: string, environment: Environment): Compiled {
  try {
    const checkedText = checked(text, environment);
    const { type } = checkedText;
    const { result } = environment;
    if (result !== undefined && !sameType(type, result)) {
      throw new ExpressionError(`must evaluate to ${typeText(result)}, not ${typeText(type)}`, 0);
    }
    return { program: new PlannedProgram(checkedText, text, environment) };
  } catch (error) {
    if (error instanceof ExpressionError) return { faults: [faultAt(error, text)] };
    throw error;
  }
}

function checked(
  text: string,
  { variables, mixedLiterals = false }: Environment,
): Checked & { readonly expression: Expression } {
  const expression = parse(text);
  return { expression, ...check(expression, { variables, functions, uniformLiterals: !mixedLiterals }) };
}

class PlannedProgram implements Program {
  private readonly names: readonly string[];
  private readonly step: Step;

  readonly type: CelType;
  readonly variables: ReadonlySet<string>;

  constructor(
    { expression, type, variables }: ReturnType<typeof checked>,
    private readonly text: string,
    private readonly environment: Environment,
  ) {
    this.type = type;
    this.variables = variables;
    this.names = [...environment.variables.keys()];
    const slots = new Map(this.names.map((name, slot) => [name, slot]));
    this.step = new Planner(slots, functions).plan(expression);
  }

  /** Reads the expression again, as few ask for it: it isn't kept. */
  estimateCost(root: CelType): CostEstimate {
    return estimate(checked(this.text, this.environment).expression, root);
  }

  evaluate(variables: Bindings, budget: number): Evaluated {
    const meter = new Meter(Math.min(budget, maxCallCost));
    const slots: Value[] = [];
    for (const name of this.names) slots.push(variables[name] ?? null);
    try {
      const value = this.step({ meter, slots });
      if (value instanceof Fault) return { outcome: "fault", message: value.message, cost: meter.cost };
      return { outcome: "value", value, cost: meter.cost };
    } catch (error) {
      if (!(error instanceof CostExceeded)) throw error;
      return { outcome: "cost exceeded", message: error.message, cost: meter.cost };
    }
  }
}

function faultAt({ message, at }: ExpressionError, text: string): ExpressionFault {
  const before = text.slice(0, at);
  const lineStart = before.lastIndexOf("\n") + 1;
  return {
    message: message.slice(0, maxMessageLength),
    line: before.split("\n").length,
    column: at - lineStart + 1,
  };
}
