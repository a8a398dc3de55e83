import { compileLabelSelector, labelSelectorFaults } from "../../../base/selectors/label-selector.ts";
import { applies, gate, since } from "../../../base/release-rows.ts";
import type { KindContext } from "../../../schema/context.ts";
import type { FieldReport } from "../../../schema/faults.ts";
import { labelSelector } from "../../checks/selectors.ts";
import type { LabelSelector } from "../../meta/label-selector.ts";
import type { PodTemplateSpec } from "./spec.ts";

/** The template of a workload, and properties of the workload that affect its rules. */
interface WorkloadTemplate {
  readonly kindName: string;
  readonly template: PodTemplateSpec | null | undefined;
  /** Returns true if the workload's selector matches these labels. */
  readonly selects: (labels: Readonly<Record<string, string>>) => boolean;
  /** Whether several pods may run at the same time; then they can't share a writable disk. */
  readonly several: boolean;
}

const leavesDisksToScheduler = applies(gate("SkipReadOnlyValidationGCE"), since("1.31"));

/** Checks the template of a workload: its selector matches the labels, and the pods are always restarted. */
export function checkWorkloadTemplate(
  workload: WorkloadTemplate,
  report: FieldReport,
  context: KindContext,
): void {
  const { template } = workload;
  if (template === undefined || template === null) return;
  checkSelected(workload, report);
  checkRunsForGood(workload, report);
  if (!workload.several || leavesDisksToScheduler(context)) return;
  for (const [index, volume] of (template.spec?.volumes ?? []).entries()) {
    if (report.full) return;
    const disk = volume.gcePersistentDisk;
    if (disk === undefined || disk.readOnly === true) continue;
    report
      .at("spec", "volumes", index, "GCEPersistentDisk", "readOnly")
      .invalid(false, "must be true where several pods use the disk");
  }
}

/** Requires that the selector matches the labels of the template. */
export function checkSelected({ template, selects }: WorkloadTemplate, report: FieldReport): void {
  const labels = template?.metadata?.labels ?? {};
  if (selects(labels)) return;
  report.at("metadata", "labels").invalid(labels, "`selector` does not match template `labels`");
}

/** Requires the restart policy Always, and no deadline. */
export function checkRunsForGood({ template, kindName }: WorkloadTemplate, report: FieldReport): void {
  const { restartPolicy = "", activeDeadlineSeconds } = template?.spec ?? {};
  if (restartPolicy !== "Always") {
    report.at("spec", "restartPolicy").notSupported(restartPolicy, ["Always"]);
  }
  if (activeDeadlineSeconds !== undefined) {
    report
      .at("spec", "activeDeadlineSeconds")
      .forbidden(`activeDeadlineSeconds in ${kindName} is not supported`);
  }
}

type Selector = LabelSelector | null | undefined;

/** Requires a valid selector that isn't empty. */
export function checkWorkloadSelector(selector: Selector, kindName: string, report: FieldReport): void {
  if (selector === null || selector === undefined) return;
  labelSelector(selector, report);
  if (isEmptySelector(selector)) report.invalid(selector, `empty selector is invalid for ${kindName}`);
}

function isEmptySelector({ matchLabels = {}, matchExpressions = [] }: LabelSelector): boolean {
  return Object.keys(matchLabels).length === 0 && matchExpressions.length === 0;
}

/**
 * Returns a test whether a selector matches labels. An invalid selector matches all, so that it is reported only once.
 *
 * @param absent the result without a selector.
 */
export function selectedBy(selector: Selector, absent: boolean): WorkloadTemplate["selects"] {
  if (selector === null || selector === undefined) return () => absent;
  if (labelSelectorFaults(selector).length > 0) return () => true;
  return compileLabelSelector(selector);
}

/** Reports the faults of a selector once more for the whole selector, as in the reference. */
export function checkUsableSelector(selector: Selector, report: FieldReport): void {
  if (selector === null || selector === undefined) return;
  if (labelSelectorFaults(selector).length > 0) report.invalid(selector, "invalid label selector");
}
