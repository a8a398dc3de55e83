import { constantOf, isConstant } from "./constants.ts";
import type { CelFunction, FunctionTable } from "./function-table.ts";
import { loopCosts } from "./loop-costs.ts";
import { sizeOf } from "./meter.ts";
import type { Call, Comprehension, Expression } from "./syntax.ts";
import { dyn, type CelType } from "./types.ts";

/** A number that isn't known exactly. */
export interface Range {
  readonly min: number;
  readonly max: number;
}

/** What an evaluation costs, in the units of the reference. */
export type CostEstimate = Range;

/** Bytes of the largest request: no value can be larger than what is sent. */
const maxRequestBytes = 3 * 1024 * 1024;

/** What an expression costs, and how large its value is. */
interface Estimate {
  readonly cost: Range;
  readonly size: Range;
}

/** What evaluating a checked expression costs, by the sizes that its values can have. */
export function estimate(expression: Expression, functions: FunctionTable): CostEstimate {
  return new Estimator(functions).estimate(expression).cost;
}

const none: Range = { min: 0, max: 0 };

class Estimator {
  /** The sizes that the variables of the loops around can have, the innermost last. */
  private readonly loops: { readonly name: string; readonly size: Range }[] = [];

  constructor(private readonly functions: FunctionTable) {}

  estimate(expression: Expression): Estimate {
    if (isConstant(expression)) {
      const size = sizeOf(constantOf(expression, this.functions));
      return { cost: none, size: { min: size, max: size } };
    }
    const size = sizesOf(expression.type ?? dyn);
    switch (expression.node) {
      case "identifier": {
        const loop = this.loops.findLast(({ name }) => name === expression.name);
        return { cost: expression.names === undefined ? { min: 0, max: 1 } : none, size: loop?.size ?? size };
      }
      case "select": {
        if (expression.qualified !== undefined) return { cost: { min: 0, max: 1 }, size };
        const operand = this.estimate(expression.operand).cost;
        return { cost: expression.test ? operand : plus(operand, { min: 1, max: 2 }), size };
      }
      case "call":
        return this.call(expression, size);
      case "list":
        return { cost: plus(this.all(expression.items), fixed(10)), size: fixed(expression.items.length) };
      case "map": {
        const parts = expression.entries.flatMap(({ key, value }) => [key, value]);
        return { cost: plus(this.all(parts), fixed(30)), size: fixed(expression.entries.length) };
      }
      case "logical": {
        const costs = expression.operands.map((operand) => this.estimate(operand).cost);
        return { cost: { min: costs[0]!.min, max: sum(costs.map(({ max }) => max)) }, size };
      }
      case "conditional": {
        const [first, second] = [this.estimate(expression.whenTrue), this.estimate(expression.whenFalse)];
        const cost = plus(this.estimate(expression.condition).cost, either(first.cost, second.cost));
        return { cost, size: either(first.size, second.size) };
      }
      case "comprehension":
        return this.comprehension(expression);
      default:
        return { cost: none, size };
    }
  }

  private all(expressions: readonly Expression[]): Range {
    return expressions.map((one) => this.estimate(one).cost).reduce(plus, none);
  }

  private call({ name, functionName, target, args }: Call, size: Range): Estimate {
    const found = this.functions.get(functionName ?? name)!;
    const all = target === undefined || functionName !== undefined ? args : [target, ...args];
    const estimates = all.map((arg) => this.estimate(arg));
    const [first = fixed(1), second = fixed(1)] = estimates.map((one) => one.size);
    const own = name === "_[_]" ? { min: 1, max: 2 } : callCost(found, first, second, all[0]?.type ?? dyn);
    const cost = estimates.map((one) => one.cost).reduce(plus, own);
    const rule = found.resultSize;
    if (rule === undefined) return { cost, size };
    return { cost, size: { min: 0, max: rule(first.max, second.max) } };
  }

  private comprehension({ macro, range, variable, condition, transform }: Comprehension): Estimate {
    const over = this.estimate(range);
    this.loops.push({ name: variable, size: itemSizes(range.type ?? dyn) });
    const test = condition === undefined ? none : this.estimate(condition).cost;
    const made = transform === undefined ? none : this.estimate(transform).cost;
    this.loops.pop();
    const { each, taken, end } = loopCosts[macro];
    // Loops of `all` and `exists` may end at the first item, and all may fault there.
    const turns = { min: Math.min(over.size.min, 1), max: over.size.max };
    const perTurn = {
      min: each + test.min,
      max: each + test.max + taken + made.max,
    };
    const cost = {
      min: over.cost.min + turns.min * perTurn.min,
      max: over.cost.max + times(turns.max, perTurn.max) + end,
    };
    return { cost, size: { min: 0, max: over.size.max } };
  }
}

/** What one call costs beside its arguments. */
function callCost({ cost, goesThrough }: CelFunction, first: Range, second: Range, type: CelType): Range {
  if (goesThrough === true) return { min: 0, max: times(first.max, traversalOfItem(type)) };
  if (cost === undefined) return fixed(1);
  return { min: cost(first.min, second.min), max: cost(first.max, second.max) };
}

/** What going through an item of a list, or a character of a text, costs at most. */
function traversalOfItem(type: CelType): number {
  if (type.is === "string" || type.is === "bytes") return 0.1;
  const item = type.is === "list" ? type.element : dyn;
  if (item.is === "list") return times(sizesOf(item).max, traversalOfItem(item));
  return item.is === "string" || item.is === "bytes" ? Math.ceil(sizesOf(item).max * 0.1) : 1;
}

/** The sizes that values of a type can have. */
function sizesOf(type: CelType): Range {
  if ("maxSize" in type && type.maxSize !== undefined) return { min: 0, max: type.maxSize };
  switch (type.is) {
    case "string":
    case "bytes":
      return { min: 0, max: maxRequestBytes - 2 };
    case "list":
      return { min: 0, max: Math.floor(maxRequestBytes / (leastBytes(type.element) + 1)) };
    case "map":
      return {
        min: 0,
        max: Math.floor(maxRequestBytes / (leastBytes(type.key) + leastBytes(type.value) + 2)),
      };
    case "dyn":
    case "parameter":
      return { min: 0, max: maxRequestBytes };
    case "object":
      return { min: 0, max: Math.max(1, type.fields.size) };
    default:
      return fixed(1);
  }
}

function itemSizes(type: CelType): Range {
  if (type.is === "list") return sizesOf(type.element);
  return sizesOf(type.is === "map" ? type.key : dyn);
}

/** Bytes of the shortest JSON of a type's values. */
function leastBytes({ is }: CelType): number {
  switch (is) {
    case "string":
    case "bytes":
    case "list":
    case "map":
    case "object":
      return 2;
    case "bool":
    case "null":
      return 4;
    case "timestamp":
      return 22;
    default:
      return 1;
  }
}

function fixed(value: number): Range {
  return { min: value, max: value };
}

function plus(one: Range, other: Range): Range {
  return { min: one.min + other.min, max: one.max + other.max };
}

function either(one: Range, other: Range): Range {
  return { min: Math.min(one.min, other.min), max: Math.max(one.max, other.max) };
}

function times(one: number, other: number): number {
  return one === 0 || other === 0 ? 0 : one * other;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
