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
  const condition = struct(`${kindName}Condition`, "One aspect of an object's state.", {
    type: field(1, string, "What the condition is about.").mustBeGiven(),
    status: field(2, string, "Whether it holds.").knownValues("False", "True", "Unknown"),
    lastTransitionTime: field(3, time, "When the status last changed.").emitEmpty(),
    reason: field(4, string, "Short reason for programs."),
    message: field(5, string, "Explanation for people."),
  });
  const conditions = field(1, list(condition), "What is known about its state.")
    .mapBy("type")
    .check(uniqueBy(({ type = "" }) => type, "type"));
  return struct(`${kindName}Status`, "What became of an object.", {
    conditions: mergesConditions ? conditions.patchMerge("type") : conditions,
  });
}
