import { ValueList, ValueMap } from "../values/collections.ts";
import { planLoop } from "./loops.ts";
import { reservedField, unescapedFieldName } from "../types/field-names.ts";
import { chargeOf, type CelFunction, type FunctionTable } from "../functions/function-table.ts";
import { indexValue, valueOrMissingKey } from "../functions/operators.ts";
import { constantOf, isConstant } from "./constants.ts";
import { planObject } from "./object-literals.ts";
import type { Step } from "./step.ts";
import { ExpressionError, selectionFunctions } from "../syntax/syntax.ts";
import type {
  Call,
  Conditional,
  Expression,
  Identifier,
  ListLiteral,
  Literal,
  Logical,
  MapLiteral,
  OptionalMap,
  Select,
} from "../syntax/syntax.ts";
import { dyn } from "../types/types.ts";
import { chargePresent, optionalField, optionalItem, optionalList, presentValue } from "./optional-access.ts";
import { CelMap, Fault, noOverload, Optional, TypeValue, type Value } from "../values/values.ts";

/** Cost of list and map literals. */
const listCost = 10;
const mapCost = 30;
/** Meter steps per item of a list literal. */
const stepsPerItem = 4;
/** Meter steps per entry of a map literal. */
const stepsPerEntry = 10;

/**
 * Converts a checked expression to functions that evaluate it. The cost is that of the interpreter of Kubernetes: 1 for a name and
 * for each selection; the cost of its function for a call; nothing for `&&`, `||`, `?:` and literals.
 */
export class Planner {
  /** Slots of loop variables, innermost last. */
  private readonly loops: { readonly name: string; readonly slot: number }[] = [];

  /**
   * @param slots slots of the variables by name.
   * @param functions functions by name.
   * @param fields variables that are fields of another one; see `Environment`.
   */
  constructor(
    private readonly slots: ReadonlyMap<string, number>,
    private readonly functions: FunctionTable,
    private readonly fields: ReadonlySet<string>,
  ) {}

  plan(expression: Expression): Step {
    return this.step(expression, 1);
  }

