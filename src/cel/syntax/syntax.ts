import type { Signature } from "../types/signature.ts";
import type { CelType } from "../types/types.ts";

/** A compilation error with its position. */
export interface ExpressionFault {
  readonly message: string;
  /** 1-based. */
  readonly line: number;
  /** 1-based, in UTF-16 code units. */
  readonly column: number;
}

/** An error while parsing or checking; `compile` converts it to an {@link ExpressionFault}. */
export class ExpressionError extends Error {
  override name = "ExpressionError";
  constructor(
    message: string,
    /** Offset in the expression, in UTF-16 code units. */
    readonly at: number,
  ) {
    super(message);
  }
}

/** Maximum nesting of grammar rules, as in Kubernetes. A pair of parentheses counts as six. */
export const maxDepth = 250;
/** Maximum length of an expression in characters, as in Kubernetes. */
export const maxCharacters = 100_000;

/**
 * A parsed expression. Macros are nodes of their own, so their loops need no accumulator; `&&` and `||` have any number of
 * operands, so long chains are not deep. `at` is the offset in the text.
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
  | Comprehension
  | OptionalMap;

/** Names of calls that select a member: by index, or optionally. */
export const selectionFunctions: ReadonlySet<string> = new Set(["_[_]", "_[?_]", "_?._"]);

/** The value of a literal: `bigint` for int, `{ uint }` for uint, `number` for double. */
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
  /** May have a leading dot (a name in the root scope). */
  readonly name: string;
  /** Set by the checker if it is a type name. */
  names?: CelType;
}

export interface Select extends Node {
  readonly node: "select";
  readonly operand: Expression;
  readonly field: string;
  /** Whether this is a presence test: `has(a.b)`. */
  readonly test: boolean;
  /** Set by the checker if the expression is a qualified name instead of a selection. */
  qualified?: Identifier;
}

export interface Call extends Node {
  readonly node: "call";
  /** Operators have the names of cel-go: `_+_`, `!_`, `_[_]`, `@in`. */
  readonly name: string;
  readonly target: Expression | undefined;
  readonly args: readonly Expression[];
  /** Set by the checker if the target is the namespace of the function. */
  functionName?: string;
  /** Set by the checker: the overloads that match the argument types. */
  forms?: readonly Signature[];
}

export interface ListLiteral extends Node {
  readonly node: "list";
  readonly items: readonly Expression[];
  /** Indexes of optional items (`[?a]`). */
  readonly optional: ReadonlySet<number>;
}

export interface MapLiteral extends Node {
  readonly node: "map";
  readonly entries: readonly MapEntry[];
}

export interface MapEntry {
  readonly key: Expression;
  readonly value: Expression;
  /** Whether the value is optional (`{?a: b}`). */
  readonly optional: boolean;
}

/** The construction of an object of a named type: `Object.spec{replicas: 1}`. */
export interface ObjectLiteral extends Node {
  readonly node: "object";
  readonly name: string;
  readonly fields: readonly ObjectLiteralField[];
}

export interface ObjectLiteralField {
  readonly name: string;
  readonly value: Expression;
  /** Whether the value is optional (`Object{?a: b}`). */
  readonly optional: boolean;
  readonly at: number;
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

export type Macro =
  "all" | "exists" | "exists_one" | "map" | "filter" | "transformMap" | "transformMapEntry" | "sortBy";

/** A macro that iterates over the items of a list or the keys of a map. */
export interface Comprehension extends Node {
  readonly node: "comprehension";
  readonly macro: Macro;
  readonly range: Expression;
  /** The item of a list or the key of a map. With a second variable, the index of a list. */
  readonly variable: string;
  /** The item of a list or the value of a map. */
  readonly second: string | undefined;
  /** The predicate; in macros that make a list or a map the optional filter. */
  readonly condition: Expression | undefined;
  /** The transformation of macros that make a list or a map. */
  readonly transform: Expression | undefined;
}

/** The macros `optMap` and `optFlatMap`: the transformation of an optional value. */
export interface OptionalMap extends Node {
  readonly node: "optional map";
  readonly target: Expression;
  readonly variable: string;
  readonly transform: Expression;
  /** Whether the transformation is optional (`optFlatMap`). */
  readonly flat: boolean;
}
