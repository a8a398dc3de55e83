import { applies, until } from "../../../base/release-rows.ts";
import { dnsSubdomainFaults, qualifiedNameFaults } from "../../../base/names.ts";
import { isIPv4 } from "node:net";
import type { KindContext } from "../../../schema/context.ts";
import type { FieldReport } from "../../../schema/faults.ts";
import { ipAddress, isAddress } from "../../checks/addresses.ts";
import { checkPodAnnotationsKept } from "./annotation-rules.ts";
import type { PodShape } from "./pod-shape.ts";
import type { ContainerStatus, PodStatus } from "./status.ts";
import { unambiguousAddress } from "../../checks/strict-addresses.ts";

/** Condition types that need no domain. */
const systemConditions = new Set(["PodScheduled", "Ready", "Initialized"]);

/** Checks a write of a pod's status. */
export function checkPodStatus(
  pod: PodShape,
  live: PodShape,
  report: FieldReport,
  context: KindContext,
): void {
  checkPodAnnotationsKept(pod, live, report, context);
  const now = pod.status ?? {};
  const before = live.status ?? {};
  const statusReport = report.at("status");
  for (const [index, { type }] of (now.conditions ?? []).entries()) {
    if (statusReport.full) return;
    if (systemConditions.has(type)) continue;
    for (const message of qualifiedNameFaults(type))
      statusReport.at("conditions", index, "type").invalid(type, message);
  }
  const node = now.nominatedNodeName ?? "";
  if (node !== "" && node !== before.nominatedNodeName) {
    for (const message of dnsSubdomainFaults(node))
      statusReport.at("nominatedNodeName").invalid(node, message);
  }
  const policy = live.spec?.restartPolicy ?? "Always";
  checkStates(now, before, "containerStatuses", policy, statusReport);
  checkStates(now, before, "initContainerStatuses", policy, statusReport);
  // Ephemeral containers are never restarted.
  checkStates(now, before, "ephemeralContainerStatuses", "Never", statusReport);
  checkAddresses(now, statusReport.at("podIPs"), context);
  for (const list of ["podIPs", "hostIPs"] as const) {
    const existing = (before[list] ?? []).map(({ ip = "" }) => ip);
    for (const [index, { ip = "" }] of (now[list] ?? []).entries())
      unambiguousAddress(ip, statusReport.at(list, index), context, existing);
  }
}

type StatusList = "containerStatuses" | "initContainerStatuses" | "ephemeralContainerStatuses";

/** Rejects a running state of a container that has terminated and isn't restarted. */
function checkStates(
  now: PodStatus,
  before: PodStatus,
  list: StatusList,
  restartPolicy: string,
  report: FieldReport,
): void {
  if (restartPolicy === "Always") return;
  const states = new Map<string, ContainerStatus>((now[list] ?? []).map((status) => [status.name, status]));
  for (const [index, old] of (before[list] ?? []).entries()) {
    if (report.full) return;
    const ended = old.state?.terminated;
    if (ended === undefined || (ended.exitCode !== 0 && restartPolicy === "OnFailure")) continue;
    const status = states.get(old.name);
    if (status === undefined || status.state?.terminated !== undefined) continue;
    report.at(list, index, "state").forbidden("may not be transitioned to non-terminated state");
  }
}

const refusesDuplicates = applies(until("1.33"));

/** Allows at most one address per family; releases before 1.33 also report duplicates. */
function checkAddresses(status: PodStatus, report: FieldReport, context: Pick<KindContext, "release">): void {
  const addresses = (status.podIPs ?? []).map(({ ip }) => ip ?? "");
  const seen = new Set<string>();
  for (const [index, address] of addresses.entries()) {
    if (report.full) return;
    ipAddress(address, report.at(index));
    if (seen.has(address) && refusesDuplicates(context)) report.at(index).duplicate({ ip: address });
    seen.add(address);
  }
  if (addresses.length < 2) return;
  const families = new Set(addresses.filter(isAddress).map((address) => isIPv4(address)));
  if (addresses.length > 2 || families.size !== 2) {
    report.invalid(status.podIPs, "may specify no more than one IP for each IP family");
  }
}
