import { struct } from "./v1.ts";
import type { ApiObject } from "../../schema/kind.ts";
import { field, int32, int64, time, type Static } from "../../schema/types.ts";
import { CrossVersionObjectReference } from "./object-reference-v1.ts";

export const HorizontalPodAutoscalerSpec = struct(
  "HorizontalPodAutoscalerSpec",
  "Desired behavior of an autoscaler: target, limits and CPU utilization.",
  {
    scaleTargetRef: field(1, CrossVersionObjectReference, "The object to scale.").required(),
    minReplicas: field(2, int32, "Minimum number of replicas. Default: 1.").nullable().unpublishedDefault(1),
    maxReplicas: field(3, int32, "Maximum number of replicas.").required(),
    targetCPUUtilizationPercentage: field(
      4,
      int32,
      "Target average CPU utilization, as a percentage of the requested CPU.",
    ).nullable(),
  },
);

export const HorizontalPodAutoscalerStatus = struct(
  "HorizontalPodAutoscalerStatus",
  "Current state of an autoscaler.",
  {
    observedGeneration: field(1, int64, "Latest generation that the autoscaler has observed.").nullable(),
    lastScaleTime: field(2, time, "Time of the last change of the number of replicas.").nullable(),
    currentReplicas: field(3, int32, "Current number of replicas, as last observed.").declaredRequired(),
    desiredReplicas: field(4, int32, "Desired number of replicas, as last computed.").declaredRequired(),
    currentCPUUtilizationPercentage: field(
      5,
      int32,
      "Current average CPU utilization, as a percentage of the requested CPU.",
    ).nullable(),
  },
);

/** An autoscaler in version v1, for the conversion. */
export type OldAutoscaler = ApiObject & {
  readonly spec?: Static<typeof HorizontalPodAutoscalerSpec> | undefined;
  readonly status?: Static<typeof HorizontalPodAutoscalerStatus> | undefined;
};
