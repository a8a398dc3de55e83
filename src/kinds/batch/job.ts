import { labelKey } from "../../vocabulary/names.ts";
import { gate, since, until } from "../../base/release-rows.ts";
import { kind, struct } from "./v1.ts";
import { dnsLabelFaults } from "../../base/names.ts";
import type { FieldReport } from "../../schema/faults.ts";
import type { KindContext, Since } from "../../schema/context.ts";
import { type ApiObject, type ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { bool, field, int32, int64, list, string, type Static } from "../../schema/types.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { containerImages, containerNames, selectorCell } from "../cells.ts";
import { nonNegative } from "../checks/numbers.ts";
import { age, agedCell, ageColumn, nameColumn } from "../columns.ts";
import { PodTemplateSpec } from "../core/pod/spec.ts";
import { namedWorkloadWarnings } from "../core/pod/warnings.ts";
import { LabelSelector } from "../meta/label-selector.ts";
import { checkJobChange, checkJobSpec, checkSelector, generateSelector, managedBy } from "./job-rules.ts";
import { checkStatusChange } from "./job-status-rules.ts";
import { JobSchedulingConfiguration, refuseScheduling } from "./job-scheduling.ts";
import { JobStatus } from "./job-status.ts";
import { PodFailurePolicy } from "./pod-failure-policy.ts";

const SuccessPolicyRule = struct("SuccessPolicyRule", "A criterion for the success of a job.", {
  succeededIndexes: field(
    1,
    string,
    "Indexes that must succeed, as numbers and ranges; with `succeededCount`, only that many of them.",
  ).nullable(),
  succeededCount: field(2, int32, "Number of indexes that must succeed.").nullable(),
});

const SuccessPolicy = struct(
  "SuccessPolicy",
  "Criteria for declaring a job succeeded before all pods have finished.",
  {
    rules: field(1, list(SuccessPolicyRule), "The criteria; the job succeeds when one is met.")
      .declaredRequired()
      .atomic(),
  },
);

export const JobSpec = struct(
  "JobSpec",
  "Desired behavior of a Job.",
  {
    parallelism: field(1, int32, "Maximum number of pods that run at the same time. Default: 1.")
      .nullable()
      .check(nonNegative),
    completions: field(
      2,
      int32,
      "Number of pods that must succeed; if absent, the success of any pod completes the job.",
    )
      .nullable()
      .check(nonNegative),
    activeDeadlineSeconds: field(
      3,
      int64,
      "Seconds after the start at which the job is terminated as failed.",
    )
      .nullable()
      .check(nonNegative),
    selector: field(4, LabelSelector, "Label selector of the pods; usually set by the server.").nullable(),
    manualSelector: field(
      5,
      bool,
      "Whether the user sets `selector` and the template's labels, not the server.",
    ).nullable(),
    template: field(6, PodTemplateSpec, "Template of the pods.").required(),
    backoffLimit: field(7, int32, "Number of retries before the job is marked as failed. Default: 6.")
      .nullable()
      .check(nonNegative),
    ttlSecondsAfterFinished: field(
      8,
      int32,
      "Seconds after which a finished job is deleted; absent keeps it.",
    )
      .nullable()
      .check(nonNegative),
    completionMode: field(
      9,
      string,
      "NonIndexed counts successful pods; Indexed requires a success of each index. Default: NonIndexed.",
    )
      .nullable()
      .oneOf("Indexed", "NonIndexed"),
    suspend: field(
      10,
      bool,
      "Whether to suspend the job: running pods are deleted and none are created. Default: false.",
    ).nullable(),
    podFailurePolicy: field(
      11,
      PodFailurePolicy,
      "Handling of pod failures; without it every failure counts toward `backoffLimit`.",
    )
      .nullable()
      .gated("JobPodFailurePolicy"),
  },
  {
    check: checkJobSpec,
    later: () => ({
      backoffLimitPerIndex: since(
        "1.28",
        field(12, int32, "Number of retries of each index before the index is marked as failed.")
          .nullable()
          .check(nonNegative)
          .gated("JobBackoffLimitPerIndex"),
      ),
      maxFailedIndexes: since(
        "1.28",
        field(13, int32, "Number of failed indexes above which the job is marked as failed.")
          .nullable()
          .check(nonNegative)
          .gated("JobBackoffLimitPerIndex"),
      ),
      podReplacementPolicy: since(
        "1.28",
        field(
          14,
          string,
          "Condition for replacing a pod: TerminatingOrFailed, or Failed to wait until it has stopped.",
        )
          .nullable()
          .gated("JobPodReplacementPolicy"),
      ),
      managedBy: since(
        "1.30",
        field(15, string, "Name of the controller that manages the job; absent for the built-in one.")
          .nullable()
          .checkedWhenEmpty()
          .check(managedBy)
          .gated("JobManagedBy"),
      ),
      successPolicy: since(
        "1.30",
        field(16, SuccessPolicy, "Criteria for declaring the job succeeded before all pods have finished.")
          .nullable()
          .gated("JobSuccessPolicy"),
      ),
      scheduling: since(
        "1.37",
        field(17, JobSchedulingConfiguration, "Scheduling of the pods as a group.").nullable(),
      ),
    }),
  },
);

/** Annotation of jobs whose pods are counted by means of finalizers; the server sets it on every new job. */
function trackingAnnotation({ domain }: Vocabulary): string {
  return labelKey(domain, "job-tracking", "batch");
}

function isTracked({ metadata }: ApiObject, annotation: string): boolean {
  return Object.hasOwn(metadata.annotations ?? {}, annotation);
}

/** A job, as the rules below use it. */
interface WithSpec extends ApiObject {
  spec?: Static<typeof JobSpec> | undefined;
}

function fillSpec(copy: WithSpec, { enabled }: KindContext): void {
  const { spec } = copy;
  if (spec === undefined) return;
  if (spec.completions === undefined && spec.parallelism === undefined) spec.completions = 1;
  spec.parallelism ??= 1;
  spec.backoffLimit ??= spec.backoffLimitPerIndex === undefined ? 6 : 2 ** 31 - 1;
  spec.completionMode ??= "NonIndexed";
  spec.suspend ??= false;
  if (enabled("JobPodReplacementPolicy")) {
    spec.podReplacementPolicy ??= spec.podFailurePolicy === undefined ? "TerminatingOrFailed" : "Failed";
  }
  takeLabels(copy);
  for (const rule of spec.podFailurePolicy?.rules ?? []) {
    for (const pattern of rule.onPodConditions ?? []) if (pattern.status === "") pattern.status = "True";
  }
}

function fillManualSelector({ spec }: WithSpec): void {
  if (spec !== undefined) spec.manualSelector ??= false;
}

function trackPods({ metadata }: WithSpec, { vocabulary }: KindContext): void {
  metadata.annotations = { ...metadata.annotations, [trackingAnnotation(vocabulary)]: "" };
}

function keepTracking(copy: WithSpec, live: WithSpec, context: KindContext): void {
  if (isTracked(live, trackingAnnotation(context.vocabulary))) trackPods(copy, context);
}

/** Refuses to add the annotation, which only new jobs get. */
function refuseTracking(job: WithSpec, live: WithSpec, report: FieldReport, context: KindContext): void {
  if (context.subresource !== "") return;
  const annotation = trackingAnnotation(context.vocabulary);
  if (isTracked(job, annotation) && !isTracked(live, annotation))
    report.at("metadata", "annotations").key(annotation).forbidden("can't be added");
}

function addSelector(copy: WithSpec, context: KindContext): void {
  if (copy.spec === undefined) return;
  const { labels } = copy.metadata;
  const areOfPods = labels === copy.spec.template.metadata?.labels;
  generateSelector(copy.metadata, copy.spec, context);
  // Labels that were copied from the template get the generated labels too.
  if (areOfPods) copy.metadata.labels = { ...copy.spec.template.metadata?.labels };
}

interface WithJobStatus {
  readonly spec?: Static<typeof JobSpec> | undefined;
  readonly status?: Static<typeof JobStatus> | undefined;
}

function checkStatus(
  job: WithJobStatus,
  live: WithJobStatus,
  report: FieldReport,
  context: KindContext,
): void {
  if (context.subresource === "status") checkStatusChange(job, live, report.at("status"));
}

export const Job = kind({
  name: "Job",
  resource: "jobs",
  singular: "job",
  categories: ["all"],
  scope: "Namespaced",
  defaultGarbageCollectionPolicy: "OrphanDependents",
  orphanWarning:
    "child pods are preserved by default when jobs are deleted; propagationPolicy=Background removes them, " +
    "and propagationPolicy=Orphan keeps them without this warning",
  doc: "Runs pods until a number of them succeed.",
  effect: { acts: "`ttl-after-finished` deletes finished jobs after `spec.ttlSecondsAfterFinished`" },
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the Job.").emitEmpty(),
    spec: field(2, JobSpec, "Desired behavior of the Job.").emitEmpty(),
    status: field(3, JobStatus, "Observed state of the Job.").emitEmpty(),
  },
  selectable: { "status.successful": ({ status }) => String(status?.succeeded ?? 0) },
  fillDefaults: [fillSpec, since("1.29", fillManualSelector)],
  generationOf: ({ spec }) => spec,
  prepareCreate: [until("1.28", trackPods), addSelector],
  prepareUpdate: until("1.28", keepTracking),
  validateCreate(job, report, context) {
    refuseScheduling(job.spec?.scheduling, undefined, report.at("spec", "scheduling"), context);
    checkSelector(job, undefined, report, context);
    checkPodNames(job, report);
  },
  validateUpdate: [
    (job, live, report, context) => {
      refuseScheduling(job.spec?.scheduling, live.spec?.scheduling, report.at("spec", "scheduling"), context);
      checkSelector(job, live, report, context);
      checkPodNames(job, report);
      if (context.subresource === "") checkJobChange(job, live, report, context);
    },
    since("1.31", gate("JobManagedBy", checkStatus)),
    until("1.28", refuseTracking),
  ],
  warnings: namedWorkloadWarnings,
  status: {
    initial: () => ({}),
  },
  columns: [
    nameColumn,
    since("1.30", { name: "Status", type: "string", doc: "State of the job.", cell: stateText }),
    {
      name: "Completions",
      type: "string",
      doc: "Number of pods that succeeded, out of the number required.",
      cell: completionsText,
    },
    {
      name: "Duration",
      type: "string",
      doc: "Time that the job took, or has been running.",
      ...agedCell(({ status }: { readonly status?: Times | undefined }, since) =>
        durationText(status ?? {}, since),
      ),
    },
    ageColumn,
    {
      name: "Containers",
      type: "string",
      priority: 1,
      doc: "Names of the containers.",
      cell: ({ spec }) => containerNames(spec?.template),
    },
    {
      name: "Images",
      type: "string",
      priority: 1,
      doc: "Images of the containers.",
      cell: ({ spec }) => containerImages(spec?.template),
    },
    {
      name: "Selector",
      type: "string",
      priority: 1,
      doc: "Label selector of the pods.",
      cell: ({ spec }) => selectorCell(spec?.selector),
    },
  ],
});
export type Job = ObjectFor<typeof Job>;

