import { applies, since } from "../../../base/release-rows.ts";
import type { KindContext } from "../../../schema/context.ts";
import { countsPodResources, qualityOfService } from "./quality-of-service.ts";
import type { PodSpec } from "./spec-fields.ts";
import type { PodStatus } from "./status.ts";

/** Returns the status of a new pod: Pending, with a condition while it has scheduling gates. */
export function newPodStatus(
  { spec }: { readonly spec?: PodSpec | undefined },
  context: KindContext,
): PodStatus {
  const qosClass = qualityOfService(spec, countsPodResources(spec, context));
  const status: PodStatus = { phase: "Pending", qosClass };
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

interface WithStatus {
  readonly status?: PodStatus | undefined;
}

const keepsClass = applies(since("1.32"));

/** Returns the status after a write to it. In releases from 1.32 on it keeps the class of the pod if the request has none. */
export function writtenStatus(
  written: WithStatus,
  live: WithStatus,
  context: KindContext,
): PodStatus | undefined {
  const { status } = written;
  const qosClass = live.status?.qosClass;
  if ((status?.qosClass ?? "") !== "" || qosClass === undefined) return status;
  return keepsClass(context) ? { ...status, qosClass } : status;
}