  /** @param nameCost cost of the name at the start of a chain of selections: 1 or 0. */
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
        return this.callOrIndex(expression, nameCost);
      case "list":
        return this.list(expression);
      case "map":
        return this.map(expression);
      case "logical":
        return this.logical(expression);
      case "conditional":
        return this.conditional(expression);
      case "comprehension":
        return this.comprehension(expression);
      case "optional map":
        return this.optionalMap(expression);
      case "object":
        return planObject(expression, (value) => this.plan(value));
      case "literal":
        throw new Error(`${expression.node} must be planned by its parent`);
    }
  }

  private identifier({ name, names }: Identifier, nameCost: number): Step {
    if (names !== undefined) {
      const value = new TypeValue(names);
      return () => value;
    }
    const global = name.startsWith(".") ? name.slice(1) : name;
    const slot = this.loops.findLast((one) => one.name === global)?.slot ?? this.slots.get(global)!;
    const cost = this.fields.has(global) ? nameCost + 1 : nameCost;
    return (evaluation) => {
      if (cost > 0) evaluation.meter.charge(cost);
      const value = evaluation.slots[slot]!;
      return typeof value === "function" ? value() : value;
    };
  }

  private select(expression: Select, nameCost: number): Step {
    const { operand, test, qualified } = expression;
    if (qualified !== undefined) return this.identifier(qualified, nameCost);
    const field = declaredField(operand, expression.field);
    const of = this.step(operand, test ? 1 : nameCost);
    const plain = plainName(field);
    if (test) return (evaluation) => presence(of(evaluation), field, plain);
    const cost = isSelectionChain(operand) || operand.node === "conditional" ? 1 : 2;
    return (evaluation) => {
      const value = of(evaluation);
      if (value instanceof Optional)
        return chargePresent(optionalField(value, field, plain), cost, evaluation);
      evaluation.meter.charge(cost);
      return selectField(value, field, plain);
    };
  }

  private callOrIndex(call: Call, nameCost: number): Step {
    switch (call.name) {
      case "_[_]":
      case "_[?_]":
        return this.index(call, nameCost);
      case "_?._":
        return this.optionalSelect(call, nameCost);
      default:
        return this.call(call);
    }
  }

  /** A selection of a field that may be absent; only the selection of a present one is charged. */
  private optionalSelect({ args }: Call, nameCost: number): Step {
    const [operand, { value: name }] = args as [Expression, Literal & { readonly value: string }];
    const field = declaredField(operand, name);
    const of = this.step(operand, nameCost);
    const plain = plainName(field);
    const cost = isSelectionChain(operand) ? 1 : 2;
    return (evaluation) => {
      const value = of(evaluation);
      return chargePresent(optionalField(value, field, plain), cost, evaluation);
    };
  }

  /** Plans `a[b]` or `a[?b]`; of an optional item, only the access to a present one is charged. */
  private index({ name, args }: Call, nameCost: number): Step {
    const [operand, by] = args as [Expression, Expression];
    const of = this.step(operand, nameCost);
    const at = this.step(by, isSelectionChain(by) ? 0 : 1);
    const cost = isSelectionChain(operand) ? 1 : 2;
    const hasMark = name === "_[?_]";
    return (evaluation) => {
      const value = of(evaluation);
      const index = at(evaluation);
      if ((hasMark || value instanceof Optional) && !(index instanceof Fault)) {
        return chargePresent(optionalItem(value, index), cost, evaluation);
      }
      if (!hasMark) evaluation.meter.charge(cost);
      if (value instanceof Fault) return value;
      return index instanceof Fault ? index : indexValue(value, index);
    };
  }

  private call(expression: Call): Step {
    const { target, args, name, functionName } = expression;
    const definition = this.functions.get(functionName ?? name)!;
    const onValue = target !== undefined && (functionName === undefined || !functionName.includes("."));
    const all = onValue ? [target, ...args] : args;
    const type = expression.type ?? dyn;
    if (definition.lazy === true) return this.lazyCall(definition, all as [Expression, Expression]);
    // `in` with a list of literals costs 1.
    if (name === "@in" && isListOfLiterals(args[1]!)) {
      return planCall(
        { ...definition, charge: () => undefined },
        [this.plan(args[0]!), this.plan(args[1]!)],
        type,
      );
    }
    return planCall(
      specializeForLiteral(definition, all),
      all.map((arg) => this.plan(arg)),
      type,
    );
  }

  /** Plans a call whose second argument is only evaluated if the optional receiver has no value; nothing is charged for it. */
  private lazyCall({ run }: CelFunction, [receiver, alternative]: [Expression, Expression]): Step {
    const [first, second] = [this.plan(receiver), this.plan(alternative)];
    return (evaluation) => {
      const value = first(evaluation);
      if (value instanceof Fault) return value;
      if (value instanceof Optional && value.value === undefined) return second(evaluation);
      return run([value], evaluation.meter, dyn);
    };
  }

  private list({ items, optional }: ListLiteral): Step {
    const steps = items.map((item) => this.plan(item));
    if (optional.size > 0) return optionalList(steps, optional);
    return (evaluation) => {
      const values: Value[] = [];
      // Constant items cost nothing.
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
    const steps = entries.map(({ key, value, optional }) => {
      return { key: this.plan(key), value: this.plan(value), optional };
    });
    return (evaluation) => {
      const map = new ValueMap();
      evaluation.meter.work(steps.length * stepsPerEntry);
      for (const step of steps) {
        const key = step.key(evaluation);
        if (key instanceof Fault) return key;
        const value = step.value(evaluation);
        if (value instanceof Fault) return value;
        const present = step.optional ? presentValue(value) : value;
        if (present === undefined) continue;
        if (present instanceof Fault) return present;
        if (!map.set(key, present)) return new Fault("unsupported key type");
      }
      evaluation.meter.charge(mapCost);
      return map;
    };
  }

  /** Plans `&&` and `||`. A fault of one operand is ignored if another operand decides the result. */
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

  /** Plans `?:`. For a branch that is a name or a chain of selections, only the selections are charged. */
  private conditional({ condition, whenTrue, whenFalse }: Conditional): Step {
    const test = this.plan(condition);
    const first = this.step(whenTrue, isSelectionChain(whenTrue) ? 0 : 1);
    const second = this.step(whenFalse, isSelectionChain(whenFalse) ? 0 : 1);
    return (evaluation) => {
      const value = test(evaluation);
      if (typeof value === "boolean") return value ? first(evaluation) : second(evaluation);
      return value instanceof Fault ? value : noOverload;
    };
  }

  private comprehension(expression: Extract<Expression, { node: "comprehension" }>): Step {
    const { range, variable, second, condition, transform, macro } = expression;
    const over = this.plan(range);
    const slot = this.nextSlot;
    this.loops.push({ name: variable, slot });
    if (second !== undefined) this.loops.push({ name: second, slot: slot + 1 });
    const test = condition === undefined ? undefined : this.plan(condition);
    const make = transform === undefined ? undefined : this.plan(transform);
    this.loops.length = slot - this.slots.size;
    return planLoop({ macro, over, slot, hasSecond: second !== undefined, test, make });
  }

  private get nextSlot(): number {
    return this.slots.size + this.loops.length;
  }

  /** As in the reference, the target is evaluated twice: for the condition, and for the value. */
  private optionalMap({ target, variable, transform, flat }: OptionalMap): Step {
    const of = this.plan(target);
    const slot = this.nextSlot;
    this.loops.push({ name: variable, slot });
    const make = this.plan(transform);
    this.loops.pop();
    return (evaluation) => {
      const { meter, slots } = evaluation;
      const value = of(evaluation);
      meter.charge(1);
      if (!(value instanceof Optional)) return value instanceof Fault ? value : noOverload;
      meter.charge(1);
      if (value.value === undefined) return Optional.none;
      of(evaluation);
      slots[slot] = value.value;
      const result = make(evaluation);
      if (flat) return result instanceof Optional || result instanceof Fault ? result : noOverload;
      meter.charge(1);
      return result instanceof Fault ? result : new Optional(result);
    };
  }
}

