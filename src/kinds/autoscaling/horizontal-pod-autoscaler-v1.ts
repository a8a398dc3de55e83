import { kind, struct } from "./v1.ts";
import { type ApiObject, type ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field, int32, int64, time } from "../../schema/types.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import { autoscalerFromStored, autoscalerToStored, shownMetrics } from "./autoscaler-conversion.ts";
import { HorizontalPodAutoscaler as StoredAutoscaler } from "./horizontal-pod-autoscaler.ts";
import { CrossVersionObjectReference } from "./object-reference-v1.ts";
import { referenceText, targetsText } from "./target-cells.ts";

function targetsCell(object: ApiObject, _now: number, vocabulary: Vocabulary): string {
  const { metrics, currentMetrics } = shownMetrics(object as HorizontalPodAutoscaler, vocabulary);
  return targetsText(metrics, currentMetrics);
}

const HorizontalPodAutoscalerSpec = struct(
  "HorizontalPodAutoscalerSpec",
  "Between which numbers, and by which load, an object is scaled.",
  {
    scaleTargetRef: field(1, CrossVersionObjectReference, "The object that is scaled.").required(),
    minReplicas: field(2, int32, "Lowest number of replicas.").nullable().filled(1),
    maxReplicas: field(3, int32, "Highest number of replicas.").required(),
    targetCPUUtilizationPercentage: field(
      4,
      int32,
      "Average use of processors, in percent of what was requested, that is aimed at.",
    ).nullable(),
  },
);

const HorizontalPodAutoscalerStatus = struct(
  "HorizontalPodAutoscalerStatus",
  "What an autoscaler sees and did.",
  {
    observedGeneration: field(1, int64, "Generation of the autoscaler that was seen last.").nullable(),
    lastScaleTime: field(2, time, "When the number of replicas was last changed.").nullable(),
    currentReplicas: field(3, int32, "Number of replicas that was seen last.").declaredRequired(),
    desiredReplicas: field(4, int32, "Number of replicas that was computed last.").declaredRequired(),
    currentCPUUtilizationPercentage: field(
      5,
      int32,
      "Average use of processors that was seen, in percent of what was requested.",
    ).nullable(),
  },
);

export const HorizontalPodAutoscaler = kind({
  name: "HorizontalPodAutoscaler",
  resource: "horizontalpodautoscalers",
  singular: "horizontalpodautoscaler",
  shortNames: ["hpa"],
  categories: ["all"],
  scope: "Namespaced",
  doc: "Scales another object by the use of processors.",
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the autoscaler.").emitEmpty(),
    spec: field(2, HorizontalPodAutoscalerSpec, "How the object is scaled.").emitEmpty(),
    status: field(3, HorizontalPodAutoscalerStatus, "What the autoscaler sees and did.").emitEmpty(),
  },
  conversion: {
    stored: () => StoredAutoscaler,
    toStored: autoscalerToStored,
    fromStored: autoscalerFromStored,
  },
  subresources: StoredAutoscaler.subresources,
  columns: [
    nameColumn,
    {
      name: "Reference",
      type: "string",
      doc: "The object that is scaled.",
      cell: ({ spec }) => referenceText(spec?.scaleTargetRef),
    },
    {
      name: "Targets",
      type: "string",
      doc: "What the metrics are, and what they should be.",
      cell: targetsCell,
    },
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
