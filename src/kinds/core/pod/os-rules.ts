import type { FieldReport } from "../../../schema/faults.ts";
import type { PodSpec } from "./spec-fields.ts";

const systems = ["linux", "windows"];

const notForWindowsPod = [
  "seLinuxOptions",
  "seccompProfile",
  "fsGroup",
  "fsGroupChangePolicy",
  "sysctls",
  "runAsUser",
  "runAsGroup",
  "supplementalGroups",
] as const;

const notForWindowsContainer = [
  "seLinuxOptions",
  "seccompProfile",
  "capabilities",
  "readOnlyRootFilesystem",
  "privileged",
  "allowPrivilegeEscalation",
  "procMount",
  "runAsUser",
  "runAsGroup",
] as const;

/** Rejects members that the pod's operating system doesn't support. */
export function checkOperatingSystem(spec: PodSpec, report: FieldReport): void {
  const name = spec.os?.name ?? "";
  if (name === "") return;
  if (!systems.includes(name)) report.at("os").notSupported(name, systems);
  else if (name === "linux") checkLinux(spec, report);
  else checkWindows(spec, report);
}

function checkLinux(spec: PodSpec, report: FieldReport): void {
  const message = "windows options cannot be set for a linux pod";
  if (spec.securityContext?.windowsOptions !== undefined) {
    report.at("securityContext", "windowsOptions").forbidden(message);
  }
  for (const [container, at] of everyContainer(spec, report)) {
    if (container.securityContext?.windowsOptions !== undefined) {
      at.at("securityContext", "windowsOptions").forbidden(message);
    }
  }
}

function checkWindows(spec: PodSpec, report: FieldReport): void {
  const message = "cannot be set for a windows pod";
  for (const name of notForWindowsPod) {
    if (spec.securityContext?.[name] !== undefined) report.at("securityContext", name).forbidden(message);
  }
  for (const name of ["hostPID", "hostIPC"] as const) {
    if (spec[name] === true) report.at(name).forbidden(message);
  }
  for (const name of ["hostUsers", "shareProcessNamespace"] as const) {
    if (spec[name] !== undefined) report.at(name).forbidden(message);
  }
  for (const [container, at] of everyContainer(spec, report)) {
    for (const name of notForWindowsContainer) {
      if (container.securityContext?.[name] !== undefined) at.at("securityContext", name).forbidden(message);
    }
  }
}

/** Checks HostProcess containers of Windows: all containers of a pod or none, with host network. */
export function checkHostProcess(spec: PodSpec, report: FieldReport): void {
  const ofPod = spec.securityContext?.windowsOptions?.hostProcess;
  let containers = 0;
  let hostProcesses = 0;
  for (const [container, at] of everyContainer(spec, report)) {
    const own = container.securityContext?.windowsOptions?.hostProcess;
    containers++;
    if (own ?? ofPod ?? false) hostProcesses++;
    if (ofPod !== undefined && own !== undefined && ofPod !== own) {
      at.at("securityContext", "windowsOptions", "hostProcess").invalid(own, "must be the same as the pod's");
    }
  }
  if (hostProcesses === 0) return;
  if (hostProcesses !== containers)
    report.invalid("", "either all containers are HostProcess containers or none");
  if (spec.hostNetwork !== true) {
    report.at("hostNetwork").invalid(false, "must be true if the pod has HostProcess containers");
  }
}

const lists = ["initContainers", "containers", "ephemeralContainers"] as const;

function* everyContainer(spec: PodSpec, report: FieldReport) {
  for (const list of lists) {
    for (const [index, container] of (spec[list] ?? []).entries()) {
      if (report.full) return;
      yield [container, report.at(list, index)] as const;
    }
  }
}
