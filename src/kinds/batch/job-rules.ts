import { labelSelectorFaults, compileLabelSelector } from "../../base/label-selector.ts";
import type { KindContext } from "../../schema/context.ts";
import type { FieldReport } from "../../schema/faults.ts";
import { domainPrefixedPath } from "../checks/names.ts";
import { labelSelector } from "../checks/selectors.ts";
import { unchanged } from "../checks/values.ts";
import type { LabelSelector } from "../meta/label-selector.ts";
import { checkIndexes } from "./job-index-rules.ts";
import { checkFailurePolicy, type FailurePolicy } from "./pod-failure-rules.ts";

interface PodSpec {
  readonly restartPolicy?: string | undefined;
  readonly containers?: readonly { readonly name: string }[] | null | undefined;
  readonly initContainers?: readonly { readonly name: string }[] | undefined;
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
  readonly status?: { readonly startTime?: string | undefined } | undefined;
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

/** Sets the selector, and the labels of the pods, from the job's uid, unless they are set manually. Changes the spec. */
export function generateSelector(metadata: JobFacts["metadata"], spec: Generated): void {
  if (spec.manualSelector === true) return;
  const { name = "", uid = "" } = metadata;
  const meta = (spec.template.metadata ??= {});
  meta.labels = { [nameLabel]: name, [uidLabel]: uid, ...meta.labels };
  spec.selector = {
    ...spec.selector,
    matchLabels: { [uidLabel]: uid, ...spec.selector?.matchLabels },
  };
}

/** Requires a selector that matches the pod template, and that it is generated unless `manualSelector` is set. */
export function checkSelector(job: JobFacts, report: FieldReport): void {
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
  const { uid = "", name = "" } = job.metadata;
  const expected = { [uidLabel]: uid, [nameLabel]: name };
  for (const [key, value] of Object.entries(expected)) {
    checkLabel(labels, key, value, report.at("spec", "template", "metadata", "labels"));
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
 *
 * @param mayMove whether the scheduling directives may change, as long as the job never started.
 */
export function checkJobChange(job: JobFacts, live: JobFacts, report: FieldReport, mayMove: boolean): void {
  const spec = job.spec ?? {};
  const before = live.spec ?? {};
  const specReport = report.at("spec");
  unchanged(spec.completions, before.completions, specReport.at("completions"));
  unchanged(spec.selector, before.selector, specReport.at("selector"));
  const movable = mayMove && before.suspend === true && live.status?.startTime === undefined;
  const template = movable ? withPlacement(before.template ?? {}, spec.template ?? {}) : before.template;
  unchanged(spec.template, template, specReport.at("template"));
  unchanged(spec.completionMode, before.completionMode, specReport.at("completionMode"));
  for (const name of ["podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"] as const) {
    unchanged(spec[name], before[name], specReport.at(name));
  }
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
