import { sizeOf, type Meter } from "../costs/meter.ts";
import { signature, type Signature } from "../types/signature.ts";
import type { CelType } from "../types/types.ts";
import type { Value } from "../values/values.ts";

/** Returns the cost of a call from the sizes of its first two arguments (see `sizeOf`), in the units of Kubernetes. */
export type CostRule = (first: number, second: number) => number;

/** A function of the language or one of its libraries. */
export interface CelFunction {
  readonly signatures: readonly Signature[];
  /** Charged before the call; the default is 1. */
  readonly cost?: CostRule;
  /** Charges the cost if it depends on more than sizes. */
  readonly charge?: (args: readonly Value[], meter: Meter) => void;
  /** Called with values of any types, but no faults. A receiver is the first argument. */
  readonly run: Run;
  /** Whether the second argument is only evaluated if the first one is an optional value without value. */
  readonly lazy?: boolean;
  /** Whether literals in the arguments may mix types. */
  readonly mixesTypes?: boolean;
  /** Handling of a string literal argument at compile time. */
  readonly literal?: LiteralRule;
  /**
   * Whether a call is for the signatures of this function; only for a function whose name another library declares too, and which
   * comes after it.
   */
  readonly accepts?: (args: readonly Value[]) => boolean;
}

/** @param resultType the checked type of the result. */
export type Run = (args: readonly Value[], meter: Meter, resultType: CelType) => Value;

export interface LiteralRule {
  /** Index of the argument. */
  readonly index: number;
  /** Returns the error of the literal; undefined if it is valid. */
  readonly check: (text: string) => string | undefined;
  /** Returns a faster implementation for the literal. */
  readonly runWith?: (text: string) => Run;
}

export type FunctionTable = ReadonlyMap<string, CelFunction>;

/** Declares a function. Its signatures (see {@link signature}) are parsed on first access. */
export function declareFunction(
  signatures: readonly string[],
  run: Run,
  options: Omit<CelFunction, "signatures" | "run"> = {},
): CelFunction {
  let parsed: readonly Signature[] | undefined;
  return {
    ...options,
    run,
    get signatures() {
      return (parsed ??= signatures.map(signature));
    },
  };
}

/** Cost of traversing a string: 0.1 per character, as in Kubernetes. */
export const traversal = (size: number): number => Math.ceil(size * 0.1);

/** Cost of matching a regular expression, by the lengths of string and pattern. */
export const matching: CostRule = (text, pattern) => Math.ceil((1 + text) * 0.1) * Math.ceil(pattern * 0.25);

/** Charges the cost of a call before it. */
type Charge = (args: readonly Value[], meter: Meter) => void;

/** Returns how the cost of a function is charged. */
export function chargeOf({ cost, charge }: CelFunction): Charge {
  if (charge !== undefined) return charge;
  if (cost === undefined) return (_, meter) => meter.charge(1);
  return (args, meter) => meter.charge(cost(sizeOf(args[0]!), args.length > 1 ? sizeOf(args[1]!) : 1));
}

/** Adds the signatures of a function of a library to a function with the same name; see {@link CelFunction.accepts}. */
export function mergeFunctions(first: CelFunction, added: CelFunction): CelFunction {
  const { accepts } = added;
  if (accepts === undefined)
    throw new Error("a function with the name of another one must say what it accepts");
  const [chargeFirst, chargeAdded] = [chargeOf(first), chargeOf(added)];
  let signatures: readonly Signature[] | undefined;
  return {
    ...first,
    get signatures() {
      return (signatures ??= [...first.signatures, ...added.signatures]);
    },
    run: (args, meter, resultType) => (accepts(args) ? added : first).run(args, meter, resultType),
    charge: (args, meter) => (accepts(args) ? chargeAdded : chargeFirst)(args, meter),
  };
}
