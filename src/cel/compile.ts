import { check } from "./checking/checker.ts";
import type { Checked } from "./checking/scope.ts";
import { estimate, type CostEstimate } from "./costs/estimate.ts";
import { valueOfJson } from "./values/json-values.ts";
import { referenceLanguage, type Language } from "./libraries.ts";
import { CostExceeded, Meter } from "./costs/meter.ts";
import { parse } from "./syntax/parser.ts";
import { Planner } from "./evaluation/plan.ts";
import { type LazyValue, type Step, Suspension } from "./evaluation/step.ts";
import { ExpressionError, type Expression, type ExpressionFault } from "./syntax/syntax.ts";
import { sameType } from "./types/assignability.ts";
import { typeText, type CelType, type ObjectType } from "./types/types.ts";
import { Fault, type Value } from "./values/values.ts";
import type { JsonValue } from "../base/json/value.ts";

/** Cost limit of one evaluation, as in Kubernetes. */
const maxCallCost = 1_000_000;

/** Error messages are truncated to this length. */
const maxMessageLength = 500;

/** Variables and result type of an expression. */
export interface Environment {
  /** Variables with their types. */
  readonly variables: ReadonlyMap<string, CelType>;
  /** Variables that are fields of a variable, such as `variables.a`: their selection counts for the cost. */
  readonly fields?: ReadonlySet<string>;
  /** Required result type; absent for any. */
  readonly result?: CelType;
  /** Whether list and map literals may mix types; the default is false. */
  readonly mixedLiterals?: boolean;
  /** Returns the type of objects that the expression constructs; absent if it can't construct any. */
  readonly constructed?: (name: string) => ObjectType | undefined;
  /** What the expression may use; the default is that of the reference release. */
  readonly language?: Language;
}

/** A compiled expression, or its errors. */
export type Compiled =
  | { readonly program: Program; readonly faults?: undefined }
  | { readonly program?: undefined; readonly faults: readonly ExpressionFault[] };

/** Result and cost of an evaluation. */
export type Evaluated = { readonly cost: number } & (
  | { readonly outcome: "value"; readonly value: Value }
  | { readonly outcome: "fault"; readonly message: string }
  | { readonly outcome: "cost exceeded"; readonly message: string }
);

/** A compiled expression; it can be used by concurrent requests. */
export interface Program {
  readonly type: CelType;
  /** Variables that the expression uses. */
  readonly variables: ReadonlySet<string>;
  /**
   * Estimates the cost of an evaluation; see {@link estimate}.
   *
   * @param root the type of all variables; `unknown` if nothing limits their sizes.
   */
  estimateCost(root: CelType | "unknown"): CostEstimate;
  /**
   * Evaluates the expression synchronously.
   *
   * @throws {Suspension} a lazy variable or a function suspends the evaluation.
   *
   * @param variables values by name; see {@link bind}.
   * @param budget cost limit in the units of Kubernetes; {@link maxCallCost} also applies.
   */
  evaluate(variables: Bindings, budget: number): Evaluated;
}

/** Values of variables; they can be shared by programs. */
export type Bindings = Readonly<Record<string, Value | LazyValue>>;

/**
 * Converts JSON to the values of the variables. Nothing is copied, so the JSON must not change during evaluations. A missing
 * variable is null.
 */
export function bind({ variables }: Environment, json: Readonly<Record<string, JsonValue>>): Bindings {
  const bindings: Record<string, Value> = {};
  for (const [name, type] of variables) {
    const input = json[name];
    bindings[name] = input === undefined ? null : valueOfJson(input, type);
  }
  return bindings;
}

/** Compiles an expression: parses it, checks its types, and plans its evaluation. Takes about 20 to 100 microseconds. */
export function compile(text: string, environment: Environment): Compiled {
  try {
    const checkedText = parseAndCheck(text, environment);
    const { type } = checkedText;
    const { result } = environment;
    if (result !== undefined && !sameType(type, result)) {
      throw new ExpressionError(`must evaluate to ${typeText(result)}, not ${typeText(type)}`, 0);
    }
    return { program: new PlannedProgram(checkedText, text, environment) };
  } catch (error) {
    if (error instanceof ExpressionError) return { faults: [locateFault(error, text)] };
    throw error;
  }
}

function parseAndCheck(
  text: string,
  { variables, mixedLiterals = false, language = referenceLanguage, constructed }: Environment,
): Checked & { readonly expression: Expression } {
  const { functions, features } = language;
  const expression = parse(text, features);
  return {
    expression,
    ...check(expression, { variables, functions, features, uniformLiterals: !mixedLiterals, constructed }),
  };
}

const noFields: ReadonlySet<string> = new Set();

class PlannedProgram implements Program {
  private readonly names: readonly string[];
  private readonly step: Step;
  /** The checked tree. It isn't kept, because most programs are estimated where they are compiled, or never. */
  private readonly tree: WeakRef<Expression>;

  readonly type: CelType;
  readonly variables: ReadonlySet<string>;

  constructor(
    { expression, type, variables }: ReturnType<typeof parseAndCheck>,
    private readonly text: string,
    private readonly environment: Environment,
  ) {
    this.type = type;
    this.variables = variables;
    this.tree = new WeakRef(expression);
    this.names = [...environment.variables.keys()];
    const slots = new Map(this.names.map((name, slot) => [name, slot]));
    const { functions } = environment.language ?? referenceLanguage;
    this.step = new Planner(slots, functions, environment.fields ?? noFields).plan(expression);
  }

  estimateCost(root: CelType | "unknown"): CostEstimate {
    const { features } = this.environment.language ?? referenceLanguage;
    const expression = this.tree.deref() ?? parseAndCheck(this.text, this.environment).expression;
    return estimate(expression, root, features);
  }

  evaluate(variables: Bindings, budget: number): Evaluated {
    const meter = new Meter(Math.min(budget, maxCallCost));
    const slots: (Value | LazyValue)[] = [];
    for (const name of this.names) slots.push(variables[name] ?? null);
    try {
      const value = this.step({ meter, slots });
      if (value instanceof Fault) return { outcome: "fault", message: value.message, cost: meter.cost };
      return { outcome: "value", value, cost: meter.cost };
    } catch (error) {
      if (error instanceof Suspension) error.lostCost += meter.cost;
      if (!(error instanceof CostExceeded)) throw error;
      return { outcome: "cost exceeded", message: error.message, cost: meter.cost };
    }
  }
}

function locateFault({ message, at }: ExpressionError, text: string): ExpressionFault {
  const preceding = text.slice(0, at);
  const lineStart = preceding.lastIndexOf("\n") + 1;
  return {
    message: message.slice(0, maxMessageLength),
    line: preceding.split("\n").length,
    column: at - lineStart + 1,
  };
}
