import { labelKey } from "../../vocabulary/names.ts";
import { applies, byRelease, since } from "../../base/release-rows.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { labelSelectorFaults, compileLabelSelector } from "../../base/selectors/label-selector.ts";
import type { KindContext } from "../../schema/context.ts";
import type { FieldReport } from "../../schema/faults.ts";
import { domainPrefixedPath } from "../checks/names.ts";
import { labelSelector } from "../checks/selectors.ts";
import { unchanged } from "../checks/values.ts";
import type { LabelSelector } from "../meta/label-selector.ts";
import type { JobStatusFacts } from "./job-status-rules.ts";
import { checkIndexes } from "./job-index-rules.ts";
import {
  checkPolicyChange,
  checkScheduling,
  checkSchedulingChange,
  type JobScheduling,
} from "./job-scheduling.ts";
import { checkFailurePolicy, type FailurePolicy } from "./pod-failure-rules.ts";

interface NamedContainer {
  readonly name: string;
  readonly resources?: unknown;
}

interface PodSpec {
  readonly restartPolicy?: string | undefined;
  containers?: readonly NamedContainer[] | null | undefined;
  initContainers?: readonly NamedContainer[] | undefined;
  readonly affinity?: { readonly nodeAffinity?: unknown } | undefined;
  readonly nodeSelector?: unknown;
  readonly tolerations?: unknown;
}

interface Template {
  readonly metadata?:
    | {
        readonly labels?: Readonly<Record<string, string>> | undefined;
        readonly annotations?: Readonly<Record<string, string>> | undefined;
      }
    | undefined;
  readonly spec?: PodSpec | undefined;
}

/** The members of a job's spec that the rules use. */
interface JobSpecFacts {
  readonly parallelism?: number | undefined;
  readonly completions?: number | undefined;
  readonly completionMode?: string | undefined;
  readonly selector?: LabelSelector | undefined;
  readonly manualSelector?: boolean | undefined;
  readonly suspend?: boolean | undefined;
  readonly template?: Template | undefined;
  readonly podFailurePolicy?: FailurePolicy | undefined;
  readonly backoffLimitPerIndex?: number | undefined;
  readonly maxFailedIndexes?: number | undefined;
  readonly podReplacementPolicy?: string | undefined;
  readonly managedBy?: string | undefined;
  readonly scheduling?: JobScheduling | undefined;
  readonly successPolicy?: Parameters<typeof checkIndexes>[0]["successPolicy"];
}

