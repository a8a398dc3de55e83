import { ValueList, ValueMap } from "./collections.ts";
import { planLoop } from "./loops.ts";
import { unescapedFieldName } from "./field-names.ts";
import type { CelFunction, FunctionTable } from "./function-table.ts";
import { indexed, orMissing } from "./functions/operators.ts";
import { constantOf, isConstant } from "./constants.ts";
import type { Evaluation, Step } from "./step.ts";
import { ExpressionError } from "./syntax.ts";
import type { Call, Conditional, Expression, Identifier, Logical, MapLiteral, Select } from "./syntax.ts";
import { sizeOf } from "./meter.ts";
import { dyn } from "./types.ts";
import { CelMap, Fault, noOverload, TypeValue, type Value } from "./values.ts";

/** What an expression costs to make: a list, and a map. */
const listCost = 10;
const mapCost = 30;
/** Steps for putting one item into a list, as the meter counts them. */
const stepsPerItem = 4;
/** Steps for putting one entry into a map. */
const stepsPerEntry = 10;

/**
 * Turns a checked expression into functions that evaluate it. What each step costs is what the reference's interpreter counts
 * for it: a name and each selection 1, each call what its function says, `&&`, `||`, `?:` and literals nothing.
 */
export class Planner {
  /** Slots of the variables of loops, the innermost last. */
  private readonly loops: { readonly name: string; readonly slot: number }[] = [];

  /**
   * @param slots of the variables.
   * @param functions by name.
   */
  constructor(
    private readonly slots: ReadonlyMap<string, number>,
    private readonly functions: FunctionTable,
  ) {}

  plan(expression: Expression): Step {
    return this.step(expression, 1);
  }

  /** @param nameCost what the name at the beginning of a chain of selections costs; nothing in some places. */
  private step(expression: Expression, nameCost: number): Step {
    if (isConstant(expression)) {
      const value = constantOf(expression, this.functions);
      if (value instanceof Fault) throw new ExpressionError(value.message, expression.at);
      return () => value;
    }
    switch (expression.node) {
      case "identifier":
        return this.identifier(expression, nameCost);
      case "select":
        return this.select(expression, nameCost);
      case "call":
        return expression.name === "_[_]" ? this.index(expression, nameCost) : this.call(expression);
      case "list":
        return this.list(expression.items);
      case "map":
        return this.map(expression);
      case "logical":
        return this.logical(expression);
      case "conditional":
        return this.conditional(expression);
      case "comprehension":
        return this.comprehension(expression);
      case "literal":
      case "object":
        throw new Error(`${expression.node} is planned elsewhere`);
    }
  }

  private identifier({ name, names }: Identifier, nameCost: number): Step {
    if (names !== undefined) {
      const value = new TypeValue(names);
      return () => value;
    }
    const global = name.startsWith(".") ? name.slice(1) : name;
    const slot = this.loops.findLast((one) => one.name === global)?.slot ?? this.slots.get(global)!;
    return (evaluation) => {
      if (nameCost > 0) evaluation.meter.charge(nameCost);
      return evaluation.slots[slot]!;
    };
  }

  private select({ operand, field, test, qualified }: Select, nameCost: number): Step {
    if (qualified !== undefined) return this.identifier(qualified, nameCost);
    const of = this.step(operand, test ? 1 : nameCost);
    const plain = field.includes("__") ? unescapedFieldName(field) : undefined;
    if (test) return (evaluation) => presence(of(evaluation), field, plain);
    const cost = isChain(operand) || operand.node === "conditional" ? 1 : 2;
    return (evaluation) => {
      const value = of(evaluation);
      evaluation.meter.charge(cost);
      return selected(value, field, plain);
    };
  }

  private index({ args }: Call, nameCost: number): Step {
    const [operand, by] = args as [Expression, Expression];
    const of = this.step(operand, nameCost);
    const at = this.step(by, isChain(by) ? 0 : 1);
    const cost = isChain(operand) ? 1 : 2;
    return (evaluation) => {
      const value = of(evaluation);
      const index = at(evaluation);
      evaluation.meter.charge(cost);
      if (value instanceof Fault) return value;
      return index instanceof Fault ? index : indexed(value, index);
    };
  }

  private call(expression: Call): Step {
    const { target, args, name, functionName } = expression;
    const found = this.functions.get(functionName ?? name)!;
    const onValue = target !== undefined && (functionName === undefined || !functionName.includes("."));
    const all = onValue ? [target, ...args] : args;
    const type = expression.type ?? dyn;
    // Membership in a list of literals is looked up at once.
    if (name === "@in" && isListOfLiterals(args[1]!)) {
      return strict({ ...found, charge: () => undefined }, [this.plan(args[0]!), this.plan(args[1]!)], type);
    }
    return strict(
      literalRun(found, all),
      all.map((arg) => this.plan(arg)),
      type,
    );
  }

