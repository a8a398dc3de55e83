import { applies, since } from "../../../base/release-rows.ts";
import type { KindContext } from "../../../schema/context.ts";
import type { FieldReport } from "../../../schema/faults.ts";
import { checkContainers } from "./container-rules.ts";
import { dnsConfig } from "./network-rules.ts";
import { checkOperatingSystem, checkHostProcess } from "./os-rules.ts";
import { hostNetworkPorts } from "./port-rules.ts";
import { checkAmounts } from "./resource-rules.ts";
import type { PodSpec } from "./spec-fields.ts";

/** Whether an unmasked process file system needs a user namespace. */
const refusesUnmasked = applies(since("1.30"));

/** Checks members of a pod spec against each other; each field has its own rules in its declaration. */
export function checkPodSpec(spec: PodSpec, report: FieldReport, context: KindContext): void {
  checkContainers(spec, report, context);
  if (spec.hostNetwork === true) {
    for (const list of ["containers", "initContainers"] as const) {
      for (const [index, container] of (spec[list] ?? []).entries()) {
        hostNetworkPorts(container, report.at(list, index));
      }
    }
  }
  if (spec.hostPID === true && spec.shareProcessNamespace === true) {
    report
      .at("securityContext", "shareProcessNamespace")
      .invalid(true, "ShareProcessNamespace and HostPID cannot both be enabled");
  }
  if (spec.hostUsers === false) checkUserNamespace(spec, report);
  else if (refusesUnmasked(context)) rejectUnmasked(spec, report);
  dnsConfig(spec.dnsConfig, spec.dnsPolicy, report.at("dnsConfig"), context);
  // The overhead is checked as limits are, and faults have the path of limits.
  if (spec.overhead !== undefined) checkAmounts(spec.overhead, report.at("overhead", "limits"), context);
  checkOperatingSystem(spec, report);
  checkHostProcess(spec, report);
}

/** Rejects an unmasked process file system: it needs a user namespace of the pod. */
function rejectUnmasked(spec: PodSpec, report: FieldReport): void {
  for (const list of ["containers", "initContainers", "ephemeralContainers"] as const) {
    for (const [index, { securityContext }] of (spec[list] ?? []).entries()) {
      if (report.full) return;
      const at = report.at(list, index, "securityContext", "procMount");
      if (securityContext?.procMount === "Unmasked")
        at.invalid("Unmasked", "`hostUsers` must be false to use `Unmasked`");
    }
  }
}

const mappableVolumes = new Set(["name", "configMap", "secret", "downwardAPI", "emptyDir", "projected"]);

/** Rejects user namespaces together with host namespaces, or with volumes that outlive the pod. */
function checkUserNamespace(spec: PodSpec, report: FieldReport): void {
  for (const [index, volume] of (spec.volumes ?? []).entries()) {
    if (report.full) return;
    if (Object.keys(volume).some((name) => !mappableVolumes.has(name))) {
      report.at("volumes", index).forbidden("volume type not supported when `hostUsers` is false");
    }
  }
  for (const name of ["hostNetwork", "hostPID", "hostIPC"] as const) {
    if (spec[name] === true) report.at(name).forbidden("not allowed when `hostUsers` is false");
  }
}
