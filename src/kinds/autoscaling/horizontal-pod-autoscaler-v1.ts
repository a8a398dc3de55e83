import { since, until } from "../../base/release-rows.ts";
import { kind } from "./v1.ts";
import type { Column } from "../../schema/columns.ts";
import { type ApiObject, type ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field } from "../../schema/types.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import {
  autoscalerFromStored,
  autoscalerToStored,
  shownMetrics,
  HorizontalPodAutoscalerSpec,
  HorizontalPodAutoscalerStatus,
} from "./autoscaler-conversion.ts";
import { HorizontalPodAutoscaler as StoredAutoscaler } from "./horizontal-pod-autoscaler.ts";
import { referenceText, targetsText } from "./target-cells.ts";

function targetsColumn(named: boolean): Column {
  return {
    name: "Targets",
    type: "string",
    doc: "Current and target values of the metrics.",
    cell(object: ApiObject, _now: unknown, vocabulary: Vocabulary) {
      const { metrics, currentMetrics } = shownMetrics(object as HorizontalPodAutoscaler, vocabulary);
      return targetsText(metrics, currentMetrics, named);
    },
  };
}

export const HorizontalPodAutoscaler = kind({
  name: "HorizontalPodAutoscaler",
  resource: "horizontalpodautoscalers",
  singular: "horizontalpodautoscaler",
  shortNames: ["hpa"],
  categories: ["all"],
  scope: "Namespaced",
  doc: "Scales another object by CPU utilization.",
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the autoscaler.").emitEmpty(),
    spec: field(2, HorizontalPodAutoscalerSpec, "Desired behavior of the autoscaler.").emitEmpty(),
    status: field(3, HorizontalPodAutoscalerStatus, "Current state of the autoscaler.").emitEmpty(),
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
      doc: "The object to scale.",
      cell: ({ spec }) => referenceText(spec?.scaleTargetRef),
    },
    until("1.30", targetsColumn(false)),
    since("1.30", targetsColumn(true)),
    {
      name: "MinPods",
      type: "string",
      doc: "Minimum number of replicas.",
      cell: ({ spec }) => (spec?.minReplicas === undefined ? "<unset>" : String(spec.minReplicas)),
    },
    {
      name: "MaxPods",
      type: "string",
      doc: "Maximum number of replicas.",
      cell: ({ spec }) => spec?.maxReplicas ?? 0,
    },
    {
      name: "Replicas",
      type: "string",
      doc: "Current number of replicas, as last observed.",
      cell: ({ status }) => status?.currentReplicas ?? 0,
    },
    ageColumn,
  ],
});
export type HorizontalPodAutoscaler = ObjectFor<typeof HorizontalPodAutoscaler>;
