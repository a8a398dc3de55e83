import { estimateCall, type ArgumentEstimate } from "./call-estimates.ts";
import { anything, either, fixed, plus, times, zero, type Range } from "./ranges.ts";
import type { Call, Comprehension, Expression, Literal, Logical, Macro, Select } from "./syntax.ts";
import { dyn, type CelType } from "./types.ts";

/** What an evaluation costs, in the units of the reference. */
export type CostEstimate = Range;

/**
 * Where the value of a part of an expression is declared, as far as the reference follows it: a part of the type of the variables;
 * `nowhere` where that has no such part.
 */
type Place = CelType | "nowhere";

/** What is known of a part of an expression. */
interface Estimate {
  readonly cost: Range;
  /** Undefined for values that don't come from a variable by selections and indexes alone. */
  readonly place?: Place | undefined;
  /** The size, where the expression itself says it. */
  readonly size?: Range | undefined;
}

/**
 * What evaluating a checked expression is estimated to cost, by the sizes that the type of the variables allows. The estimate is
 * that of the reference in its oddities too, as definitions are accepted or rejected by it: values without a place are of any size,
 * and what is selected of such a value is taken for the variable itself.
 *
 * @param root the type of the variables, of which all have the same.
 */
export function estimate(expression: Expression, root: CelType): CostEstimate {
  return new Estimator(root).estimate(expression).cost;
}

/** What one turn of a macro's loop costs beside the condition and what is made, and what the loop costs beside its turns. */
interface LoopEstimate {
  readonly turn: number;
  readonly loop: number;
  /** What an item costs that meets the condition, beside what is made of it; undefined for loops that take no items. */
  readonly taken?: number;
}

const loopEstimates: Readonly<Record<Macro, LoopEstimate>> = {
  all: { turn: 3, loop: 1 },
  exists: { turn: 4, loop: 1 },
  exists_one: { turn: 0, loop: 2, taken: 2 },
  map: { turn: 0, loop: 11, taken: 12 },
  filter: { turn: 0, loop: 11, taken: 13 },
};

const one = fixed(1);

class Estimator {
  /** The variables of the loops around, the innermost last. */
  private readonly loops: { readonly name: string; readonly place: Place | undefined }[] = [];

  constructor(private readonly root: CelType) {}

  estimate(expression: Expression): Estimate {
    switch (expression.node) {
      case "literal":
        return { cost: zero, size: fixed(literalSize(expression)) };
      case "identifier": {
        const loop = this.loops.findLast(({ name }) => name === expression.name);
        return { cost: one, place: loop === undefined ? this.root : loop.place };
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
        throw new Error("no environment has objects that are made");
    }
  }

  private sum(parts: readonly Expression[], own: number): Range {
    return parts.map((part) => this.estimate(part).cost).reduce(plus, fixed(own));
  }

  /** Asking whether there is a field costs nothing; neither does selecting one of a dynamic value. */
  private select({ operand, field, test, qualified }: Select): Estimate {
    if (qualified !== undefined) return { cost: one, place: this.root };
    if (test) return { cost: zero };
    const of = this.estimate(operand);
    const { is } = operand.type ?? dyn;
    const cost = is === "map" || is === "object" ? plus(of.cost, one) : of.cost;
    return { cost, place: this.below(of.place, field) };
  }

  private call({ name, functionName, target, args, forms = [] }: Call): Estimate {
    const all = target === undefined || functionName !== undefined ? args : [target, ...args];
    const estimates = all.map((arg) => this.estimate(arg));
    const argEstimates = all.map((arg, index) => this.argument(arg, estimates[index]!));
    const { cost: own, size } = estimateCall(functionName ?? name, forms, argEstimates);
    const cost = estimates.map((estimated) => estimated.cost).reduce(plus, own);
    return name === "_[_]" ? { cost, place: this.below(estimates[0]!.place, items) } : { cost, size };
  }

  private argument(expression: Expression, estimated: Estimate): ArgumentEstimate {
    const { place } = estimated;
    const value = expression.node === "literal" ? expression.value : undefined;
    return {
      size: sizeOf(estimated, expression),
      itemSize: place === undefined ? anything : declaredSize(this.below(place, items)),
      type: expression.type ?? dyn,
      integer: typeof value === "bigint" ? value : undefined,
    };
  }

  /** At least the first operand is evaluated. */
  private logical({ operands }: Logical): Estimate {
    const costs = operands.map((operand) => this.estimate(operand).cost);
    return { cost: { min: costs[0]!.min, max: costs.reduce(plus).max } };
  }

  private comprehension(expression: Comprehension): Estimate {
    const { macro, range, variable, condition, transform } = expression;
    const over = this.estimate(range);
    const { is } = range.type ?? dyn;
    const place =
      is === "list" || is === "map" ? this.below(over.place, is === "list" ? items : keys) : undefined;
    this.loops.push({ name: variable, place });
    const test = condition === undefined ? zero : this.estimate(condition).cost;
    const made = transform === undefined ? zero : this.estimate(transform).cost;
    this.loops.pop();
    const { turn, loop, taken } = loopEstimates[macro];
    const own = taken === undefined ? zero : plus(made, fixed(taken));
    // An item that doesn't meet the condition costs 1. A condition alone is not evaluated once the result is known.
    const step = taken !== undefined && condition !== undefined ? either(own, one) : own;
    const tested = taken === undefined ? { min: 0, max: test.max } : test;
    const turns = times(sizeOf(over, range), [step, tested, fixed(turn)].reduce(plus));
    return { cost: [over.cost, turns, fixed(loop)].reduce(plus) };
  }

  /** Where a part of a value is declared. What is selected of a value without a place is taken for a variable. */
  private below(place: Place | undefined, part: Part): Place {
    if (place === undefined) return this.root;
    if (place === "nowhere") return "nowhere";
    return partOf(place, part) ?? "nowhere";
  }
}

/** A field by its name, or what is below a list or a map. */
type Part = string | typeof items | typeof keys;

const items = Symbol("items of a list, or values of a map");
const keys = Symbol("keys of a map");

function partOf(type: CelType, part: Part): CelType | undefined {
  if (typeof part === "string") return type.is === "object" ? type.fields.get(part)?.type : undefined;
  if (type.is === "map") return part === items ? type.value : type.key;
  return type.is === "list" && part === items ? type.element : undefined;
}

/** The size that a declared type allows: 0 for what has no limit of its own, as numbers, objects and keys of maps. */
function declaredSize(place: Place): Range {
  if (place === "nowhere") return anything;
  return { min: 0, max: "maxSize" in place ? (place.maxSize ?? 0) : 0 };
}

/** The size of a value: that which the expression says, else that of its declaration, else 1 for scalars and any for others. */
function sizeOf({ size, place }: Estimate, { type = dyn }: Expression): Range {
  if (size !== undefined) return size;
  if (place !== undefined && place !== "nowhere") return declaredSize(place);
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

/** Bytes of a text, in UTF-8, or of bytes; 1 for other literals. */
function literalSize({ value }: Literal): number {
  if (typeof value === "string") return Buffer.byteLength(value, "utf8");
  return value instanceof Uint8Array ? value.length : 1;
}
