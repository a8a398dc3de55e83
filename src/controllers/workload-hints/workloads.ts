import { DaemonSet } from "../../kinds/apps/daemon-set.ts";
import { Deployment } from "../../kinds/apps/deployment.ts";
import { StatefulSet } from "../../kinds/apps/stateful-set.ts";
import { Job } from "../../kinds/batch/job.ts";
import { Pod } from "../../kinds/core/pod/pod.ts";
import type { ApiObject, Kind } from "../../schema/kind.ts";

/** A kind whose objects need other programs than the API server. */
export interface Workload {
  readonly kind: Kind;
  readonly needs: "controllers" | "nodes";
  /** Whether a program has worked on the object, or its author wants nothing to run at present. */
  isSettled(object: WorkloadObject): boolean;
}

/** The members of a workload that {@link Workload.isSettled} reads. */
export interface WorkloadObject extends ApiObject {
  readonly spec?: {
    readonly replicas?: number;
    readonly paused?: boolean;
    readonly suspend?: boolean;
    readonly managedBy?: string;
    readonly nodeName?: string;
    readonly schedulingGates?: readonly unknown[];
  };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly startTime?: string;
    readonly phase?: string;
    readonly conditions?: readonly unknown[];
  };
}

const isObserved = ({ status }: WorkloadObject) => status?.observedGeneration !== undefined;

/** The kinds that get hints. */
export const workloads: readonly Workload[] = [
  {
    kind: Deployment,
    needs: "controllers",
    isSettled: (one) => isObserved(one) || one.spec?.replicas === 0 || one.spec?.paused === true,
  },
  {
    kind: StatefulSet,
    needs: "controllers",
    isSettled: (one) => isObserved(one) || one.spec?.replicas === 0,
  },
  { kind: DaemonSet, needs: "controllers", isSettled: isObserved },
  {
    kind: Job,
    needs: "controllers",
    isSettled: ({ spec, status }) =>
      spec?.suspend === true ||
      spec?.managedBy !== undefined ||
      status?.startTime !== undefined ||
      hasEntries(status?.conditions),
  },
  {
    kind: Pod,
    needs: "nodes",
    isSettled: ({ spec, status }) =>
      (spec?.nodeName ?? "") !== "" ||
      hasEntries(spec?.schedulingGates) ||
      hasEntries(status?.conditions) ||
      (status?.phase ?? "Pending") !== "Pending",
  },
];

function hasEntries(list: readonly unknown[] | undefined): boolean {
  return list !== undefined && list.length > 0;
}
