import { struct } from "../../schema/meta.ts";
import { field, int64, string, time, type Static } from "../../schema/types.ts";

/** A condition (`metav1.Condition`). */
export const Condition = struct("Condition", "One aspect of an object's state.", {
  type: field(1, string, "What the condition is about.").declaredRequired(),
  status: field(2, string, "Whether it holds.").declaredRequired().knownValues("False", "True", "Unknown"),
  observedGeneration: field(3, int64, "Generation of the object for which the condition was found."),
  lastTransitionTime: field(4, time, "When the status last changed.").required(),
  reason: field(5, string, "Short reason for programs.").required(),
  message: field(6, string, "Explanation for people.").declaredRequired(),
});
export type Condition = Static<typeof Condition>;
