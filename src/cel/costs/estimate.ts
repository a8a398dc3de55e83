import { estimateCall, sortingCost } from "./call-estimates.ts";
import {
  type ArgumentEstimate,
  anything,
  either,
  fixed,
  plus,
  scaled,
  times,
  zero,
  type Range,
} from "./estimate-rule.ts";
import type {
  Call,
  Comprehension,
  Conditional,
  Expression,
  Identifier,
  Literal,
  Logical,
  Macro,
  MapLiteral,
  OptionalMap,
  Select,
} from "../syntax/syntax.ts";
import { objectCost } from "./object-cost.ts";
import { dyn, urlType, type CelType } from "../types/types.ts";
import { characterCount } from "../values/values.ts";

/** Cost of an evaluation in the units of Kubernetes. */
export type CostEstimate = Range;

/**
 * The declared type of a value, as far as the estimator of Kubernetes follows it; `unknown` if the type of the variables has no such
 * part.
 */
type DeclaredType = CelType | "unknown";

/** Sizes of the items of a list, or of keys and values of a map. */
interface EntrySizes {
  readonly kind: "list" | "map";
  readonly key: Range;
  readonly value: Range;
}

/** Estimate of a part of an expression. */
interface Estimate {
  readonly cost: Range;
  /** Undefined for values that aren't selected from a variable. */
  readonly declared?: DeclaredType | undefined;
  /** The size if the expression determines it. */
  readonly size?: Range | undefined;
  /** Known for literals and results of macros if {@link EstimateRules.sizesOfResults} is set. */
  readonly entries?: EntrySizes | undefined;
}

/** Differences between releases. */
export interface EstimateRules {
  /** A string literal has the size of its characters instead of its bytes. */
  readonly literalCharacters?: boolean;
  /** Cost of `has()` besides its operand. Without it, `has()` costs nothing. */
  readonly presenceCost?: number;
  /** Results of macros have a size, and items of literals too. */
  readonly sizesOfResults?: boolean;
  /** Equality of URLs has the cost of the second text; otherwise it has no limit. */
  readonly sizesOfUrls?: boolean;
  /** The result of `dyn()` has the size of its argument. */
  readonly sizesOfDynamic?: boolean;
}

/**
 * Estimates the cost of a checked expression from the maximum sizes in the type of the variables. It reproduces the estimator of
 * Kubernetes including its inaccuracies, because the estimate decides whether a definition is accepted: values without declared
 * type have any size, and a selection from such a value is treated as the variable itself.
 *
 * @param root the type of all variables; `unknown` if nothing limits their sizes.
 */
export function estimate(
  expression: Expression,
  root: CelType | "unknown",
  rules: EstimateRules = {},
): CostEstimate {
  return new Estimator(root, rules).estimate(expression).cost;
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
  transformMap: { iteration: 0, loop: 31, accepted: 3 },
  transformMapEntry: { iteration: 0, loop: 31, accepted: 2 },
  sortBy: { iteration: 0, loop: 34, accepted: 12 },
};

const one = fixed(1);

/** A variable of a loop. */
interface LoopVariable {
  readonly name: string;
  readonly declared: DeclaredType | undefined;
  readonly size: Range | undefined;
}

class Estimator {
  /** Variables of the enclosing loops, innermost last. */
  private readonly loops: LoopVariable[] = [];

  constructor(
    private readonly root: DeclaredType,
    private readonly rules: EstimateRules,
  ) {}

  estimate(expression: Expression): Estimate {
    switch (expression.node) {
      case "literal":
        return { cost: zero, size: fixed(literalSize(expression, this.rules)) };
      case "identifier": {
        const loop = this.loops.findLast(({ name }) => name === expression.name);
        return loop === undefined
          ? { cost: one, declared: this.root }
          : { cost: one, declared: loop.declared, size: loop.size };
      }
      case "select":
        return this.select(expression);
      case "call":
        return this.call(expression);
      case "list":
        return this.list(expression.items);
      case "map":
        return this.map(expression.entries);
      case "logical":
        return this.logical(expression);
      case "conditional":
        return this.conditional(expression);
      case "comprehension":
        return this.comprehension(expression);
      case "optional map":
        return this.optionalMap(expression);
      case "object": {
        const costs = expression.fields.map(({ value }) => this.estimate(value).cost);
        return { cost: costs.reduce(plus, fixed(objectCost)) };
      }
    }
  }

  private list(items: readonly Expression[]): Estimate {
    const estimates = items.map((item) => this.estimate(item));
    return {
      cost: estimates.map(({ cost }) => cost).reduce(plus, fixed(10)),
      size: fixed(items.length),
      entries: this.entries("list", () => [one, this.union(estimates, items)]),
    };
  }

  private map(entries: MapLiteral["entries"]): Estimate {
    const [keys, values] = [entries.map(({ key }) => key), entries.map(({ value }) => value)];
    const keyEstimates = keys.map((key) => this.estimate(key));
    const valueEstimates = values.map((value) => this.estimate(value));
    return {
      cost: [...keyEstimates, ...valueEstimates].map(({ cost }) => cost).reduce(plus, fixed(30)),
      size: fixed(entries.length),
      entries: this.entries("map", () => [
        this.union(keyEstimates, keys),
        this.union(valueEstimates, values),
      ]),
    };
  }

