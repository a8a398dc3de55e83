import { since } from "../../base/release-rows.ts";
import { struct } from "./v1.ts";
import type { FieldReport } from "../../schema/faults.ts";
import { field, int32, list, string, time } from "../../schema/types.ts";
import { nonNegative } from "../checks/numbers.ts";

const JobCondition = struct("JobCondition", "A condition of a Job.", {
  type: field(1, string, "Type of the condition, such as Complete or Failed.")
    .declaredRequired()
    .knownValues("Complete", "Failed", "FailureTarget", "Suspended"),
  status: field(2, string, "Status of the condition: True, False or Unknown.")
    .declaredRequired()
    .knownValues("False", "True", "Unknown"),
  lastProbeTime: field(3, time, "Time of the last check of the condition.").emitEmpty(),
  lastTransitionTime: field(4, time, "Time of the last change of `status`.").emitEmpty(),
  reason: field(5, string, "Machine-readable reason in CamelCase."),
  message: field(6, string, "Human-readable details."),
});

interface Uncounted {
  readonly succeeded?: readonly string[] | undefined;
  readonly failed?: readonly string[] | undefined;
}

/** Requires that each pod is in one list only, once. */
function checkUncounted({ succeeded = [], failed = [] }: Uncounted, report: FieldReport): void {
  const seen = new Set<string>();
  for (const [name, uids] of Object.entries({ succeeded, failed })) {
    for (const [index, uid] of uids.entries()) {
      if (report.full) return;
      if (uid === "") report.at(name, index).invalid(uid, "must not be empty");
      else if (seen.has(uid)) report.at(name, index).duplicate(uid);
      seen.add(uid);
    }
  }
}

const UncountedTerminatedPods = struct(
  "UncountedTerminatedPods",
  "UIDs of terminated pods that the controller has not yet counted.",
  {
    succeeded: field(1, list(string), "UIDs of pods that succeeded.").set(),
    failed: field(2, list(string), "UIDs of pods that failed.").set(),
  },
  { check: checkUncounted },
);

export const JobStatus = struct(
  "JobStatus",
  "Observed state of a Job.",
  {
    conditions: field(
      1,
      list(JobCondition),
      "Conditions of the job; it has finished when Complete or Failed is True.",
    )
      .atomic()
      .patchMerge("type"),
    startTime: field(2, time, "Time at which the controller started or resumed the job.").nullable(),
    completionTime: field(3, time, "Time at which the job completed successfully.").nullable(),
    active: field(4, int32, "Number of pending and running pods.").check(nonNegative),
    succeeded: field(5, int32, "Number of pods that succeeded.").check(nonNegative),
    failed: field(6, int32, "Number of pods that failed.").check(nonNegative),
    completedIndexes: field(7, string, "Completed indexes as numbers and ranges, such as `1,3-5`."),
    uncountedTerminatedPods: field(
      8,
      UncountedTerminatedPods,
      "Terminated pods that are not yet in `succeeded` or `failed`.",
    ).nullable(),
    ready: field(9, int32, "Number of ready pods.").nullable().check(nonNegative),
  },
  {
    later: () => ({
      failedIndexes: since(
        "1.28",
        field(10, string, "Failed indexes as numbers and ranges, such as `1,3-5`.")
          .nullable()
          .gated("JobBackoffLimitPerIndex"),
      ),
      terminating: since(
        "1.28",
        field(11, int32, "Number of terminating pods that have neither failed nor succeeded yet.")
          .nullable()
          .check(nonNegative)
          .gated("JobPodReplacementPolicy"),
      ),
    }),
  },
);