interface Indexed {
  readonly metadata: { readonly name?: string };
  readonly spec?:
    { readonly completionMode?: string | undefined; readonly completions?: number | undefined } | undefined;
}

/** Requires that the pods of an indexed job have valid names. */
function checkPodNames({ metadata, spec }: Indexed, report: FieldReport): void {
  const { completionMode, completions = 0 } = spec ?? {};
  if (completionMode !== "Indexed" || completions <= 0) return;
  const { name = "" } = metadata;
  const lastPod = `${name}-${completions - 1}`;
  for (const message of dnsLabelFaults(lastPod)) {
    report
      .at("metadata", "name")
      .invalid(name, `makes pods with invalid names, such as ${lastPod}: ${message}`);
  }
}

interface Labelled {
  readonly labels?: Record<string, string> | undefined;
}

/**
 * Gives a job without labels the labels of its pod template: the same object, so that `prepareCreate` can distinguish
 * them from labels in the request. Changes the copy.
 */
function takeLabels({
  metadata,
  spec,
}: {
  readonly metadata: ApiObject["metadata"];
  readonly spec?: { readonly template: { readonly metadata?: Labelled | undefined } } | undefined;
}): void {
  const { labels } = spec?.template.metadata ?? {};
  if (labels !== undefined && metadata.labels === undefined) metadata.labels = labels;
}

