import { kind, struct } from "./v1.ts";
import { labelsText, selectorCell } from "../cells.ts";
import { amountOf, countOrPercent, nonNegative } from "../checks/numbers.ts";
import { same, unchanged } from "../checks/values.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import { PodTemplateSpec } from "../core/pod/spec.ts";
import { workloadWarnings } from "../core/pod/warnings.ts";
import { containerColumns } from "../core/pod/workload-columns.ts";
import { checkWorkloadSelector, checkWorkloadTemplate, selectedBy } from "../core/pod/workload-rules.ts";
import { checkCollisions } from "../core/pod/workload-status.ts";
import { LabelSelector } from "../meta/label-selector.ts";
import { type ApiObject, type ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { type Static, field, int32, int64, intOrString, list, string, time } from "../../schema/types.ts";

const RollingUpdateDaemonSet = struct(
  "RollingUpdateDaemonSet",
  "Parameters of a rolling update of a DaemonSet.",
  {
    maxUnavailable: field(
      1,
      intOrString,
      "Maximum number or percentage of nodes without an available pod during an update. Default: 1.",
    )
      .nullable()
      .check(countOrPercent),
    maxSurge: field(
      2,
      intOrString,
      "Maximum number or percentage of nodes with both old and new pods during an update. Default: 0.",
    )
      .nullable()
      .check(countOrPercent),
  },
);

const strategyTypes = ["OnDelete", "RollingUpdate"];

const DaemonSetUpdateStrategy = struct(
  "DaemonSetUpdateStrategy",
  "Strategy for replacing pods after the template changes.",
  {
    type: field(
      1,
      string,
      "Type of the update: RollingUpdate, or OnDelete to replace only deleted pods. Default: RollingUpdate.",
    )
      .oneOf(...strategyTypes)
      .unchecked()
      .unpublishedDefault("RollingUpdate"),
    rollingUpdate: field(
      2,
      RollingUpdateDaemonSet,
      "Parameters of the rolling update; only for the type RollingUpdate.",
    ).nullable(),
  },
  {
    fill(copy) {
      if (copy.type === "RollingUpdate") {
        copy.rollingUpdate = { maxUnavailable: 1, maxSurge: 0, ...copy.rollingUpdate };
      }
    },
    check({ type = "", rollingUpdate }, report) {
      // Reported at the strategy, as in the reference.
      if (!strategyTypes.includes(type)) return report.notSupported(type, strategyTypes);
      if (type !== "RollingUpdate" || rollingUpdate === undefined) return;
      const { maxUnavailable, maxSurge } = rollingUpdate;
      const at = report.at("rollingUpdate");
      const missing = amountOf(maxUnavailable) !== 0;
      const surging = amountOf(maxSurge) !== 0;
      if (missing && surging)
        at.at("maxSurge").invalid(maxSurge, "may not be set when maxUnavailable is non-zero");
      if (!missing && !surging) at.at("maxUnavailable").required("cannot be 0 when maxSurge is 0");
    },
  },
);

const DaemonSetSpec = struct("DaemonSetSpec", "Desired state of a DaemonSet.", {
  selector: field(1, LabelSelector, "Label selector of the pods; the template's labels must match it.")
    .declaredRequired()
    .nullable(),
  template: field(2, PodTemplateSpec, "Template from which the pods are created.").required(),
  updateStrategy: field(
    3,
    DaemonSetUpdateStrategy,
    "Strategy for replacing pods after the template changes.",
  ).emitEmpty(),
  minReadySeconds: field(
    4,
    int32,
    "Seconds a new pod must be ready before it counts as available. Default: 0.",
  ).check(nonNegative),
  revisionHistoryLimit: field(6, int32, "Number of old revisions to keep. Default: 10.")
    .nullable()
    .unpublishedDefault(10)
    .check(nonNegative),
});
type DaemonSetSpec = Static<typeof DaemonSetSpec>;

const DaemonSetCondition = struct("DaemonSetCondition", "A condition of a DaemonSet.", {
  type: field(1, string, "Type of the condition.").declaredRequired(),
  status: field(2, string, "Status of the condition: True, False or Unknown.")
    .declaredRequired()
    .knownValues("False", "True", "Unknown"),
  lastTransitionTime: field(3, time, "Time of the last change of `status`.").emitEmpty(),
  reason: field(4, string, "Machine-readable reason in CamelCase."),
  message: field(5, string, "Human-readable details."),
});

const DaemonSetStatus = struct("DaemonSetStatus", "Observed state of a DaemonSet.", {
  currentNumberScheduled: field(1, int32, "Number of nodes that run the pod as desired.")
    .declaredRequired()
    .check(nonNegative),
  numberMisscheduled: field(2, int32, "Number of nodes that run the pod but should not.")
    .declaredRequired()
    .check(nonNegative),
  desiredNumberScheduled: field(3, int32, "Number of nodes that should run the pod.")
    .declaredRequired()
    .check(nonNegative),
  numberReady: field(4, int32, "Number of nodes that should run the pod and have a ready one.")
    .declaredRequired()
    .check(nonNegative),
  observedGeneration: field(5, int64, "Latest generation that the controller has observed.").check(
    nonNegative,
  ),
  updatedNumberScheduled: field(6, int32, "Number of nodes that run a pod of the current template.").check(
    nonNegative,
  ),
  numberAvailable: field(
    7,
    int32,
    "Number of nodes that should run the pod and have an available one.",
  ).check(nonNegative),
  numberUnavailable: field(
    8,
    int32,
    "Number of nodes that should run the pod and have no available one.",
  ).check(nonNegative),
  collisionCount: field(
    9,
    int32,
    "Number of hash collisions of revision names; the controller uses it to create unique names.",
  )
    .nullable()
    .check(nonNegative),
  conditions: field(10, list(DaemonSetCondition), "Conditions of the object, at most one per type.")
    .mapBy("type")
    .patchMerge("type"),
});

interface Spread extends ApiObject {
  spec?: DaemonSetSpec | undefined;
}

/** Annotation that counts the templates of a DaemonSet; older clients read it. */
const templateGeneration = "deprecated.daemonset.template.generation";

function setTemplateGeneration(copy: ApiObject, generation: number): void {
  const { metadata } = copy;
  metadata.annotations = { ...metadata.annotations, [templateGeneration]: String(generation) };
}

function emptyStatus(): Static<typeof DaemonSetStatus> {
  return { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 };
}

export const DaemonSet = kind({
  name: "DaemonSet",
  resource: "daemonsets",
  singular: "daemonset",
  shortNames: ["ds"],
  categories: ["all"],
  scope: "Namespaced",
  doc: "Runs a pod on every node, or on selected nodes.",
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the DaemonSet.").emitEmpty(),
    spec: field(2, DaemonSetSpec, "Desired state of the DaemonSet.").emitEmpty(),
    status: field(3, DaemonSetStatus, "Observed state of the DaemonSet.").emitEmpty(),
  },
  generationOf: ({ spec }) => spec,
  fieldAnnotations: [templateGeneration],
  // The writer owns the annotation that counts the templates; the server sets its value.
  fillDefaults(copy) {
    if (copy.metadata.annotations?.[templateGeneration] === undefined) setTemplateGeneration(copy, 0);
  },
  prepareCreate(copy) {
    setTemplateGeneration(copy, 1);
  },
  prepareUpdate(copy, live) {
    const last = Number(live.metadata.annotations?.[templateGeneration] ?? "1");
    setTemplateGeneration(copy, same(copy.spec?.template, live.spec?.template) ? last : last + 1);
  },
  validate({ spec }, report, context) {
    const { selector, template } = spec ?? {};
    const specReport = report.at("spec");
    checkWorkloadSelector(selector, "daemonset", specReport.at("selector"));
    const workload = { kindName: "DaemonSet", template, selects: selectedBy(selector, false), several: true };
    checkWorkloadTemplate(workload, specReport.at("template"), context);
  },
  validateUpdate(set, live, report, { subresource }) {
    unchanged(set.spec?.selector, live.spec?.selector, report.at("spec", "selector"));
    if (subresource === "status") checkCollisions(set.status ?? {}, live.status ?? {}, report.at("status"));
  },
  warnings: workloadWarnings,
  status: {
    initial: emptyStatus,
  },
  columns: [
    nameColumn,
    {
      name: "Desired",
      type: "integer",
      doc: "Number of nodes that should run the pod.",
      cell: ({ status }) => status?.desiredNumberScheduled ?? 0,
    },
    {
      name: "Current",
      type: "integer",
      doc: "Number of nodes that run the pod.",
      cell: ({ status }) => status?.currentNumberScheduled ?? 0,
    },
    {
      name: "Ready",
      type: "integer",
      doc: "Number of nodes with a ready pod.",
      cell: ({ status }) => status?.numberReady ?? 0,
    },
    {
      name: "Up-to-date",
      type: "integer",
      doc: "Number of nodes with a pod of the current template.",
      cell: ({ status }) => status?.updatedNumberScheduled ?? 0,
    },
    {
      name: "Available",
      type: "integer",
      doc: "Number of nodes with an available pod.",
      cell: ({ status }) => status?.numberAvailable ?? 0,
    },
    {
      name: "Node Selector",
      type: "string",
      doc: "Node selector of the pods.",
      cell: ({ spec }) => labelsText(spec?.template?.spec?.nodeSelector),
    },
    ageColumn,
    ...containerColumns<Spread>(({ spec }) => spec?.template),
    {
      name: "Selector",
      type: "string",
      priority: 1,
      doc: "Label selector of the pods.",
      cell: ({ spec }) => selectorCell(spec?.selector),
    },
  ],
});
export type DaemonSet = ObjectFor<typeof DaemonSet>;
