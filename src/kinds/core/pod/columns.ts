import { agedCell, ageColumn, nameColumn } from "../../columns.ts";
import { orNone } from "../../cells.ts";
import type { Column } from "../../../schema/columns.ts";
import { isSidecar } from "./restart-policy.ts";
import type { PodShape } from "./pod-shape.ts";
import type { ContainerStatus } from "./status.ts";

/** The columns of pods, as in kubectl. */
export const podColumns: readonly Column<PodShape>[] = [
  nameColumn,
  {
    name: "Ready",
    type: "string",
    doc: "Number of ready containers out of all containers.",
    cell: (pod) => `${summaryOf(pod).ready}/${containerCount(pod)}`,
  },
  {
    name: "Status",
    type: "string",
    doc: "Phase of the pod, or the reason for a problem.",
    cell: (pod) => summaryOf(pod).reason,
  },
  {
    name: "Restarts",
    type: "string",
    doc: "Number of container restarts, and the time since the last one.",
    ...agedCell((pod: PodShape, since) => {
      const { restarts, lastRestart } = summaryOf(pod);
      return restarts !== 0 && lastRestart !== ""
        ? `${restarts} (${since(lastRestart)} ago)`
        : String(restarts);
    }),
  },
  ageColumn,
  {
    name: "IP",
    type: "string",
    priority: 1,
    doc: "First IP address of the pod.",
    cell: (pod) => orNone(pod.status?.podIPs?.[0]?.ip),
  },
  {
    name: "Node",
    type: "string",
    priority: 1,
    doc: "Name of the node that runs the pod.",
    cell: (pod) => orNone(pod.spec?.nodeName),
  },
  {
    name: "Nominated Node",
    type: "string",
    priority: 1,
    doc: "Name of the node on which pods are preempted for this one.",
    cell: (pod) => orNone(pod.status?.nominatedNodeName),
  },
  {
    name: "Readiness Gates",
    type: "string",
    priority: 1,
    doc: "Number of readiness gates whose conditions are true, out of all.",
    cell: readinessGates,
  },
];

/** The number of containers that run together: the regular ones and the sidecars. */
function containerCount({ spec }: PodShape): number {
  return (spec?.containers?.length ?? 0) + (spec?.initContainers ?? []).filter(isSidecar).length;
}

function readinessGates(pod: PodShape): string {
  const gates = pod.spec?.readinessGates ?? [];
  if (gates.length === 0) return "<none>";
  const statuses = new Map<string, string>();
  // Of several conditions with the same type the first one is used.
  for (const { type, status } of (pod.status?.conditions ?? []).toReversed()) statuses.set(type, status);
  const met = gates.filter(({ conditionType }) => statuses.get(conditionType) === "True");
  return `${met.length}/${gates.length}`;
}

interface Summary {
  readonly ready: number;
  readonly reason: string;
  readonly restarts: number;
  /** Time of the last termination of a restarted container; empty without restarts. */
  readonly lastRestart: string;
}

const summaries = new WeakMap<PodShape, Summary>();

/** Returns values that several cells of a row share; computed once per object. */
function summaryOf(pod: PodShape): Summary {
  let summary = summaries.get(pod);
  if (summary === undefined) summaries.set(pod, (summary = summarize(pod)));
  return summary;
}

function summarize(pod: PodShape): Summary {
  const init = initSummary(pod);
  // While a sidecar is restarted, an initialized pod shows its containers.
  const isInitialized =
    init.sidecars !== undefined &&
    (pod.status?.conditions ?? []).some(({ type, status }) => type === "Initialized" && status === "True");
  const all = init.reason === undefined || isInitialized ? containerSummary(pod, init) : init;
  const reason = all.reason ?? phaseReason(pod);
  return { ...all, reason: deletionReason(pod) ?? reason };
}

function phaseReason({ status }: PodShape): string {
  const gated = (status?.conditions ?? []).some(
    ({ type, reason }) => type === "PodScheduled" && reason === "SchedulingGated",
  );
  if (gated) return "SchedulingGated";
  const { reason = "", phase = "" } = status ?? {};
  return reason === "" ? phase : reason;
}

