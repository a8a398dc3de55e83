import { struct } from "./v1.ts";
import { replacedIn } from "../../schema/added-fields.ts";
import { field, int32, list, string } from "../../schema/types.ts";

const PodFailurePolicyOnExitCodesRequirement = struct(
  "PodFailurePolicyOnExitCodesRequirement",
  "A requirement on the exit codes of a failed pod's containers.",
  {
    containerName: field(1, string, "Name of the container to check; absent for all containers.")
      .emitEmpty()
      .nullable(),
    operator: field(2, string, "Whether the exit code must be in the values (In) or not (NotIn).")
      .declaredRequired()
      .oneOf("In", "NotIn")
      .unchecked(),
    values: field(3, list(int32), "Exit codes in ascending order, without duplicates; at most 255.")
      .declaredRequired()
      .set(),
  },
  {
    later: () => ({
      containerName: replacedIn(
        "1.28",
        field(1, string, "Name of the container to check; absent for all containers.").nullable(),
      ),
    }),
  },
);

const PodFailurePolicyOnPodConditionsPattern = struct(
  "PodFailurePolicyOnPodConditionsPattern",
  "A pod condition that a rule matches.",
  {
    type: field(1, string, "Type of the pod's condition.")
      .declaredRequired()
      .knownValues("ContainersReady", "DisruptionTarget", "Initialized", "PodScheduled", "Ready"),
    status: field(2, string, "Required status of the pod condition: True, False or Unknown. Default: True.")
      .declaredRequired()
      .knownValues("False", "True", "Unknown"),
  },
);

const PodFailurePolicyRule = struct(
  "PodFailurePolicyRule",
  "The action for a type of pod failure; exactly one requirement is set.",
  {
    action: field(1, string, "Action for a matching failure: FailJob, Ignore or Count.")
      .declaredRequired()
      .oneOf("Count", "FailJob", "Ignore")
      .unchecked(),
    onExitCodes: field(
      2,
      PodFailurePolicyOnExitCodesRequirement,
      "Requirement on the exit codes of the containers.",
    )
      .emitEmpty()
      .nullable(),
    onPodConditions: field(
      3,
      list(PodFailurePolicyOnPodConditionsPattern),
      "Pod conditions to match; one must be present.",
    )
      .emitEmpty()
      .atomic(),
  },
  {
    later: () => ({
      action: replacedIn(
        "1.28",
        field(1, string, "Action for a matching failure: FailJob, FailIndex, Ignore or Count.")
          .declaredRequired()
          .knownValues("Count", "FailIndex", "FailJob", "Ignore"),
      ),
      onExitCodes: replacedIn(
        "1.28",
        field(
          2,
          PodFailurePolicyOnExitCodesRequirement,
          "Requirement on the exit codes of the containers.",
        ).nullable(),
      ),
      onPodConditions: replacedIn(
        "1.28",
        field(
          3,
          list(PodFailurePolicyOnPodConditionsPattern),
          "Pod conditions to match; one must be present.",
        ).atomic(),
      ),
    }),
  },
);

export const PodFailurePolicy = struct("PodFailurePolicy", "Rules for handling pod failures of a job.", {
  rules: field(1, list(PodFailurePolicyRule), "The rules in order; the first match applies.")
    .declaredRequired()
    .atomic(),
});
