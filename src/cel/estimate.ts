import { estimateCall, type ArgumentEstimate } from "./call-estimates.ts";
import { anything, either, fixed, plus, times, zero, type Range } from "./ranges.ts";
import type { Call, Comprehension, Expression, Literal, Logical, Macro, Select } from "./syntax.ts";
import { dyn, type CelType } from "./types.ts";

/** Cost of an evaluation in the units of Kubernetes. */
export type CostEstimate = Range;

/**
 * The declared type of a value, as far as the estimator of Kubernetes follows it; `unknown` if the type of the variables has no such
 * part.
 */
type DeclaredType = CelType | "unknown";

/** Estimate of a part of an expression. */
interface Estimate {
  readonly cost: Range;
  /** Undefined for values that aren't selected from a variable. */
  readonly declared?: DeclaredType | undefined;
  /** The size if the expression determines it. */
  readonly size?: Range | undefined;
}

/**
 * Estimates the cost of a checked expression from the maximum sizes in the type of the variables. It reproduces the estimator of
 * Kubernetes including its inaccuracies, because the estimate decides whether a definition is accepted: values without declared
 * type have any size, and a selection from such a value is treated as the variable itself.
 *
 * @param root the type of all variables.
 */
export function estimate(expression: Expression, root: CelType): CostEstimate {
  return new Estimator(root).estimate(expression).cost;
}

/** Cost of a macro besides condition and transformation: per iteration (`iteration`), and once per loop. */
interface LoopEstimate {
  readonly iteration: number;
  readonly loop: number;
  /** Cost of an accepted item besides its transformation; undefined for macros that don't collect items. */
  readonly accepted?: number;
}

const loopEstimates: Readonly<Record<Macro, LoopEstimate>> = {
  all: { iteration: 3, loop: 1 },
  exists: { iteration: 4, loop: 1 },
  exists_one: { iteration: 0, loop: 2, accepted: 2 },
  map: { iteration: 0, loop: 11, accepted: 12 },
  filter: { iteration: 0, loop: 11, accepted: 13 },
};

const one = fixed(1);

class Estimator {
  /** Variables of the enclosing loops, innermost last. */
  private readonly loops: { readonly name: string; readonly declared: DeclaredType | undefined }[] = [];

  constructor(private readonly root: CelType) {}

  estimate(expression: Expression): Estimate {
    switch (expression.node) {
      case "literal":
        return { cost: zero, size: fixed(literalSize(expression)) };
      case "identifier": {
        const loop = this.loops.findLast(({ name }) => name === expression.name);
        return { cost: one, declared: loop === undefined ? this.root : loop.declared };
      }
      case "select":
        return this.select(expression);
      case "call":
        return this.call(expression);
      case "list":
        return { cost: this.sum(expression.items, 10), size: fixed(expression.items.length) };
      case "map": {
        const parts = expression.entries.flatMap(({ key, value }) => [key, value]);
        return { cost: this.sum(parts, 30), size: fixed(expression.entries.length) };
      }
      case "logical":
        return this.logical(expression);
      case "conditional": {
        const [first, second] = [this.estimate(expression.whenTrue), this.estimate(expression.whenFalse)];
        return {
          cost: plus(this.estimate(expression.condition).cost, either(first.cost, second.cost)),
          size: either(sizeOf(first, expression.whenTrue), sizeOf(second, expression.whenFalse)),
        };
      }
      case "comprehension":
        return this.comprehension(expression);
      case "object":
        throw new Error("object literals are not supported");
    }
  }

  private sum(parts: readonly Expression[], own: number): Range {
    return parts.map((part) => this.estimate(part).cost).reduce(plus, fixed(own));
  }

  /** `has()` and selections from dynamic values cost nothing. */
  private select({ operand, field, test, qualified }: Select): Estimate {
    if (qualified !== undefined) return { cost: one, declared: this.root };
    if (test) return { cost: zero };
    const of = this.estimate(operand);
    const { is } = operand.type ?? dyn;
    const cost = is === "map" || is === "object" ? plus(of.cost, one) : of.cost;
    return { cost, declared: this.partType(of.declared, field) };
  }

