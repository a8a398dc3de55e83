import type { JsonValue } from "../../base/json/value.ts";
import { bind, compile, type Bindings, type Environment, type Program } from "../../cel/compile.ts";
import { formatFaults } from "../../cel/syntax/fault-text.ts";
import { configurationLanguage } from "../../cel/libraries.ts";
import { bool, dyn, listOf, mapOf, objectType, string, type CelType } from "../../cel/types/types.ts";
import { CelList, type Value } from "../../cel/values/values.ts";
import type { FieldReport } from "../../schema/faults.ts";
import { errorPrefix } from "../oidc/claims-to-user.ts";
import { refusal } from "../refusal.ts";

/** Cost limit of all expressions for one token, in the units of Kubernetes. */
const tokenBudget = 10_000_000;

const userFields: Readonly<Record<string, CelType>> = {
  username: string,
  uid: string,
  groups: listOf(string),
  extra: mapOf(string, listOf(string)),
};
const userType = objectType(
  "UserInfo",
  () => new Map(Object.entries(userFields).map(([jsonName, type]) => [jsonName, { type, jsonName }])),
);

/** The variables of expressions: the claims of a token, or the user that they were mapped to. */
export const environments = {
  claims: { variables: new Map<string, CelType>([["claims", mapOf(string, dyn)]]) },
  user: { variables: new Map<string, CelType>([["user", userType]]) },
} satisfies Record<string, Environment>;

/** Compiles an expression; undefined with a fault in the report if that fails. @param isCondition whether the result must be a boolean. */
export function compileExpression(
  expression: string,
  variable: keyof typeof environments,
  isCondition: boolean,
  report: FieldReport,
): Program | undefined {
  const environment = environments[variable];
  const { program, faults } = compile(expression, {
    ...environment,
    language: configurationLanguage(),
    ...(isCondition ? { result: bool } : {}),
  });
  if (faults !== undefined) report.invalid(expression, formatFaults(faults));
  return program;
}

/** Evaluates the expressions for one token, within one budget. */
export class Evaluation {
  private remaining = tokenBudget;

  /** Returns the values of a variable for {@link Evaluation.value}. */
  static bind(variable: keyof typeof environments, value: JsonValue): Bindings {
    return bind(environments[variable], { [variable]: value });
  }

  /**
   * @param field path of the expression in the configuration, for messages.
   * @throws {StatusError} Unauthorized if the evaluation fails or costs too much.
   */
  value(program: Program, bindings: Bindings, field: string): Value {
    const result = program.evaluate(bindings, this.remaining);
    this.remaining -= result.cost;
    if (result.outcome === "value") return result.value;
    throw refusal(`${errorPrefix}: ${field}: ${result.message}`);
  }

  /** @throws {StatusError} Unauthorized if the result isn't a string. */
  text(program: Program, bindings: Bindings, field: string): string {
    const value = this.value(program, bindings, field);
    if (typeof value !== "string") throw refusal(`${errorPrefix}: ${field}: the result must be a string`);
    return value;
  }

  /** Returns a string or a list of strings as a list; empty strings are omitted. @throws {StatusError} Unauthorized for another result. */
  texts(program: Program, bindings: Bindings, field: string): string[] {
    const value = this.value(program, bindings, field);
    if (value === null) return [];
    const items = value instanceof CelList ? itemsOf(value) : [value];
    const texts: string[] = [];
    for (const item of items) {
      if (typeof item !== "string") {
        throw refusal(`${errorPrefix}: ${field}: the result must be a string or a list of strings`);
      }
      if (item !== "") texts.push(item);
    }
    return texts;
  }
}

function itemsOf(list: CelList): Value[] {
  return Array.from({ length: list.size }, (_, index) => list.get(index));
}
