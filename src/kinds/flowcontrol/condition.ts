import type { Declarations as DeclarationsIn } from "../../schema/kind.ts";
import { field, list, string, time } from "../../schema/types.ts";
import { uniqueBy } from "../checks/values.ts";
import type { flowcontrol } from "../groups.ts";

/** The functions that declare kinds and structs of one version of the group. */
export type Declarations<V extends string = string> = DeclarationsIn<typeof flowcontrol, V>;

/**
 * Returns the status of an object of the group, with conditions.
 *
 * @param mergesConditions whether a strategic merge patch merges conditions, as in newer versions.
 */
export function declareStatus({ struct }: Declarations, kindName: string, mergesConditions: boolean) {
  const condition = struct(`${kindName}Condition`, "A condition of the object.", {
    type: field(1, string, "Type of the condition.").mustBeGiven(),
    status: field(2, string, "Status of the condition: True, False or Unknown.").knownValues(
      "False",
      "True",
      "Unknown",
    ),
    lastTransitionTime: field(3, time, "Time of the last change of `status`.").emitEmpty(),
    reason: field(4, string, "Machine-readable reason in CamelCase."),
    message: field(5, string, "Human-readable details."),
  });
  const conditions = field(1, list(condition), "Conditions of the object, at most one per type.")
    .mapBy("type")
    .check(uniqueBy(({ type = "" }) => type, "type"));
  return struct(`${kindName}Status`, "Observed state of the object.", {
    conditions: mergesConditions ? conditions.patchMerge("type") : conditions,
  });
}
