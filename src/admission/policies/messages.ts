import type { EvaluationVariables } from "./evaluation-variables.ts";
import type { Validation } from "./policy.ts";

/** Longer messages of expressions are ignored, in characters. */
const maxMessageLength = 5 * 1024;

/** Returns the message of an expression that doesn't hold: that of the message expression if it yields one, else the constant one. */
export async function messageOf(validation: Validation, variables: EvaluationVariables): Promise<string> {
  const { expression, message, messageExpression } = validation;
  const byDefault = message === "" ? `failed expression: ${expression.text.trim()}` : message;
  if (messageExpression === undefined) return byDefault;
  const result = await variables.evaluate(messageExpression);
  if (result?.outcome !== "value" || typeof result.value !== "string") return byDefault;
  const text = result.value.trim();
  return text === "" || text.length > maxMessageLength || /[\n\r]/.test(text) ? byDefault : text;
}
