import type { JsonValue } from "../../base/json/value.ts";
import type { Bindings, Program } from "../../cel/compile.ts";
import type { FieldReport } from "../../schema/faults.ts";
import { textClaim, type Claims } from "../jwt/claims.ts";
import { errorPrefix } from "../oidc/claims-to-user.ts";
import { refusal } from "../refusal.ts";
import { compileExpression, Evaluation } from "./claim-expressions.ts";
import type { JwtFields } from "./form.ts";

/** A compiled expression with its field, for messages. */
export interface FieldExpression {
  readonly program: Program;
  readonly field: string;
}

/** An expression that must be true. */
interface Condition extends FieldExpression {
  readonly message: string;
}

/** The conditions for the claims of a token. */
export interface ClaimRules {
  /** Claims with their required values. */
  readonly required: ReadonlyMap<string, string>;
  readonly conditions: readonly Condition[];
}

/** Checks the rules for claims. */
export function checkClaimRules(
  rules: JwtFields["claimValidationRules"] = [],
  report: FieldReport,
): ClaimRules {
  const required = new Map<string, string>();
  const conditions = new Map<string, Condition>();
  for (const [index, rule] of rules.entries()) {
    const { claim = "", requiredValue = "", expression = "", message = "" } = rule;
    const place = report.at(index);
    if (claim !== "" && expression !== "") {
      place.invalid(claim, "claim and expression can't both be set");
    } else if (claim !== "") {
      if (message !== "") place.at("message").invalid(message, "may not be specified when claim is set");
      if (required.has(claim)) place.at("claim").duplicate(claim);
      required.set(claim, requiredValue);
    } else if (expression !== "") {
      if (requiredValue !== "") {
        place.at("requiredValue").invalid(requiredValue, "may not be specified when expression is set");
      }
      addCondition(conditions, rule, "claims", place);
    } else place.required("claim or expression is required");
  }
  return { required, conditions: [...conditions.values()] };
}

/** Checks the conditions for users. */
export function checkUserRules(
  rules: JwtFields["userValidationRules"] = [],
  report: FieldReport,
): readonly Condition[] {
  const conditions = new Map<string, Condition>();
  for (const [index, rule] of rules.entries()) {
    const place = report.at(index);
    if ((rule.expression ?? "") === "") place.at("expression").required();
    else addCondition(conditions, rule, "user", place);
  }
  return [...conditions.values()];
}

function addCondition(
  conditions: Map<string, Condition>,
  {
    expression = "",
    message = "",
  }: { readonly expression?: string | undefined; readonly message?: string | undefined },
  variable: "claims" | "user",
  report: FieldReport,
): void {
  const place = report.at("expression");
  if (conditions.has(expression)) return place.duplicate(expression);
  const program = compileExpression(expression, variable, true, place);
  if (program !== undefined) conditions.set(expression, { program, field: place.path, message });
}

/** @throws {StatusError} Unauthorized if a required claim has another value. */
export function assertRequiredClaims({ required }: ClaimRules, claims: Claims): void {
  for (const [name, value] of required) {
    if (textClaim(claims, name) !== value) {
      throw refusal(`${errorPrefix}: the claim ${JSON.stringify(name)} doesn't have the required value`);
    }
  }
}

/** @throws {StatusError} Unauthorized if a condition is false or can't be evaluated. */
export function assertConditions(
  conditions: readonly Condition[],
  evaluation: Evaluation,
  bindings: Bindings,
): void {
  for (const { program, field, message } of conditions) {
    if (evaluation.value(program, bindings, field) === true) continue;
    throw refusal(`${errorPrefix}: ${message === "" ? `the condition ${field} is false` : message}`);
  }
}

/** Returns the claims as values of expressions. */
export const claimBindings = (claims: Claims): Bindings => Evaluation.bind("claims", claims as JsonValue);