interface Counts {
  readonly spec?:
    { readonly completions?: number | undefined; readonly parallelism?: number | undefined } | undefined;
  readonly status?: { readonly succeeded?: number | undefined } | undefined;
}

interface JobState {
  readonly metadata: { readonly deletionTimestamp?: string };
  readonly status?:
    | { readonly conditions?: readonly { readonly type: string; readonly status: string }[] | undefined }
    | undefined;
}

/** Returns the state of a job by the first of its conditions that is true. */
function stateText({ metadata, status }: JobState): string {
  const holds = (condition: string) =>
    (status?.conditions ?? []).some((one) => one.type === condition && one.status === "True");
  const end = ["Complete", "Failed"].find(holds);
  if (end !== undefined) return end;
  if (metadata.deletionTimestamp !== undefined) return "Terminating";
  return ["Suspended", "FailureTarget", "SuccessCriteriaMet"].find(holds) ?? "Running";
}

function completionsText({ spec = {}, status }: Counts): string {
  const succeeded = status?.succeeded ?? 0;
  if (spec.completions !== undefined) return `${succeeded}/${spec.completions}`;
  const { parallelism = 0 } = spec;
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

interface Times {
  readonly startTime?: string | undefined;
  readonly completionTime?: string | undefined;
}

function durationText({ startTime, completionTime }: Times, since: Since): string {
  if (startTime === undefined) return "";
  return completionTime === undefined ? since(startTime) : age(startTime, Date.parse(completionTime));
}
