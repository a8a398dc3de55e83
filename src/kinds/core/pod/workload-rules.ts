import { compileLabelSelector, labelSelectorFaults } from "../../../base/label-selector.ts";
import type { FieldReport } from "../../../schema/faults.ts";
import { labelSelector } from "../../checks/selectors.ts";
import type { LabelSelector } from "../../meta/label-selector.ts";
import type { PodTemplateSpec } from "./template.ts";

/** What a workload is called in messages, and how its template is judged. */
interface WorkloadTemplate {
  readonly kindName: string;
  readonly template: PodTemplateSpec | null | undefined;
  /** Whether the workload's selector selects these labels. */
  readonly selects: (labels: Readonly<Record<string, string>>) => boolean;
  /** Whether several pods may run at the same time, which share no disk that can be written. */
  readonly several: boolean;
}

/** The pods of a workload are selected by it, and run for good. */
export function checkWorkloadTemplate(workload: WorkloadTemplate, place: FieldReport): void {
  const { template } = workload;
  if (template === undefined || template === null) return;
  checkSelected(workload, place);
  checkRunsForGood(workload, place);
  if (!workload.several) return;
  for (const [index, volume] of (template.spec?.volumes ?? []).entries()) {
    if (place.full) return;
    const disk = volume.gcePersistentDisk;
    if (disk === undefined || disk.readOnly === true) continue;
    place
      .at("spec", "volumes", index, "GCEPersistentDisk", "readOnly")
      .invalid(false, "must be true where several pods use the disk");
  }
}

/** The labels of the template are selected by the workload. */
export function checkSelected({ template, selects }: WorkloadTemplate, place: FieldReport): void {
  const labels = template?.metadata?.labels ?? {};
  if (selects(labels)) return;
  place.at("metadata", "labels").invalid(labels, "`selector` does not match template `labels`");
}

/** The pods are started again whenever they end. */
export function checkRunsForGood({ template, kindName }: WorkloadTemplate, place: FieldReport): void {
  const { restartPolicy = "", activeDeadlineSeconds } = template?.spec ?? {};
  if (restartPolicy !== "Always") {
    place.at("spec", "restartPolicy").notSupported(restartPolicy, ["Always"]);
  }
  if (activeDeadlineSeconds !== undefined) {
    place
      .at("spec", "activeDeadlineSeconds")
      .forbidden(`activeDeadlineSeconds in ${kindName} is not supported`);
  }
}

type Selector = LabelSelector | null | undefined;

/** A selector of pods is well formed and selects not everything. */
export function checkWorkloadSelector(selector: Selector, kindName: string, place: FieldReport): void {
  if (selector === null || selector === undefined) return;
  labelSelector(selector, place);
  if (isEmptySelector(selector)) place.invalid(selector, `empty selector is invalid for ${kindName}`);
}

function isEmptySelector({ matchLabels = {}, matchExpressions = [] }: LabelSelector): boolean {
  return Object.keys(matchLabels).length === 0 && matchExpressions.length === 0;
}

/**
 * Whether a selector selects labels; one with faults is taken to, so that it is told of only once.
 *
 * @param absent what it means that there is no selector.
 */
export function selectedBy(selector: Selector, absent: boolean): WorkloadTemplate["selects"] {
  if (selector === null || selector === undefined) return () => absent;
  if (labelSelectorFaults(selector).length > 0) return () => true;
  return compileLabelSelector(selector);
}

/** Faults of a selector are told of once more for the whole of it, as by the reference. */
export function checkUsableSelector(selector: Selector, place: FieldReport): void {
  if (selector === null || selector === undefined) return;
  if (labelSelectorFaults(selector).length > 0) place.invalid(selector, "invalid label selector");
}
