import type { FieldReport } from "../../schema/faults.ts";
import { same } from "../checks/values.ts";
import { checkStatusIndexes } from "./job-index-rules.ts";

/** The members of a job's status that the rules use. */
export interface JobStatusFacts {
  readonly conditions?: readonly { readonly type: string; readonly status: string }[] | undefined;
  readonly startTime?: string | undefined;
  readonly completionTime?: string | undefined;
  readonly active?: number | undefined;
  readonly ready?: number | undefined;
  readonly failed?: number | undefined;
  readonly succeeded?: number | undefined;
  readonly terminating?: number | undefined;
  readonly completedIndexes?: string | undefined;
  readonly failedIndexes?: string | undefined;
  readonly uncountedTerminatedPods?:
    | { readonly failed?: readonly string[] | undefined; readonly succeeded?: readonly string[] | undefined }
    | undefined;
}

interface JobFacts {
  readonly spec?:
    | {
        readonly suspend?: boolean | undefined;
        readonly parallelism?: number | undefined;
        readonly completions?: number | undefined;
        readonly completionMode?: string | undefined;
        readonly backoffLimitPerIndex?: number | undefined;
        readonly successPolicy?: unknown;
      }
    | undefined;
  readonly status?: JobStatusFacts | undefined;
}

type IsTrue = (condition: string) => boolean;

function conditionsOf({ status }: JobFacts): IsTrue {
  const types = new Set(
    (status?.conditions ?? []).filter((one) => one.status === "True").map(({ type }) => type),
  );
  return (condition) => types.has(condition);
}

const isFinished = (isTrue: IsTrue): boolean => isTrue("Complete") || isTrue("Failed");

/** The job, its written and live status, and the conditions that are true in them. */
interface Change {
  readonly job: JobFacts;
  readonly now: JobStatusFacts;
  readonly before: JobStatusFacts;
  readonly isTrue: IsTrue;
  readonly wasTrue: IsTrue;
  /** Whether one of these members or conditions has changed. */
  readonly changed: (...names: readonly (keyof JobStatusFacts | "Finished" | ConditionName)[]) => boolean;
}

type ConditionName = "Complete" | "Failed" | "FailureTarget" | "SuccessCriteriaMet";

/**
 * Checks a written status of a job as releases with the gate JobManagedBy do: other controllers may write it, so its transitions
 * are those that clients rely on. A member is only checked when it changes.
 */
export function checkStatusChange(job: JobFacts, live: JobFacts, report: FieldReport): void {
  const now = job.status ?? {};
  const before = live.status ?? {};
  const isTrue = conditionsOf(job);
  const wasTrue = conditionsOf(live);
  const isCondition = (name: string): name is ConditionName => /^[A-Z]/.test(name);
  const change: Change = {
    job,
    now,
    before,
    isTrue,
    wasTrue,
    changed: (...names) =>
      names.some((name) => {
        if (name === "Finished") return isFinished(isTrue) !== isFinished(wasTrue);
        return isCondition(name) ? isTrue(name) !== wasTrue(name) : !same(now[name], before[name]);
      }),
  };
  checkConditions(change, report.at("conditions"));
  checkCompletionTime(change, report.at("completionTime"));
  checkCounters(change, report);
  checkStatusIndexes(job.spec ?? {}, now, report, {
    completed: change.changed("completedIndexes"),
    failed: change.changed("failedIndexes"),
  });
}

