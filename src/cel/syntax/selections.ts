import { configurationLanguage } from "../libraries.ts";
import { parse } from "./parser.ts";
import { ExpressionError, selectionFunctions, type Expression } from "./syntax.ts";

/**
 * Whether an expression of a configuration selects a member of a variable: `claims.email`, `claims.?email`, `claims["email"]` or
 * `has(claims.email)`. False for an expression that can't be parsed.
 */
export function selectsMember(text: string, variable: string, member: string): boolean {
  try {
    return selects(parse(text, configurationLanguage().features), variable, member);
  } catch (error) {
    if (error instanceof ExpressionError) return false;
    throw error;
  }
}

/** The depth of the recursion is limited by the parser. */
function selects(value: unknown, variable: string, member: string): boolean {
  if (typeof value !== "object" || value === null) return false;
  if ("node" in value && isSelection(value as Expression, variable, member)) return true;
  return Object.values(value).some((part) => selects(part, variable, member));
}

function isSelection(expression: Expression, variable: string, member: string): boolean {
  if (expression.node === "select") {
    return expression.field === member && isVariable(expression.operand, variable);
  }
  if (expression.node !== "call" || !selectionFunctions.has(expression.name)) return false;
  const { target, args } = expression;
  const [operand, key] = target === undefined ? args : [target, ...args];
  return isVariable(operand, variable) && key?.node === "literal" && key.value === member;
}

function isVariable(expression: Expression | undefined, variable: string): boolean {
  return expression?.node === "identifier" && expression.name === variable;
}
