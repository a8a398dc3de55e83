import type { KindContext } from "../../../schema/context.ts";
import { qualityOfService } from "./quality-of-service.ts";
import type { PodSpec } from "./spec-fields.ts";
import type { PodStatus } from "./status.ts";

/** Returns the status of a new pod: Pending, with a condition while it has scheduling gates. */
export function newPodStatus(
  { spec }: { readonly spec?: PodSpec | undefined },
  context: KindContext,
): PodStatus {
  const status: PodStatus = { phase: "Pending", qosClass: qualityOfService(spec) };
  const gated = context.enabled("PodSchedulingReadiness") && (spec?.schedulingGates ?? []).length > 0;
  if (!gated) return status;
  const conditions = [
    {
      type: "PodScheduled",
      status: "False",
      reason: "SchedulingGated",
      message: "The pod isn't placed while it has scheduling gates",
      lastProbeTime: null as unknown as string,
      lastTransitionTime: null as unknown as string,
    },
  ];
  return { ...status, conditions };
}