function checkConditions({ job, isTrue, wasTrue, changed }: Change, report: FieldReport): void {
  const refuse = (message: string): void => report.invalid(undefined, message);
  if (isTrue("Complete") && isTrue("Failed") && changed("Complete", "Failed"))
    refuse("cannot set Complete=True and Failed=true conditions");
  if (isTrue("Complete") && isTrue("FailureTarget") && changed("Complete", "FailureTarget"))
    refuse("cannot set Complete=True and FailureTarget=true conditions");
  if (isTrue("Failed") && !isTrue("FailureTarget") && changed("Failed", "failedIndexes"))
    refuse("cannot set Failed=True condition without the FailureTarget=true condition");
  if (isTrue("Complete") && !isTrue("SuccessCriteriaMet") && changed("Complete", "SuccessCriteriaMet"))
    refuse("cannot set Complete=True condition without the SuccessCriteriaMet=true condition");
  if (isTrue("SuccessCriteriaMet") && isTrue("Failed"))
    refuse("cannot set SuccessCriteriaMet=True and Failed=true conditions");
  if (isTrue("SuccessCriteriaMet") && isTrue("FailureTarget"))
    refuse("cannot set SuccessCriteriaMet=True and FailureTarget=true conditions");
  if (job.spec?.successPolicy !== undefined && isTrue("Complete") && !isTrue("SuccessCriteriaMet"))
    refuse("cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True");
  for (const name of ["Failed", "Complete", "FailureTarget", "SuccessCriteriaMet"])
    if (wasTrue(name) && !isTrue(name)) refuse(`cannot disable the terminal ${name}=True condition`);
  if (wasTrue("Complete") && !wasTrue("SuccessCriteriaMet") && isTrue("SuccessCriteriaMet"))
    refuse("cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions");
}

function checkCompletionTime({ now, before, isTrue, changed }: Change, report: FieldReport): void {
  const { completionTime: time, startTime } = now;
  if (changed("Complete", "completionTime")) {
    if (time !== undefined && !isTrue("Complete"))
      report.invalid(time, "cannot set completionTime when there is no Complete=True condition");
    if (time === undefined && isTrue("Complete"))
      report.required("completionTime is required for Complete jobs");
  }
  if (changed("startTime", "completionTime") && time !== undefined && startTime !== undefined) {
    if (Date.parse(time) < Date.parse(startTime))
      report.invalid(time, "must be equal to or after `startTime`");
  }
  if (time !== undefined && before.completionTime !== undefined && time !== before.completionTime)
    report.invalid(time, "field is immutable");
}

function checkCounters({ job, now, before, isTrue, wasTrue, changed }: Change, report: FieldReport): void {
  const { completionMode, completions, parallelism, suspend } = job.spec ?? {};
  const { active = 0, ready, failed = 0, succeeded = 0, terminating = 0, startTime } = now;
  const finished = isFinished(isTrue);
  const { uncountedTerminatedPods: uncounted = {} } = now;
  const waiting = (uncounted.failed ?? []).length + (uncounted.succeeded ?? []).length;
  if (finished && active > 0 && changed("Finished", "active"))
    report.at("active").invalid(active, "active>0 is invalid for finished job");
  const neverStarts = suspend === true && completions === 0;
  if (finished && startTime === undefined && changed("Finished", "startTime") && !neverStarts)
    report.at("startTime").required("startTime is required for finished job");
  if (finished && waiting > 0 && changed("Finished", "uncountedTerminatedPods"))
    report.at("uncountedTerminatedPods").invalid(uncounted, "must be empty for finished job");
  if (finished && terminating > 0 && changed("Finished", "terminating"))
    report.at("terminating").invalid(terminating, "terminating>0 is invalid for finished job");
  if (ready !== undefined && ready > active && changed("ready", "active"))
    report.at("ready").invalid(ready, "cannot set more ready pods than active");
  if (failed < (before.failed ?? 0))
    report.at("failed").invalid(failed, "cannot decrease the failed counter");
  const mayShrink = completionMode === "Indexed" && completions === parallelism;
  if (succeeded < (before.succeeded ?? 0) && !mayShrink)
    report.at("succeeded").invalid(succeeded, "cannot decrease the succeeded counter");
  const resumes = wasTrue("Suspended") && !isTrue("Suspended");
  if (before.startTime !== undefined && changed("startTime") && suspend !== true && !resumes)
    report.at("startTime").invalid(startTime, "field is immutable for unsuspended job once set");
}