function isListOfLiterals(expression: Expression): boolean {
  return expression.node === "list" && expression.items.every(({ node }) => node === "literal");
}

/** Whether an expression is a name or selections from a name. */
function isSelectionChain(expression: Expression): boolean {
  if (isConstant(expression)) return false;
  if (expression.node === "identifier") return expression.names === undefined;
  if (expression.node === "select") return !expression.test;
  return expression.node === "call" && selectionFunctions.has(expression.name);
}

/** Returns the name of a declared field in the type of an operand: `__namespace__` for `namespace`. */
function declaredField({ type = dyn }: Expression, field: string): string {
  const declared = type.is === "optional" ? type.of : type;
  if (declared.is !== "object" || declared.fields.has(field)) return field;
  return reservedField(declared, field) === undefined ? field : `__${field}__`;
}

/** Returns the unescaped field name, if the name is escaped. */
function plainName(field: string): string | undefined {
  return field.includes("__") ? unescapedFieldName(field) : undefined;
}

/** Specializes a function for a string literal argument. */
function specializeForLiteral(definition: CelFunction, args: readonly Expression[]): CelFunction {
  const { literal } = definition;
  const arg = args[literal?.index ?? 0];
  if (literal?.runWith === undefined || arg?.node !== "literal" || typeof arg.value !== "string")
    return definition;
  return { ...definition, run: literal.runWith(arg.value) };
}

/** Plans a call; if an argument is a fault, the call returns it. */
function planCall(
  definition: CelFunction,
  steps: readonly Step[],
  type: NonNullable<Expression["type"]>,
): Step {
  const { run } = definition;
  const charge = chargeOf(definition);
  return (evaluation) => {
    const args: Value[] = [];
    let fault: Fault | undefined;
    for (const step of steps) {
      const value = step(evaluation);
      if (value instanceof Fault) fault ??= value;
      args.push(value);
    }
    charge(args, evaluation.meter);
    return fault ?? run(args, evaluation.meter, type);
  };
}

/** @param plain the unescaped field name, if the name is escaped. */
function selectField(value: Value, field: string, plain: string | undefined): Value {
  if (value instanceof CelMap) return valueOrMissingKey(value.select(field, plain), field);
  return value instanceof Fault ? value : noOverload;
}

function presence(value: Value, field: string, plain: string | undefined): Value {
  if (value instanceof CelMap) return value.select(field, plain) !== undefined;
  if (value instanceof Optional) return value.value !== undefined && presence(value.value, field, plain);
  return value instanceof Fault ? value : noOverload;
}
