import { struct } from "./v1.ts";
import type { ApiObject } from "../../schema/kind.ts";
import { field, int32, int64, time, type Static } from "../../schema/types.ts";
import { CrossVersionObjectReference } from "./object-reference-v1.ts";

export const HorizontalPodAutoscalerSpec = struct(
  "HorizontalPodAutoscalerSpec",
  "Between which numbers, and by which load, an object is scaled.",
  {
    scaleTargetRef: field(1, CrossVersionObjectReference, "The object that is scaled.").required(),
    minReplicas: field(2, int32, "Lowest number of replicas.").nullable().unpublishedDefault(1),
    maxReplicas: field(3, int32, "Highest number of replicas.").required(),
    targetCPUUtilizationPercentage: field(
      4,
      int32,
      "Average use of processors, in percent of what was requested, that is aimed at.",
    ).nullable(),
  },
);

export const HorizontalPodAutoscalerStatus = struct(
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

/** An autoscaler in version v1, for the conversion. */
export type OldAutoscaler = ApiObject & {
  readonly spec?: Static<typeof HorizontalPodAutoscalerSpec> | undefined;
  readonly status?: Static<typeof HorizontalPodAutoscalerStatus> | undefined;
};