function deletionReason({ metadata, status }: PodShape): string | undefined {
  if (metadata.deletionTimestamp === undefined) return undefined;
  return status?.reason === "NodeLost" ? "Unknown" : "Terminating";
}

interface Partial {
  readonly ready: number;
  readonly reason: string | undefined;
  readonly restarts: number;
  readonly lastRestart: string;
}

/** The restarts of the sidecars. */
interface SidecarSummary {
  restarts: number;
  lastRestart: string;
}

interface InitSummary extends Partial {
  /** Undefined for a pod without sidecars. */
  readonly sidecars: SidecarSummary | undefined;
}

/** Summarizes the init containers up to the first one that isn't done or started; without a reason if there is none. */
function initSummary({ spec, status }: PodShape): InitSummary {
  let restarts = 0;
  let lastRestart = "";
  let ready = 0;
  const sidecarNames = new Set((spec?.initContainers ?? []).filter(isSidecar).map(({ name }) => name));
  const sidecars = sidecarNames.size === 0 ? undefined : { restarts: 0, lastRestart: "" };
  for (const [index, container] of (status?.initContainerStatuses ?? []).entries()) {
    restarts += container.restartCount;
    lastRestart = later(lastRestart, container);
    const isRestarted = sidecarNames.has(container.name);
    if (isRestarted && sidecars !== undefined) {
      sidecars.restarts += container.restartCount;
      sidecars.lastRestart = later(sidecars.lastRestart, container);
    }
    const { terminated, waiting } = container.state ?? {};
    if (terminated !== undefined && terminated.exitCode === 0) continue;
    if (isRestarted && container.started === true) {
      if (container.ready) ready++;
      continue;
    }
    const waitingReason = waiting?.reason ?? "";
    let reason = `${index}/${spec?.initContainers?.length ?? 0}`;
    if (terminated !== undefined) reason = endReason(terminated);
    else if (waitingReason !== "" && waitingReason !== "PodInitializing") reason = waitingReason;
    return { ready, reason: `Init:${reason}`, restarts, lastRestart, sidecars };
  }
  return { ready, reason: undefined, restarts, lastRestart, sidecars };
}

function endReason(ended: {
  reason?: string | undefined;
  signal?: number | undefined;
  exitCode: number;
}): string {
  const { reason = "", signal = 0, exitCode } = ended;
  if (reason !== "") return reason;
  return signal === 0 ? `ExitCode:${exitCode}` : `Signal:${signal}`;
}

/** Summarizes the regular containers; the reason is that of the first container that has one. */
function containerSummary(pod: PodShape, init: InitSummary): Partial {
  let { ready } = init;
  let restarts = init.sidecars?.restarts ?? 0;
  let lastRestart = init.sidecars === undefined ? init.lastRestart : init.sidecars.lastRestart;
  let reason: string | undefined;
  let running = false;
  for (const container of (pod.status?.containerStatuses ?? []).toReversed()) {
    restarts += container.restartCount;
    lastRestart = later(lastRestart, container);
    const { terminated, waiting, running: runs } = container.state ?? {};
    if ((waiting?.reason ?? "") !== "") reason = waiting!.reason;
    else if (terminated !== undefined) reason = endReason(terminated);
    else if (container.ready && runs !== undefined) {
      running = true;
      ready++;
    }
  }
  // If some containers have succeeded and others are running, the status is Running.
  if ((reason ?? phaseReason(pod)) === "Completed" && running) {
    const isReady = (pod.status?.conditions ?? []).some(
      ({ type, status }) => type === "Ready" && status === "True",
    );
    reason = isReady ? "Running" : "NotReady";
  }
  return { ready, reason, restarts, lastRestart };
}

function later(time: string, { lastState }: ContainerStatus): string {
  const ended: string | null = lastState?.terminated?.finishedAt ?? null;
  return ended !== null && ended > time ? ended : time;
}
