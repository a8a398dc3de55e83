import type { Signature } from "./signature.ts";
import type { CelType } from "./types.ts";

/** A fault of an expression: what is wrong, and where. */
export interface ExpressionFault {
  readonly message: string;
  /** Counted from 1. */
  readonly line: number;
  /** Counted from 1, in UTF-16 code units. */
  readonly column: number;
}

/** Thrown while an expression is read or checked; `compile` turns it into an {@link ExpressionFault}. */
export class ExpressionError extends Error {
  override name = "ExpressionError";
  constructor(
    message: string,
    /** Where in the text, in UTF-16 code units. */
    readonly at: number,
  ) {
    super(message);
  }
}

/** So many rules of the grammar may be entered within each other; as in the reference. A pair of parentheses enters six. */
export const maxDepth = 250;
/** Characters of the longest expression; as in the reference. */
export const maxCharacters = 100_000;

/**
 * An expression as it was read. Macros are nodes of their own, so that their loops need no accumulator; `&&` and `||` have any
 * number of operands, so that long chains of them are not deep. `at` is the place in the text.
 */
export type Expression =
  | Literal
  | Identifier
  | Select
  | Call
  | ListLiteral
  | MapLiteral
  | ObjectLiteral
  | Logical
  | Conditional
  | Comprehension;

/** What a literal stands for: integers as `bigint`, unsigned ones as `{ uint }`, doubles as `number`. */
export type LiteralValue = null | boolean | bigint | number | string | Uint8Array | { readonly uint: bigint };

interface Node {
  readonly at: number;
  /** Set by the checker. */
  type?: CelType;
}

export interface Literal extends Node {
  readonly node: "literal";
  readonly value: LiteralValue;
}

export interface Identifier extends Node {
  readonly node: "identifier";
  /** May begin with a dot, which says that nothing stands before it. */
  readonly name: string;
  /** Set by the checker where it names a type. */
  names?: CelType;
}

export interface Select extends Node {
  readonly node: "select";
  readonly operand: Expression;
  readonly field: string;
  /** Whether it is asked for presence only: `has(a.b)`. */
  readonly test: boolean;
  /** Set by the checker where it is not a selection but the whole is a name with dots. */
  qualified?: Identifier;
}

export interface Call extends Node {
  readonly node: "call";
  /** Operators have the names of the reference: `_+_`, `!_`, `_[_]`, `@in`. */
  readonly name: string;
  readonly target: Expression | undefined;
  readonly args: readonly Expression[];
  /** Set by the checker where the target only qualified the function's name. */
  functionName?: string;
  /** Set by the checker: the forms of the function that fit the types of the arguments. */
  forms?: readonly Signature[];
}

export interface ListLiteral extends Node {
  readonly node: "list";
  readonly items: readonly Expression[];
}

export interface MapLiteral extends Node {
  readonly node: "map";
  readonly entries: readonly { readonly key: Expression; readonly value: Expression }[];
}

export interface ObjectLiteral extends Node {
  readonly node: "object";
  readonly name: string;
}

export interface Logical extends Node {
  readonly node: "logical";
  readonly operator: "and" | "or";
  readonly operands: readonly Expression[];
}

export interface Conditional extends Node {
  readonly node: "conditional";
  readonly condition: Expression;
  readonly whenTrue: Expression;
  readonly whenFalse: Expression;
}

export type Macro = "all" | "exists" | "exists_one" | "map" | "filter";

/** A macro that goes through a list or the keys of a map. */
export interface Comprehension extends Node {
  readonly node: "comprehension";
  readonly macro: Macro;
  readonly range: Expression;
  readonly variable: string;
  /** The predicate; in `map`, the filter, if there is one. */
  readonly condition: Expression | undefined;
  /** In `map`, what is made of each. */
  readonly transform: Expression | undefined;
}
