import { struct } from "./v1.ts";
import type { FieldReport } from "../../schema/faults.ts";
import { since } from "../../schema/later-fields.ts";
import { field, int32, list, string, time } from "../../schema/types.ts";
import { nonNegative } from "../checks/numbers.ts";

const JobCondition = struct("JobCondition", "One aspect of a job's state.", {
  type: field(1, string, "What the condition is about.")
    .declaredRequired()
    .knownValues("Complete", "Failed", "FailureTarget", "Suspended"),
  status: field(2, string, "Whether it holds.").declaredRequired().knownValues("False", "True", "Unknown"),
  lastProbeTime: field(3, time, "When the condition was last checked.").emitEmpty(),
  lastTransitionTime: field(4, time, "When the status last changed.").emitEmpty(),
  reason: field(5, string, "Short reason for programs."),
  message: field(6, string, "Explanation for people."),
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
  "Identifiers of ended pods that a controller has yet to count.",
  {
    succeeded: field(1, list(string), "Pods that ended well.").set(),
    failed: field(2, list(string), "Pods that failed.").set(),
  },
  { check: checkUncounted },
);

export const JobStatus = struct(
  "JobStatus",
  "How far a job has come.",
  {
    conditions: field(
      1,
      list(JobCondition),
      "What is known about its state; Complete and Failed are its ends.",
    )
      .atomic()
      .patchMerge("type"),
    startTime: field(2, time, "When a controller began with the job, or took it up again.").nullable(),
    completionTime: field(3, time, "When the job ended well.").nullable(),
    active: field(4, int32, "Pods that wait or run.").check(nonNegative),
    succeeded: field(5, int32, "Pods that ended well.").check(nonNegative),
    failed: field(6, int32, "Pods that failed.").check(nonNegative),
    completedIndexes: field(7, string, "Indexes that are done, as numbers and ranges: `1,3-5`."),
    uncountedTerminatedPods: field(
      8,
      UncountedTerminatedPods,
      "Pods that ended but aren't in the counters yet.",
    ).nullable(),
    ready: field(9, int32, "Pods that are ready.").nullable().check(nonNegative),
  },
  {
    later: () => ({
      failedIndexes: since(
        "1.28",
        field(10, string, "Indexes that failed, as numbers and ranges.")
          .nullable()
          .gated("JobBackoffLimitPerIndex"),
      ),
      terminating: since(
        "1.28",
        field(11, int32, "Pods that terminate and haven't failed or succeeded.")
          .nullable()
          .check(nonNegative)
          .gated("JobPodReplacementPolicy"),
      ),
    }),
  },
);
