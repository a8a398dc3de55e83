import { struct } from "./v1.ts";
import { replacedIn } from "../../schema/later-fields.ts";
import { field, int32, list, string } from "../../schema/types.ts";

const PodFailurePolicyOnExitCodesRequirement = struct(
  "PodFailurePolicyOnExitCodesRequirement",
  "Condition on the exit codes of a failed pod's containers.",
  {
    containerName: field(1, string, "Name of the container that is looked at; absent for all.")
      .emitEmpty()
      .nullable(),
    operator: field(2, string, "Whether the code must be among the values, or not.")
      .declaredRequired()
      .oneOf("In", "NotIn")
      .unchecked(),
    values: field(3, list(int32), "The exit codes, in ascending order and without repetition.")
      .declaredRequired()
      .set(),
  },
  {
    later: () => ({
      containerName: replacedIn(
        "1.28",
        field(1, string, "Name of the container that is looked at; absent for all.").nullable(),
      ),
    }),
  },
);

const PodFailurePolicyOnPodConditionsPattern = struct(
  "PodFailurePolicyOnPodConditionsPattern",
  "Condition of a pod that a rule looks for.",
  {
    type: field(1, string, "Type of the pod's condition.")
      .declaredRequired()
      .knownValues("ContainersReady", "DisruptionTarget", "Initialized", "PodScheduled", "Ready"),
    status: field(2, string, "Status that the pod's condition must have.")
      .declaredRequired()
      .knownValues("False", "True", "Unknown"),
  },
);

const PodFailurePolicyRule = struct(
  "PodFailurePolicyRule",
  "The action for a type of pod failure; exactly one requirement is set.",
  {
    action: field(1, string, "What is done: FailJob, Ignore or Count.")
      .declaredRequired()
      .oneOf("Count", "FailJob", "Ignore")
      .unchecked(),
    onExitCodes: field(2, PodFailurePolicyOnExitCodesRequirement, "Condition on exit codes.")
      .emitEmpty()
      .nullable(),
    onPodConditions: field(
      3,
      list(PodFailurePolicyOnPodConditionsPattern),
      "Conditions of the pod, of which one must be there.",
    )
      .emitEmpty()
      .atomic(),
  },
  {
    later: () => ({
      action: replacedIn(
        "1.28",
        field(1, string, "What is done: FailJob, FailIndex, Ignore or Count.")
          .declaredRequired()
          .knownValues("Count", "FailIndex", "FailJob", "Ignore"),
      ),
      onExitCodes: replacedIn(
        "1.28",
        field(2, PodFailurePolicyOnExitCodesRequirement, "Condition on exit codes.").nullable(),
      ),
      onPodConditions: replacedIn(
        "1.28",
        field(
          3,
          list(PodFailurePolicyOnPodConditionsPattern),
          "Conditions of the pod, of which one must be there.",
        ).atomic(),
      ),
    }),
  },
);

export const PodFailurePolicy = struct("PodFailurePolicy", "How failed pods influence a job.", {
  rules: field(1, list(PodFailurePolicyRule), "The rules; the first that fits is followed.")
    .declaredRequired()
    .atomic(),
});