/** The members of a job that the rules use. */
interface JobFacts {
  readonly metadata: {
    readonly name?: string;
    readonly uid?: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: JobSpecFacts | undefined;
  readonly status?: JobStatusFacts | undefined;
}

const maxIndexedParallelism = 100_000;
const replacementPolicies = ["Failed", "TerminatingOrFailed"];
const restartPolicies = ["Never", "OnFailure"];

/** Checks of every job, also of the template of a CronJob. */
export function checkJobSpec(spec: JobSpecFacts, report: FieldReport, context: KindContext): void {
  if (spec.completionMode === "Indexed") {
    if (spec.completions === undefined) {
      report.at("completions").required("when completion mode is Indexed");
    }
    if ((spec.parallelism ?? 0) > maxIndexedParallelism) {
      report
        .at("parallelism")
        .invalid(
          spec.parallelism,
          `must be at most ${maxIndexedParallelism} when completion mode is Indexed`,
        );
    }
  }
  checkIndexes(spec, report);
  checkScheduling(spec, report.at("scheduling"));
  if (spec.podReplacementPolicy !== undefined) {
    const allowed = spec.podFailurePolicy === undefined ? replacementPolicies : ["Failed"];
    if (!allowed.includes(spec.podReplacementPolicy)) {
      report.at("podReplacementPolicy").notSupported(spec.podReplacementPolicy, allowed);
    }
  }
  const pod = spec.template?.spec;
  const policy = pod?.restartPolicy ?? "";
  const restart = report.at("template", "spec", "restartPolicy");
  if (policy === "" || policy === "Always") {
    restart.required(`valid values: ${restartPolicies.map((one) => JSON.stringify(one)).join(", ")}`);
  } else if (!restartPolicies.includes(policy)) {
    restart.notSupported(policy, restartPolicies);
  } else if (spec.podFailurePolicy !== undefined && policy !== "Never") {
    restart.invalid(policy, 'only "Never" is supported when podFailurePolicy is given');
  }
  if (spec.podFailurePolicy === undefined) return;
  const containers = [...(pod?.initContainers ?? []), ...(pod?.containers ?? [])];
  checkFailurePolicy(
    spec.podFailurePolicy,
    {
      containers: new Set(containers.map(({ name }) => name)),
      failsIndexes: spec.backoffLimitPerIndex !== undefined,
    },
    report.at("podFailurePolicy"),
    context,
  );
}

/** Maximum length of the name of a controller, in characters. */
const maxManagedByLength = 63;

/** Requires the name of a controller with a domain. */
export function managedBy(name: string, report: FieldReport): void {
  domainPrefixedPath(name, report);
  if (name.length > maxManagedByLength) report.tooLong(maxManagedByLength, "characters");
}

const uidLabel = "controller-uid";
const nameLabel = "job-name";

interface Generated {
  readonly manualSelector?: boolean | undefined;
  selector?: LabelSelector | undefined;
  readonly template: { metadata?: { labels?: Record<string, string> | undefined } | undefined };
}

/**
 * Sets the selector, and the labels of the pods, from the job's uid, unless they are set manually. Changes the spec. From 1.27 on
 * there are labels with a domain too, and the selector is by one of them.
 */
export function generateSelector(
  metadata: JobFacts["metadata"],
  spec: Generated,
  context: Pick<KindContext, "release" | "vocabulary">,
): void {
  if (spec.manualSelector === true) return;
  const { name = "", uid = "" } = metadata;
  const meta = (spec.template.metadata ??= {});
  const [uids, names] = labelsOf(context);
  meta.labels = {
    ...Object.fromEntries(names.map((label) => [label, name])),
    ...Object.fromEntries(uids.map((label) => [label, uid])),
    ...meta.labels,
  };
  spec.selector = {
    ...spec.selector,
    matchLabels: { [uids.at(-1)!]: uid, ...spec.selector?.matchLabels },
  };
}

const labelPrefixes = byRelease<(vocabulary: Vocabulary) => string[]>(
  () => [""],
  since("1.27", ({ domain }) => ["", labelKey(domain, "", "batch")]),
);
/** Whether the labels of a job that is updated aren't checked: selector and template don't change. */
const skipsLabelsOfLive = applies(since("1.37"));

/** Names of the labels with a job's uid and name, those with a domain last. */
function labelsOf(context: Pick<KindContext, "release" | "vocabulary">) {
  const prefixes = labelPrefixes(context)(context.vocabulary);
  return [uidLabel, nameLabel].map((label) => prefixes.map((prefix) => prefix + label)) as [
    string[],
    string[],
  ];
}

/**
 * Requires a selector that matches the pod template, and that it is generated unless `manualSelector` is set.
 *
 * @param live the job before an update; labels that its pods lack aren't required.
 */
export function checkSelector(
  job: JobFacts,
  live: JobFacts | undefined,
  report: FieldReport,
  context: KindContext,
): void {
  const { selector, template } = job.spec ?? {};
  const selectorReport = report.at("spec", "selector");
  const labels = template?.metadata?.labels;
  const refuseLabels = (): void =>
    report
      .at("spec", "template", "metadata", "labels")
      .invalid(labels ?? {}, "`selector` does not match template `labels`");
  if (selector === undefined) {
    selectorReport.required();
    // A missing selector matches nothing.
    return refuseLabels();
  }
  labelSelector(selector, selectorReport);
  if (labelSelectorFaults(selector).length > 0) return;
  const matches = compileLabelSelector(selector);
  if (!matches(labels)) refuseLabels();
  if (job.spec?.manualSelector === true) return;
  if (live !== undefined && skipsLabelsOfLive(context)) return;
  const { uid = "", name = "" } = job.metadata;
  const [uids, names] = labelsOf(context);
  const expected = Object.fromEntries([
    ...uids.map((label) => [label, uid] as const),
    ...names.map((label) => [label, name] as const),
  ]);
  const before = live?.spec?.template?.metadata?.labels ?? {};
  const isComplete = live === undefined || Object.keys(expected).every((key) => Object.hasOwn(before, key));
  for (const [key, value] of Object.entries(expected)) {
    if (!isComplete && key.includes("/")) delete expected[key];
    else checkLabel(labels, key, value, report.at("spec", "template", "metadata", "labels"));
  }
  if (!matches(expected)) selectorReport.invalid(selector, "`selector` not auto-generated");
}

function checkLabel(
  labels: Readonly<Record<string, string>> = {},
  key: string,
  expected: string,
  report: FieldReport,
): void {
  if (!Object.hasOwn(labels, key)) report.key(key).required(`must be '${expected}'`);
  else if (labels[key] !== expected) report.key(key).invalid(labels, `must be '${expected}'`);
}

/**
 * Rejects changes of immutable fields.
 */
export function checkJobChange(
  job: JobFacts,
  live: JobFacts,
  report: FieldReport,
  { enabled }: Pick<KindContext, "enabled">,
): void {
  const spec = job.spec ?? {};
  const before = live.spec ?? {};
  const specReport = report.at("spec");
  checkCompletions(spec, before, specReport.at("completions"), enabled("ElasticIndexedJob"));
  unchanged(spec.selector, before.selector, specReport.at("selector"));
  const suspended = before.suspend === true;
  const rests = suspended && mayChangePods(live);
  const movable = enabled("MutableSchedulingDirectivesForSuspendedJobs")
    ? rests
    : enabled("JobMutableNodeSchedulingDirectives") && suspended && live.status?.startTime === undefined;
  const template = movable ? withPlacement(before.template ?? {}, spec.template ?? {}) : before.template;
  if (enabled("MutablePodResourcesForSuspendedJobs") && rests) {
    const pods = withResources(template?.spec ?? {}, spec.template?.spec ?? {});
    unchanged(spec.template?.spec, pods, specReport.at("template.spec"));
  } else unchanged(spec.template, template, specReport.at("template"));
  unchanged(spec.completionMode, before.completionMode, specReport.at("completionMode"));
  for (const name of ["podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"] as const) {
    unchanged(spec[name], before[name], specReport.at(name));
  }
  checkPolicyChange(spec.scheduling, before.scheduling, specReport.at("scheduling"));
  checkSchedulingChange(spec.scheduling, before.scheduling, specReport.at("scheduling"));
}

/** Allows a change of the completions of an indexed job together with its parallelism. */
function checkCompletions(
  spec: JobSpecFacts,
  before: JobSpecFacts,
  report: FieldReport,
  isElastic: boolean,
): void {
  if (!isElastic || spec.completionMode !== "Indexed")
    return unchanged(spec.completions, before.completions, report);
  if (spec.completions === before.completions || spec.completions === undefined) return;
  if (spec.completions !== spec.parallelism)
    report.invalid(spec.completions, "can only be modified in tandem with spec.parallelism");
}

/** Whether no pods of a suspended job run: it has never started, or its condition says that it is suspended. */
function mayChangePods({ status = {} }: JobFacts): boolean {
  const isSuspended = (status.conditions ?? []).some(
    (condition) => condition.type === "Suspended" && condition.status === "True",
  );
  return (status.startTime === undefined || isSuspended) && (status.active ?? 0) === 0;
}

/** Returns the spec of pods with the resources of the containers of another one. */
function withResources(spec: PodSpec, other: PodSpec): PodSpec {
  const copy = { ...spec };
  for (const list of ["containers", "initContainers"] as const) {
    const [containers, others] = [spec[list] ?? [], other[list] ?? []];
    if (containers.length !== others.length || containers.length === 0) continue;
    copy[list] = containers.map((container, index) =>
      container.name === others[index]!.name
        ? withMembers<NamedContainer>(container, others[index]!, ["resources"])
        : container,
    );
  }
  return copy;
}

/** Returns a template with the labels, annotations and scheduling directives of another one. */
function withPlacement(template: Template, other: Template): Template {
  return {
    ...template,
    metadata: withMembers(template.metadata ?? {}, other.metadata ?? {}, ["labels", "annotations"]),
    spec: withAffinity(
      withMembers(template.spec ?? {}, other.spec ?? {}, ["nodeSelector", "tolerations"]),
      other.spec?.affinity,
    ),
  };
}

function withAffinity(spec: PodSpec, other: PodSpec["affinity"]): PodSpec {
  if (spec.affinity === undefined && other === undefined) return spec;
  const affinity = withMembers(spec.affinity ?? {}, other ?? {}, ["nodeAffinity"]);
  const { affinity: _, ...rest } = spec;
  const isGone = other === undefined && Object.keys(affinity).length === 0;
  return isGone ? rest : { ...rest, affinity };
}

/** Returns a copy with some members of another object; members that the other lacks are removed. */
function withMembers<T extends object>(target: T, source: T, names: readonly (keyof T)[]): T {
  const copy = { ...target };
  for (const name of names) {
    if (source[name] === undefined) delete copy[name];
    else copy[name] = source[name];
  }
  return copy;
}