  private list(items: readonly Expression[]): Step {
    const steps = items.map((item) => this.plan(item));
    return (evaluation) => {
      const values: Value[] = [];
      // Items that are constants cost nothing.
      evaluation.meter.work(steps.length * stepsPerItem);
      for (const step of steps) {
        const value = step(evaluation);
        if (value instanceof Fault) return value;
        values.push(value);
      }
      evaluation.meter.charge(listCost);
      return new ValueList(values);
    };
  }

  private map({ entries }: MapLiteral): Step {
    const steps = entries.map(({ key, value }) => ({ key: this.plan(key), value: this.plan(value) }));
    return (evaluation) => {
      const map = new ValueMap();
      evaluation.meter.work(steps.length * stepsPerEntry);
      for (const step of steps) {
        const key = step.key(evaluation);
        if (key instanceof Fault) return key;
        const value = step.value(evaluation);
        if (value instanceof Fault) return value;
        if (!map.set(key, value)) return new Fault("unsupported key type");
      }
      evaluation.meter.charge(mapCost);
      return map;
    };
  }

  /** A fault on one side doesn't count when another side decides. */
  private logical({ operator, operands }: Logical): Step {
    const steps = operands.map((operand) => this.plan(operand));
    const deciding = operator === "or";
    return (evaluation) => {
      let fault: Fault | undefined;
      for (const step of steps) {
        evaluation.meter.work(1);
        const value = step(evaluation);
        if (value === deciding) return deciding;
        if (value === !deciding) continue;
        fault ??= value instanceof Fault ? value : noOverload;
      }
      return fault ?? !deciding;
    };
  }

  /** A branch that is a name, or a chain of selections, is charged for its selections only. */
  private conditional({ condition, whenTrue, whenFalse }: Conditional): Step {
    const test = this.plan(condition);
    const first = this.step(whenTrue, isChain(whenTrue) ? 0 : 1);
    const second = this.step(whenFalse, isChain(whenFalse) ? 0 : 1);
    return (evaluation) => {
      const value = test(evaluation);
      if (typeof value === "boolean") return value ? first(evaluation) : second(evaluation);
      return value instanceof Fault ? value : noOverload;
    };
  }

  private comprehension(expression: Extract<Expression, { node: "comprehension" }>): Step {
    const { range, variable, condition, transform, macro } = expression;
    const over = this.plan(range);
    const slot = this.slots.size + this.loops.length;
    this.loops.push({ name: variable, slot });
    const test = condition === undefined ? undefined : this.plan(condition);
    const make = transform === undefined ? undefined : this.plan(transform);
    this.loops.pop();
    return planLoop({ macro, over, slot, test, make });
  }
}

function isListOfLiterals(expression: Expression): boolean {
  return expression.node === "list" && expression.items.every(({ node }) => node === "literal");
}

/** Whether an expression is a name, or selections from one. */
function isChain(expression: Expression): boolean {
  if (isConstant(expression)) return false;
  if (expression.node === "identifier") return expression.names === undefined;
  if (expression.node === "select") return !expression.test;
  return expression.node === "call" && expression.name === "_[_]";
}

/** The function as it is run with an argument that is a literal text. */
function literalRun(found: CelFunction, args: readonly Expression[]): CelFunction {
  const { literal } = found;
  const arg = args[literal?.index ?? 0];
  if (literal?.runWith === undefined || arg?.node !== "literal" || typeof arg.value !== "string")
    return found;
  return { ...found, run: literal.runWith(arg.value) };
}

/** A call of a function that isn't called with faults. */
function strict(found: CelFunction, steps: readonly Step[], type: NonNullable<Expression["type"]>): Step {
  const { run } = found;
  const charge = chargeOf(found);
  return (evaluation) => {
    const args: Value[] = [];
    let fault: Fault | undefined;
    for (const step of steps) {
      const value = step(evaluation);
      if (value instanceof Fault) fault ??= value;
      args.push(value);
    }
    charge(evaluation, args);
    return fault ?? run(args, evaluation.meter, type);
  };
}

function chargeOf({ cost, charge }: CelFunction): (evaluation: Evaluation, args: readonly Value[]) => void {
  if (charge !== undefined) return ({ meter }, args) => charge(args, meter);
  if (cost === undefined) return ({ meter }) => meter.charge(1);
  return ({ meter }, args) => meter.charge(cost(sizeOf(args[0]!), args.length > 1 ? sizeOf(args[1]!) : 1));
}

/** @param plain what the field's name is the escaped form of, if it is one. */
function selected(value: Value, field: string, plain: string | undefined): Value {
  if (value instanceof CelMap) return orMissing(value.select(field, plain), field);
  return value instanceof Fault ? value : noOverload;
}

function presence(value: Value, field: string, plain: string | undefined): Value {
  if (value instanceof CelMap) return value.select(field, plain) !== undefined;
  return value instanceof Fault ? value : noOverload;
}