  private call({ name, functionName, target, args, forms = [] }: Call): Estimate {
    const all = target === undefined || functionName !== undefined ? args : [target, ...args];
    const estimates = all.map((arg) => this.estimate(arg));
    const argEstimates = all.map((arg, index) => this.argument(arg, estimates[index]!));
    const { cost: own, size } = estimateCall(functionName ?? name, forms, argEstimates);
    const cost = estimates.map((estimated) => estimated.cost).reduce(plus, own);
    return name === "_[_]"
      ? { cost, declared: this.partType(estimates[0]!.declared, items) }
      : { cost, size };
  }

  private argument(expression: Expression, estimated: Estimate): ArgumentEstimate {
    const { declared } = estimated;
    const value = expression.node === "literal" ? expression.value : undefined;
    return {
      size: sizeOf(estimated, expression),
      itemSize: declared === undefined ? anything : declaredSize(this.partType(declared, items)),
      type: expression.type ?? dyn,
      integer: typeof value === "bigint" ? value : undefined,
    };
  }

  /** The minimum is the first operand, because evaluation may stop there. */
  private logical({ operands }: Logical): Estimate {
    const costs = operands.map((operand) => this.estimate(operand).cost);
    return { cost: { min: costs[0]!.min, max: costs.reduce(plus).max } };
  }

  private comprehension(expression: Comprehension): Estimate {
    const { macro, range, variable, condition, transform } = expression;
    const over = this.estimate(range);
    const { is } = range.type ?? dyn;
    const declared =
      is === "list" || is === "map" ? this.partType(over.declared, is === "list" ? items : keys) : undefined;
    this.loops.push({ name: variable, declared });
    const test = condition === undefined ? zero : this.estimate(condition).cost;
    const transformCost = transform === undefined ? zero : this.estimate(transform).cost;
    this.loops.pop();
    const { iteration, loop, accepted } = loopEstimates[macro];
    const itemCost = accepted === undefined ? zero : plus(transformCost, fixed(accepted));
    // A rejected item costs 1. `all` and `exists` may stop early.
    const step = accepted !== undefined && condition !== undefined ? either(itemCost, one) : itemCost;
    const conditionCost = accepted === undefined ? { min: 0, max: test.max } : test;
    const iterations = times(sizeOf(over, range), [step, conditionCost, fixed(iteration)].reduce(plus));
    return { cost: [over.cost, iterations, fixed(loop)].reduce(plus) };
  }

  /** Returns the declared type of a part. A selection from a value without declared type is treated as a variable. */
  private partType(declared: DeclaredType | undefined, part: Part): DeclaredType {
    if (declared === undefined) return this.root;
    if (declared === "unknown") return "unknown";
    return partOf(declared, part) ?? "unknown";
  }
}

/** A field name, or the items or keys of a list or map. */
type Part = string | typeof items | typeof keys;

const items = Symbol("items of a list, or values of a map");
const keys = Symbol("keys of a map");

function partOf(type: CelType, part: Part): CelType | undefined {
  if (typeof part === "string") return type.is === "object" ? type.fields.get(part)?.type : undefined;
  if (type.is === "map") return part === items ? type.value : type.key;
  return type.is === "list" && part === items ? type.element : undefined;
}

/** Returns the size that a declared type allows; 0 for types without size, such as numbers and objects. */
function declaredSize(declared: DeclaredType): Range {
  if (declared === "unknown") return anything;
  return { min: 0, max: "maxSize" in declared ? (declared.maxSize ?? 0) : 0 };
}

/** Returns the size of a value: from the expression, else from the declared type, else 1 for scalars and any size for others. */
function sizeOf({ size, declared }: Estimate, { type = dyn }: Expression): Range {
  if (size !== undefined) return size;
  if (declared !== undefined && declared !== "unknown") return declaredSize(declared);
  return scalars.has(type.is) ? one : anything;
}

const scalars: ReadonlySet<CelType["is"]> = new Set([
  "bool",
  "int",
  "uint",
  "double",
  "timestamp",
  "duration",
] as const);

/** Returns the size of a string in UTF-8 or of bytes; 1 for other literals. */
function literalSize({ value }: Literal): number {
  if (typeof value === "string") return Buffer.byteLength(value, "utf8");
  return value instanceof Uint8Array ? value.length : 1;
}