  /** @param sizes sizes of keys and values. */
  private entries(kind: EntrySizes["kind"], sizes: () => readonly [Range, Range]): EntrySizes | undefined {
    if (this.rules.sizesOfResults !== true) return undefined;
    const [key, value] = sizes();
    return { kind, key, value };
  }

  /** Returns the range of the sizes of expressions; 0 if there are none. */
  private union(estimates: readonly Estimate[], expressions: readonly Expression[]): Range {
    const sizes = estimates.map((estimated, index) => this.sizeOf(estimated, expressions[index]!));
    return sizes.length === 0 ? zero : sizes.reduce(either);
  }

  /** Selections from dynamic values cost nothing, and neither does `has()`. */
  private select({ operand, field, test, qualified }: Select): Estimate {
    if (qualified !== undefined) return { cost: one, declared: this.root };
    const { presenceCost } = this.rules;
    if (test && presenceCost === undefined) return { cost: zero };
    const of = this.estimate(operand);
    if (test) return { cost: plus(of.cost, fixed(presenceCost!)) };
    const { is } = operand.type ?? dyn;
    const cost = is === "map" || is === "object" ? plus(of.cost, one) : of.cost;
    return { cost, declared: this.partType(of.declared, field) };
  }

  private call({ name, functionName, target, args, forms = [] }: Call): Estimate {
    const all = target === undefined || functionName !== undefined ? args : [target, ...args];
    const estimates = all.map((arg) => this.estimate(arg));
    const argEstimates = all.map((arg, index) => this.argument(arg, estimates[index]!));
    const { cost: own, size: resultSize } = estimateCall(functionName ?? name, forms, argEstimates);
    const size = this.rules.sizesOfUrls === true && name === "url" ? argEstimates[0]!.size : resultSize;
    const isUrlEquality =
      this.rules.sizesOfUrls === true && name === "_==_" && all.every(({ type }) => type === urlType);
    const callCost = isUrlEquality ? urlEqualityCost(estimates[1]!.size) : own;
    const cost = estimates.map((estimated) => estimated.cost).reduce(plus, callCost);
    if (name === "_[_]") {
      const [{ declared, entries }] = estimates as [Estimate];
      return { cost, declared: this.partType(declared, items), size: entries?.value };
    }
    if (name === "dyn" && this.rules.sizesOfDynamic === true)
      return { ...estimates[0]!, declared: undefined, cost, size: argEstimates[0]!.size };
    return { cost, size, entries: name === "_+_" ? unionOfEntries(estimates) : undefined };
  }

