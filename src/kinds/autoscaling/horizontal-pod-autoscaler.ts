import { isDeepStrictEqual } from "node:util";
import { kind, struct } from "./v2.ts";
import type { FieldReport } from "../../schema/faults.ts";
import type { Column } from "../../schema/columns.ts";
import type { ApiObject, ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { since } from "../../schema/later-fields.ts";
import { field, int32, int64, list, quantity, string, time, type Static } from "../../schema/types.ts";
import { quantityFrom } from "../quantities.ts";
import { nonNegative } from "../checks/numbers.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import { MetricSpec } from "./metric-spec.ts";
import { MetricStatus } from "./metric-status.ts";
import { CrossVersionObjectReference } from "./object-reference.ts";
import { checkVersions } from "./reference-rules.ts";
import {
  checkLowest,
  checkReplicas,
  checkScalingRules,
  defaultMetric,
  fillBehavior,
} from "./scaling-rules.ts";
import { referenceText, targetsText } from "./target-cells.ts";

const HPAScalingPolicy = struct("HPAScalingPolicy", "By how much may be scaled in a given time.", {
  type: field(1, string, "Whether the value is a number of pods or a share of them.")
    .declaredRequired()
    .knownValues("Percent", "Pods"),
  value: field(2, int32, "How many pods, or how many percent of them.").declaredRequired(),
  periodSeconds: field(3, int32, "The time, in seconds, for which the value holds.").declaredRequired(),
});

/** Requires a tolerance that isn't negative. */
function tolerance(text: string, report: FieldReport): void {
  const quantity = quantityFrom(text);
  if (quantity !== undefined && quantity.nanos < 0n) {
    report.invalid(text, "must be greater than or equal to zero");
  }
}

const HPAScalingRules = struct(
  "HPAScalingRules",
  "How fast is scaled in one direction.",
  {
    selectPolicy: field(1, string, "Which of the policies counts when several hold.")
      .nullable()
      .knownValues("Disabled", "Max", "Min"),
    policies: field(2, list(HPAScalingPolicy), "By how much may be scaled; at least one.").atomic(),
    stabilizationWindowSeconds: field(
      3,
      int32,
      "Number of seconds for which earlier recommendations are considered.",
    ).nullable(),
  },
  {
    check: checkScalingRules,
    later: () => ({
      tolerance: since(
        "1.33",
        field(4, quantity, "Share by which the metric may differ before it is scaled.")
          .nullable()
          .check(tolerance)
          .gated("HPAConfigurableTolerance"),
      ),
    }),
  },
);

export const HorizontalPodAutoscalerBehavior = struct(
  "HorizontalPodAutoscalerBehavior",
  "How fast is scaled up and down.",
  {
    scaleUp: field(1, HPAScalingRules, "How fast is scaled up.").nullable(),
    scaleDown: field(2, HPAScalingRules, "How fast is scaled down.").nullable(),
  },
  { fill: fillBehavior },
);

const HorizontalPodAutoscalerSpec = struct(
  "HorizontalPodAutoscalerSpec",
  "Between which numbers, and by which metrics, an object is scaled.",
  {
    scaleTargetRef: field(1, CrossVersionObjectReference, "The object that is scaled.").required(),
    minReplicas: field(2, int32, "Lowest number of replicas.").nullable().unpublishedDefault(1),
    maxReplicas: field(3, int32, "Highest number of replicas.").required(),
    metrics: field(4, list(MetricSpec), "The metrics; the one that asks for most replicas counts.").atomic(),
    behavior: field(5, HorizontalPodAutoscalerBehavior, "How fast is scaled up and down.").nullable(),
  },
  {
    fill(copy) {
      copy.metrics ??= [defaultMetric()];
    },
  },
);

const HorizontalPodAutoscalerCondition = struct(
  "HorizontalPodAutoscalerCondition",
  "One aspect of an autoscaler's state.",
  {
    type: field(1, string, "What the condition is about.")
      .declaredRequired()
      .knownValues("AbleToScale", "ScalingActive", "ScalingLimited"),
    status: field(2, string, "Whether it holds.").declaredRequired().knownValues("False", "True", "Unknown"),
    lastTransitionTime: field(3, time, "When the status last changed.").emitEmpty(),
    reason: field(4, string, "Short reason for programs."),
    message: field(5, string, "Explanation for people."),
  },
  {
    later: () => ({
      observedGeneration: since(
        "1.37",
        field(6, int64, "Generation that the condition is about.").nullable(),
      ),
    }),
  },
);

const HorizontalPodAutoscalerStatus = struct(
  "HorizontalPodAutoscalerStatus",
  "What an autoscaler sees and did.",
  {
    observedGeneration: field(1, int64, "Generation of the autoscaler that was seen last.").nullable(),
    lastScaleTime: field(2, time, "When the number of replicas was last changed.").nullable(),
    currentReplicas: field(3, int32, "Number of replicas that was seen last.").check(nonNegative),
    desiredReplicas: field(4, int32, "Number of replicas that was computed last.")
      .declaredRequired()
      .check(nonNegative),
    currentMetrics: field(5, list(MetricStatus), "The metrics as they were seen last.").emitEmpty().atomic(),
    conditions: field(6, list(HorizontalPodAutoscalerCondition), "What is known about its state.")
      .mapBy("type")
      .patchMerge("type"),
  },
);

interface Scaled extends ApiObject {
  readonly spec?: Static<typeof HorizontalPodAutoscalerSpec> | undefined;
  readonly status?: Static<typeof HorizontalPodAutoscalerStatus> | undefined;
}

function targetsColumn(named: boolean): Column<Scaled> {
  return {
    name: "Targets",
    type: "string",
    doc: "What the metrics are, and what they should be.",
    cell: ({ spec, status }) => targetsText(spec?.metrics ?? [], status?.currentMetrics ?? [], named),
  };
}

export const HorizontalPodAutoscaler = kind({
  name: "HorizontalPodAutoscaler",
  resource: "horizontalpodautoscalers",
  singular: "horizontalpodautoscaler",
  shortNames: ["hpa"],
  categories: ["all"],
  scope: "Namespaced",
  doc: "Scales another object by metrics.",
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the autoscaler.").emitEmpty(),
    spec: field(2, HorizontalPodAutoscalerSpec, "How the object is scaled.").emitEmpty(),
    status: field(3, HorizontalPodAutoscalerStatus, "What the autoscaler sees and did.").emitEmpty(),
  },
  prepareCreate({ metadata }, context) {
    if (context.enabled("HPAGeneration")) metadata.generation = 1;
  },
  prepareUpdate({ metadata, spec }, live, context) {
    if (!context.enabled("HPAGeneration") || isDeepStrictEqual(spec, live.spec)) return;
    metadata.generation = Number(live.metadata.generation ?? 0) + 1;
  },
  validate({ spec }, report, context) {
    if (spec !== undefined) checkReplicas(spec, report.at("spec"), context);
  },
  validateCreate({ spec }, report, context) {
    checkVersions(spec, undefined, report.at("spec"), context);
    const lowest = context.enabled("HPAScaleToZero") ? 0 : 1;
    checkLowest(spec?.minReplicas, lowest, report.at("spec", "minReplicas"));
  },
  validateUpdate({ spec }, live, report, context) {
    checkVersions(spec, live.spec, report.at("spec"), context);
    const lowest = context.enabled("HPAScaleToZero") || live.spec?.minReplicas === 0 ? 0 : 1;
    checkLowest(spec?.minReplicas, lowest, report.at("spec", "minReplicas"));
  },
  status: {
    initial: () => ({ desiredReplicas: 0, currentMetrics: null as unknown as [] }),
  },
  laterColumns: [
    { since: "1.30", removed: "Targets" },
    { since: "1.30", after: "Reference", column: targetsColumn(true) },
  ],
  columns: [
    nameColumn,
    {
      name: "Reference",
      type: "string",
      doc: "The object that is scaled.",
      cell: ({ spec }) => referenceText(spec?.scaleTargetRef),
    },
    targetsColumn(false),
    {
      name: "MinPods",
      type: "string",
      doc: "Lowest number of replicas.",
      cell: ({ spec }) => (spec?.minReplicas === undefined ? "<unset>" : String(spec.minReplicas)),
    },
    {
      name: "MaxPods",
      type: "string",
      doc: "Highest number of replicas.",
      cell: ({ spec }) => spec?.maxReplicas ?? 0,
    },
    {
      name: "Replicas",
      type: "string",
      doc: "Number of replicas that was seen last.",
      cell: ({ status }) => status?.currentReplicas ?? 0,
    },
    ageColumn,
  ],
});
export type HorizontalPodAutoscaler = ObjectFor<typeof HorizontalPodAutoscaler>;
