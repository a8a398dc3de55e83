import { sameType } from "./assignability.ts";
import { ExpressionError, type Call, type Expression } from "../syntax/syntax.ts";
import { formatError } from "../values/text-format.ts";
import { dyn, typeText, type CelType } from "./types.ts";

/**
 * Requires that a literal format has as many arguments as the literal list, of fitting types.
 *
 * @throws {ExpressionError} otherwise.
 */
export function checkFormat({ name, target, args, at }: Call): void {
  const [list] = args;
  if (name !== "format" || target?.node !== "literal" || list?.node !== "list") return;
  if (typeof target.value !== "string" || list.optional.size > 0) return;
  const error = formatError(
    target.value,
    list.items.map(({ type = dyn }) => type),
  );
  if (error !== undefined) throw new ExpressionError(error, at);
}

/**
 * Requires that the items of a list literal, and the keys and values of a map literal, have equal types. Types of empty literals are
 * those that their use requires.
 *
 * @throws {ExpressionError} at the first item with another type.
 */
export function checkLiteralTypes(expression: Expression): void {
  if (expression.node === "list") {
    const { items, optional } = expression;
    assertEqual(items.map((item, index) => ({ item, optional: optional.has(index) })));
  } else if (expression.node === "map") {
    const { entries } = expression;
    assertEqual(entries.map(({ key }) => ({ item: key, optional: false })));
    assertEqual(entries.map(({ value, optional }) => ({ item: value, optional })));
  }
}

function assertEqual(items: readonly { readonly item: Expression; readonly optional: boolean }[]): void {
  let expected: CelType | undefined;
  for (const { item, optional } of items) {
    const { type = dyn } = item;
    const actual = optional && type.is === "optional" ? type.of : type;
    if (expected === undefined) expected = actual;
    else if (!sameType(expected, actual)) {
      throw new ExpressionError(
        `expected type '${typeText(expected)}' but found '${typeText(actual)}'`,
        item.at,
      );
    }
  }
}