  private argument(expression: Expression, estimated: Estimate): ArgumentEstimate {
    const { declared } = estimated;
    const value = expression.node === "literal" ? expression.value : undefined;
    return {
      size: this.sizeOf(estimated, expression),
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

  private conditional({ condition, whenTrue, whenFalse }: Conditional): Estimate {
    const branches = [this.estimate(whenTrue), this.estimate(whenFalse)];
    return {
      cost: plus(this.estimate(condition).cost, branches.map(({ cost }) => cost).reduce(either)),
      size: this.union(branches, [whenTrue, whenFalse]),
      entries: unionOfEntries(branches),
    };
  }

  private comprehension(expression: Comprehension): Estimate {
    const { macro, range, condition, transform } = expression;
    const over = this.estimate(range);
    const variables = this.loopVariables(expression, over);
    this.loops.push(...variables);
    const test = condition === undefined ? zero : this.estimate(condition).cost;
    const item = transform ?? filteredItem(expression);
    const itemEstimate = this.estimate(item);
    const itemSize = this.sizeOf(itemEstimate, item);
    this.loops.length -= variables.length;
    const { iteration, loop, accepted } = loopEstimates[macro];
    const makeCost = transform === undefined ? zero : itemEstimate.cost;
    const itemCost = accepted === undefined ? zero : plus(makeCost, fixed(accepted));
    // A rejected item costs 1. `all` and `exists` may stop early.
    const step = accepted !== undefined && condition !== undefined ? either(itemCost, one) : itemCost;
    const conditionCost = accepted === undefined ? { min: 0, max: test.max } : test;
    const count = this.sizeOf(over, range);
    const iterations = times(count, [step, conditionCost, fixed(iteration)].reduce(plus));
    const sorting = macro === "sortBy" ? sortingCost(count, item.type ?? dyn) : zero;
    const cost = [over.cost, iterations, fixed(loop), sorting].reduce(plus);
    return this.rules.sizesOfResults === true ? { cost, ...resultSizes(macro, count, itemSize) } : { cost };
  }

  /** The reference evaluates the target twice: for the condition, and for the value. */
  private optionalMap({ target, variable, transform, flat }: OptionalMap): Estimate {
    const hasValue = plus(this.estimate(target).cost, one);
    this.loops.push({ name: variable, declared: undefined, size: undefined });
    const transformCost = this.estimate(transform).cost;
    this.loops.pop();
    const whenPresent = [hasValue, transformCost, fixed(flat ? 10 : 11)].reduce(plus);
    return { cost: plus(hasValue, either(whenPresent, one)), size: anything };
  }

  private loopVariables({ variable, second, range }: Comprehension, over: Estimate): LoopVariable[] {
    const { is } = range.type ?? dyn;
    if (second !== undefined) {
      const of = over.entries ?? { kind: is, key: undefined, value: undefined };
      const keyPart = of.kind === "list" ? indexes : keys;
      return [
        { name: variable, declared: this.partType(over.declared, keyPart), size: of.key },
        { name: second, declared: this.partType(over.declared, items), size: of.value },
      ];
    }
    const { kind, key, value } = over.entries ?? { kind: is };
    if (kind !== "list" && this.rules.sizesOfDynamic !== true && is !== "map") {
      return [{ name: variable, declared: undefined, size: undefined }];
    }
    const isList = kind === "list";
    const declared = this.partType(over.declared, isList ? items : keys);
    return [{ name: variable, declared, size: isList ? value : key }];
  }

  /** Returns the declared type of a part. A selection from a value without declared type is treated as a variable. */
  private partType(declared: DeclaredType | undefined, part: Part): DeclaredType {
    if (declared === undefined) return this.root;
    if (declared === "unknown") return "unknown";
    return partOf(declared, part) ?? "unknown";
  }

  /** Returns the size of a value: from the expression, else from the declared type, else 1 for scalars and any size for others. */
  private sizeOf({ size, declared }: Estimate, expression: Expression): Range {
    const { node, type = dyn } = expression;
    // The declared type of a loop variable decides before the items that the expression determines.
    if (size !== undefined && node !== "identifier") return size;
    if (declared !== undefined && declared !== "unknown") return declaredSize(declared);
    return isScalar(type) ? one : (size ?? anything);
  }
}

/** Cost of comparing two URLs by the size of the second one; 1 if that is unknown. */
function urlEqualityCost(size: Range | undefined): Range {
  return scaled({ min: 1, max: size?.max ?? 1 }, 0.1);
}

/** Returns the variable that `filter` adds to the result. */
function filteredItem({ variable, type = dyn, at }: Comprehension): Identifier {
  return { node: "identifier", name: variable, type: type.is === "list" ? type.element : dyn, at };
}

/** Returns the sizes of the result of a macro. */
function resultSizes(macro: Macro, count: Range, itemSize: Range): Pick<Estimate, "size" | "entries"> {
  if (macro === "transformMap" || macro === "transformMapEntry") return { size: count };
  if (macro !== "map" && macro !== "filter") return { size: one };
  return { size: count, entries: { kind: "list", key: one, value: { min: 0, max: itemSize.max } } };
}

/** Returns the sizes of the entries of either value; undefined if those of one are unknown. */
function unionOfEntries(estimates: readonly Estimate[]): EntrySizes | undefined {
  const [first, second] = estimates.map(({ entries }) => entries);
  if (first === undefined || second === undefined) return undefined;
  return { kind: first.kind, key: either(first.key, second.key), value: either(first.value, second.value) };
}

/** A field name, or the items or keys of a list or map. */
type Part = string | typeof items | typeof keys | typeof indexes;

const indexes = Symbol("indexes of a list");
const items = Symbol("items of a list, or values of a map");
const keys = Symbol("keys of a map");

function partOf(type: CelType, part: Part): CelType | undefined {
  if (typeof part === "string") return memberType(type, part);
  if (part === indexes) return undefined;
  if (type.is === "map") return part === items ? type.value : type.key;
  return type.is === "list" && part === items ? type.element : undefined;
}

function memberType(type: CelType, name: string): CelType | undefined {
  if (type.is === "object") return type.fields.get(name)?.type;
  return type.is === "map" && type.sizesMembers === true ? type.value : undefined;
}

/** Returns the size that a declared type allows; 0 for types without size, such as numbers and objects. */
function declaredSize(declared: DeclaredType): Range {
  if (declared === "unknown") return anything;
  return { min: 0, max: "maxSize" in declared ? (declared.maxSize ?? 0) : 0 };
}

/** Whether a value has the size 1. */
function isScalar(type: CelType): boolean {
  return type.is === "optional" ? isScalar(type.of) : scalars.has(type.is);
}

const scalars: ReadonlySet<CelType["is"]> = new Set([
  "bool",
  "int",
  "uint",
  "double",
  "timestamp",
  "duration",
] as const);

/** Returns the size of a string or of bytes; 1 for other literals. */
function literalSize({ value }: Literal, { literalCharacters = false }: EstimateRules): number {
  if (typeof value === "string") {
    return literalCharacters ? characterCount(value) : Buffer.byteLength(value, "utf8");
  }
  return value instanceof Uint8Array ? value.length : 1;
}
