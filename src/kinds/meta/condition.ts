import { struct } from "../../schema/meta.ts";
import { field, int64, string, time, type Static } from "../../schema/types.ts";

/** A condition (`metav1.Condition`). */
export const Condition = struct("Condition", "A condition of an object.", {
  type: field(1, string, "Type of the condition.").declaredRequired(),
  status: field(2, string, "Status of the condition: True, False or Unknown.")
    .declaredRequired()
    .knownValues("False", "True", "Unknown"),
  observedGeneration: field(3, int64, "Generation for which the condition was set."),
  lastTransitionTime: field(4, time, "Time of the last change of `status`.").required(),
  reason: field(5, string, "Machine-readable reason in CamelCase.").required(),
  message: field(6, string, "Human-readable details.").declaredRequired(),
});
export type Condition = Static<typeof Condition>;
