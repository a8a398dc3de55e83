import type { FieldReport } from "../../schema/faults.ts";
import type { DeclareStruct } from "../../schema/structs.ts";
import { field, list, string } from "../../schema/types.ts";
import { qualifiedName } from "../checks/names.ts";

/** Declares a match condition in one version of the group. */
export function declareMatchCondition(struct: DeclareStruct) {
  return struct("MatchCondition", "A CEL condition that requests must satisfy.", {
    name: field(1, string, "Name of the condition.").required().check(qualifiedName),
    expression: field(2, string, "CEL expression that returns true for matching requests.")
      .required()
      .check(notBlank),
  });
}

/** Requires an expression with more than spaces. */
export function notBlank(expression: string, report: FieldReport): void {
  if (expression.trim() === "") report.required();
}

const maxConditions = 64;

/** The field `matchConditions`, with this field number. */
export function matchConditionsField(
  number: number,
  MatchCondition: ReturnType<typeof declareMatchCondition>,
) {
  return field(number, list(MatchCondition), "Conditions that a request must satisfy; all must be true.")
    .mapBy("name")
    .patchMerge("name")
    .check(uniqueNames);
}

/** Requires at most 64 conditions with unique names. */
function uniqueNames(conditions: readonly { readonly name: string }[], report: FieldReport): void {
  if (conditions.length > maxConditions) report.tooMany(conditions.length, maxConditions);
  const seen = new Set<string>();
  for (const [index, { name }] of conditions.entries()) {
    if (report.full) return;
    if (seen.has(name)) report.at(index, "name").duplicate(name);
    seen.add(name);
  }
}
