import { applies, since } from "../../base/release-rows.ts";
import { kind, struct } from "./v1.ts";
import { scheduleFault, timeZoneFault } from "../../base/time/cron.ts";
import type { KindContext } from "../../schema/context.ts";
import type { Column } from "../../schema/columns.ts";
import type { FieldReport } from "../../schema/faults.ts";
import type { ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { bool, field, int32, int64, list, string, time } from "../../schema/types.ts";
import { containerImages, containerNames, selectorCell } from "../cells.ts";
import { nonNegative } from "../checks/numbers.ts";
import { agedCell, ageColumn, nameColumn } from "../columns.ts";
import { nameWarnings } from "../core/pod/release-warnings.ts";
import { templateWarnings } from "../core/pod/warnings.ts";
import { ObjectReference } from "../core/references.ts";
import { checkSchedulingChange, refuseScheduling } from "./job-scheduling.ts";
import { JobSpec } from "./job.ts";

const JobTemplateSpec = struct("JobTemplateSpec", "Template of the jobs to create.", {
  metadata: field(1, ObjectMeta, "Labels and annotations of the jobs.").emitEmpty(),
  spec: field(2, JobSpec, "Desired behavior of the jobs.").emitEmpty(),
});

const CronJobSpec = struct("CronJobSpec", "The schedule of the jobs and their template.", {
  schedule: field(1, string, "Schedule in cron format: five fields, or a macro such as `@daily`.")
    .required()
    .check(schedule),
  startingDeadlineSeconds: field(
    2,
    int64,
    "Seconds after the scheduled time within which a missed job may still start; absent for no limit.",
  )
    .nullable()
    .check(nonNegative),
  concurrencyPolicy: field(
    3,
    string,
    "Handling of a run while a job is still active: Allow, Forbid or Replace. Default: Allow.",
  )
    .oneOf("Allow", "Forbid", "Replace")
    .unpublishedDefault("Allow")
    .mustBeGiven(),
  suspend: field(4, bool, "Whether to suspend later runs; active jobs continue. Default: false.")
    .nullable()
    .unpublishedDefault(false),
  jobTemplate: field(5, JobTemplateSpec, "Template of the jobs to create.").required(),
  successfulJobsHistoryLimit: field(6, int32, "Number of successful jobs to keep. Default: 3.")
    .nullable()
    .unpublishedDefault(3)
    .check(nonNegative),
  failedJobsHistoryLimit: field(7, int32, "Number of failed jobs to keep. Default: 1.")
    .nullable()
    .unpublishedDefault(1)
    .check(nonNegative),
  timeZone: field(
    8,
    string,
    "Time zone of the schedule, such as `Europe/Berlin`; absent for the zone of the controller.",
  )
    .nullable()
    .gated("CronJobTimeZone"),
});

const CronJobStatus = struct("CronJobStatus", "Observed state of a CronJob.", {
  active: field(1, list(ObjectReference), "Jobs that are currently running.").atomic(),
  lastScheduleTime: field(4, time, "Time at which a job was last scheduled.").nullable(),
  lastSuccessfulTime: field(5, time, "Time at which a job last completed successfully.").nullable(),
});

/** The name of a Job has at most 63 characters: the name of its CronJob and a suffix of eleven characters. */
const maxNameLength = 52;

function schedule(text: string, report: FieldReport): void {
  const fault = scheduleFault(text);
  if (fault !== undefined) report.invalid(text, fault);
}

function timeZone(zone: string | undefined, report: FieldReport): void {
  if (zone === undefined) return;
  if (zone === "") return report.invalid(zone, "must be absent or not empty");
  if (zone.toLowerCase() === "local") {
    return report.invalid(
      zone,
      "must be an explicit time zone as defined in https://www.iana.org/time-zones",
    );
  }
  const fault = timeZoneFault(zone);
  if (fault !== undefined) report.invalid(zone, fault);
}

function suspendText(suspend: boolean | undefined): string {
  return suspend === undefined ? "<unset>" : suspend ? "True" : "False";
}

const refusesZones = applies(since("1.29"));

/** Rejects a time zone in a new schedule (release 1.29 on), and beside `timeZone`. A schedule that has one may keep it. */
function checkZoneInSchedule(
  spec: ScheduledSpec | undefined,
  before: ScheduledSpec | undefined,
  report: FieldReport,
  context: KindContext,
): void {
  if (spec?.schedule.includes("TZ") !== true) return;
  const schedule = report.at("spec", "schedule");
  const mayName = !refusesZones(context) || before?.schedule.includes("TZ") === true;
  if (!mayName) schedule.invalid(spec.schedule, "can't name a time zone (TZ or CRON_TZ); use timeZone");
  else if (spec.timeZone !== undefined)
    schedule.invalid(spec.schedule, "can't name a time zone where timeZone is given");
}

interface ScheduledSpec {
  readonly schedule: string;
  readonly timeZone?: string | undefined;
}

const schedulingPath = ["spec", "jobTemplate", "spec", "scheduling"] as const;

const timeZoneColumn: Column<{ readonly spec?: ScheduledSpec | undefined }> = {
  name: "Timezone",
  type: "string",
  doc: "Time zone of the schedule.",
  cell: ({ spec }) => spec?.timeZone ?? "<none>",
};

export const CronJob = kind({
  name: "CronJob",
  resource: "cronjobs",
  singular: "cronjob",
  shortNames: ["cj"],
  categories: ["all"],
  scope: "Namespaced",
  doc: "Creates jobs on a schedule.",
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the CronJob.").emitEmpty(),
    spec: field(2, CronJobSpec, "The schedule of the jobs and their template.").emitEmpty(),
    status: field(3, CronJobStatus, "Observed state of the CronJob.").emitEmpty(),
  },
  validate({ spec }, report) {
    if (spec === undefined) return;
    const specReport = report.at("spec");
    const jobs = spec.jobTemplate.spec;
    const job = specReport.at("jobTemplate", "spec");
    if (jobs?.selector !== undefined)
      job.at("selector").invalid(jobs.selector, "`selector` will be auto-generated");
    if (jobs?.manualSelector === true) job.at("manualSelector").notSupported(true, ["false", "nil"]);
  },
  validateCreate({ metadata, spec }, report, context) {
    const { name = "" } = metadata;
    if (name.length > maxNameLength) {
      report.at("metadata", "name").invalid(name, `must be no more than ${maxNameLength} characters`);
    }
    const { scheduling } = spec?.jobTemplate.spec ?? {};
    refuseScheduling(scheduling, undefined, report.at(...schedulingPath), context);
    timeZone(spec?.timeZone, report.at("spec", "timeZone"));
    checkZoneInSchedule(spec, undefined, report, context);
  },
  validateUpdate({ spec }, live, report, context) {
    const [scheduling, before] = [spec, live.spec].map((one) => one?.jobTemplate.spec?.scheduling);
    refuseScheduling(scheduling, before, report.at(...schedulingPath), context);
    checkSchedulingChange(scheduling, before, report.at(...schedulingPath));
    checkZoneInSchedule(spec, live.spec, report, context);
    // Time zones can be removed from the database, so an unchanged one isn't checked again.
    if (spec?.timeZone !== live.spec?.timeZone) timeZone(spec?.timeZone, report.at("spec", "timeZone"));
  },
  warnings({ metadata, spec }, context, live) {
    const warnings = live === undefined ? nameWarnings(metadata.name, "workload", context) : [];
    if (live === undefined || live.metadata.generation !== metadata.generation) {
      const { metadata: labels, spec: pod } = spec?.jobTemplate.spec?.template ?? {};
      warnings.push(...templateWarnings(labels, pod, ["spec", "jobTemplate", "spec", "template"], context));
    }
    if (spec?.schedule.includes("TZ") === true) {
      warnings.push(
        "spec.schedule: a time zone in the schedule isn't supported officially; use spec.timeZone",
      );
    }
    return warnings;
  },
  generationOf: ({ spec }) => spec,
  status: {
    initial: () => ({}),
  },
  columns: [
    nameColumn,
    {
      name: "Schedule",
      type: "string",
      doc: "Schedule in cron format.",
      cell: ({ spec }) => spec?.schedule ?? "",
    },
    since("1.30", timeZoneColumn),
    {
      name: "Suspend",
      type: "boolean",
      doc: "Whether later runs are suspended.",
      cell: ({ spec }) => suspendText(spec?.suspend),
    },
    {
      name: "Active",
      type: "integer",
      doc: "Number of running jobs.",
      cell: ({ status }) => (status?.active ?? []).length,
    },
    {
      name: "Last Schedule",
      type: "string",
      doc: "Time since a job was last scheduled.",
      ...agedCell(
        (
          { status }: { readonly status?: { readonly lastScheduleTime?: string | undefined } | undefined },
          since,
        ) => (status?.lastScheduleTime === undefined ? "<none>" : since(status.lastScheduleTime)),
      ),
    },
    ageColumn,
    {
      name: "Containers",
      type: "string",
      priority: 1,
      doc: "Names of the containers.",
      cell: ({ spec }) => containerNames(spec?.jobTemplate.spec?.template),
    },
    {
      name: "Images",
      type: "string",
      priority: 1,
      doc: "Images of the containers.",
      cell: ({ spec }) => containerImages(spec?.jobTemplate.spec?.template),
    },
    {
      name: "Selector",
      type: "string",
      priority: 1,
      doc: "Label selector of the pods of the jobs.",
      cell: ({ spec }) => selectorCell(spec?.jobTemplate.spec?.selector),
    },
  ],
});
export type CronJob = ObjectFor<typeof CronJob>;
