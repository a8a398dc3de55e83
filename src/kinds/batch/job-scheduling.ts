import type { KindContext } from "../../schema/context.ts";
import type { FieldReport } from "../../schema/faults.ts";
import { field } from "../../schema/types.ts";
import { same } from "../checks/values.ts";
import {
  podGroupClaims,
  PodGroupDisruptionMode,
  PodGroupSchedulingConstraints,
  PodGroupSchedulingPolicy,
} from "../scheduling/pod-groups.ts";
import { struct } from "./v1.ts";

export const JobSchedulingConfiguration = struct(
  "JobSchedulingConfiguration",
  "Scheduling of the pods of a Job as a group.",
  {
    schedulingPolicy: field(1, PodGroupSchedulingPolicy, "Whether pods are scheduled together.").nullable(),
    schedulingConstraints: field(
      2,
      PodGroupSchedulingConstraints,
      "Constraints on the nodes of the pods.",
    ).nullable(),
    disruptionMode: field(
      3,
      PodGroupDisruptionMode,
      "Disruption mode of the pods: each alone, or all together.",
    ).nullable(),
    resourceClaims: podGroupClaims,
  },
);

/** The members of a job's scheduling that the rules use. */
export interface JobScheduling {
  readonly schedulingPolicy?:
    | { readonly basic?: unknown; readonly gang?: { readonly minCount?: number | undefined } | undefined }
    | undefined;
  readonly schedulingConstraints?: unknown;
  readonly disruptionMode?: { readonly all?: unknown } | undefined;
  readonly resourceClaims?: unknown;
}

/** Checks the scheduling of every job, also of the template of a CronJob. */
export function checkScheduling(
  {
    scheduling,
    parallelism = 1,
  }: { readonly scheduling?: JobScheduling | undefined; readonly parallelism?: number | undefined },
  report: FieldReport,
): void {
  if (scheduling === undefined) return;
  const { schedulingPolicy: policy, disruptionMode } = scheduling;
  const minCount = policy?.gang?.minCount;
  if (minCount !== undefined && minCount > parallelism)
    report
      .at("schedulingPolicy", "gang", "minCount")
      .invalid(minCount, `must not be greater than parallelism (${parallelism})`);
  // Without a policy each pod is scheduled alone.
  const isBasic = policy === undefined || policy.basic !== undefined;
  if (isBasic && disruptionMode?.all !== undefined)
    report
      .at("disruptionMode")
      .invalid("", "the disruptionMode `all` is not supported with the Basic scheduling policy");
}

/** Refuses the scheduling of a new job, or a new value of it, while the gate `WorkloadWithJob` is off. */
export function refuseScheduling(
  scheduling: JobScheduling | undefined,
  before: JobScheduling | undefined,
  report: FieldReport,
  { enabled }: Pick<KindContext, "enabled">,
): void {
  if (scheduling === undefined || enabled("WorkloadWithJob") || same(scheduling, before)) return;
  report.forbidden("");
}

/** Refuses changes of the scheduling of a job, or of the template of a CronJob, that aren't about its policy. */
export function checkSchedulingChange(
  now: JobScheduling | undefined,
  before: JobScheduling | undefined,
  report: FieldReport,
): void {
  if (!isKept(now, before, report) || now === undefined || before === undefined) return;
  isKept(now.schedulingPolicy, before.schedulingPolicy, report.at("schedulingPolicy"));
  for (const name of ["schedulingConstraints", "disruptionMode", "resourceClaims"] as const)
    if (!same(now[name], before[name])) report.at(name).invalid(null, "field is immutable");
}

/** Refuses another policy for a job; the size of its gang may change. */
export function checkPolicyChange(
  now: JobScheduling | undefined,
  before: JobScheduling | undefined,
  report: FieldReport,
): void {
  const [policy, policyBefore] = [now?.schedulingPolicy, before?.schedulingPolicy];
  if (policy === undefined || policyBefore === undefined) return;
  if ((policy.basic !== undefined) === (policyBefore.basic !== undefined)) return;
  report
    .at("schedulingPolicy")
    .invalid(
      null,
      "the basic/gang policy variant is immutable after creation; only schedulingPolicy.gang.minCount may be updated",
    );
}

/** Reports a member that is added or removed. Returns whether it is not. */
function isKept(now: unknown, before: unknown, report: FieldReport): boolean {
  if ((now === undefined) === (before === undefined)) return true;
  report.invalid(
    null,
    before === undefined ? "field cannot be set once created" : "field cannot be cleared once set",
  );
  return false;
}
