import { ExpressionError, maxDepth, type Expression } from "./syntax.ts";

/** A binary operator with its precedence. All are left-associative. */
interface Binary {
  readonly name: string;
  readonly level: number;
}

export const binaryOperators: ReadonlyMap<string, Binary> = new Map<string, Binary>(
  [
    ["<", "<=", ">", ">=", "==", "!="],
    ["+", "-"],
    ["*", "/", "%"],
  ].flatMap((signs, level) => signs.map((sign) => [sign, { name: `_${sign}_`, level }] as const)),
).set("in", { name: "@in", level: 0 });

/** Reserved words, which can't be variable names. */
export const reserved = new Set(
  "as break const continue else false for function if import in let loop namespace null package return true var void while".split(
    " ",
  ),
);

export const minInt = -(2n ** 63n);
export const maxInt = 2n ** 63n - 1n;

/** Returns the qualified name of an expression; undefined if it isn't one. */
export function qualifiedName(expression: Expression): string | undefined {
  if (expression.node === "identifier") return expression.name;
  if (expression.node !== "select" || expression.test) return undefined;
  const above = qualifiedName(expression.operand);
  return above === undefined ? undefined : `${above}.${expression.field}`;
}

/** A parsed part of an expression. */
export interface Part {
  readonly expression: Expression;
  /**
   * Depth in grammar rules, counted as in cel-go: a rule for each level of operators, even without an operator; one for each
   * further operand of a level; and one for each chained selection, call or index. Literals and names count as 0. With
   * `shallowDepth`, only binary operators, conditions, selections, calls of values and indexes count.
   */
  readonly depth: number;
}

export function tooDeep(at: number): ExpressionError {
  return new ExpressionError(`expression recursion limit exceeded: ${maxDepth}`, at);
}

export function assertDepth(depth: number, at: number): void {
  if (depth > maxDepth) throw tooDeep(at);
}
