import type { FieldReport } from "../../../schema/faults.ts";
import type { Container } from "./container.ts";
import type { EphemeralContainer, PodSpec } from "./spec-fields.ts";
import { checkVolumeUse, type DeclaredVolumes } from "./mount-rules.ts";
import type { KindContext } from "../../../schema/context.ts";
import { checkRestartPolicy, isSidecar } from "./restart-policy.ts";
import { uniqueHostPorts } from "./port-rules.ts";
import { checkClaims } from "./resource-rules.ts";

/** Properties of a pod that the rules of its containers use. */
interface Declared {
  /** Name of the operating system. */
  readonly os: string | undefined;
  /** In seconds. */
  readonly gracePeriod: number | bigint | undefined;
  /** Whether all containers may have a restart policy. */
  readonly hasRestartRules: boolean;
  /** The shortest pause of a lifecycle handler, in seconds. */
  readonly minPause: 0 | 1;
  readonly volumes: DeclaredVolumes;
  readonly claims: ReadonlySet<string>;
}

/** Checks containers of all types against each other and against the volumes and claims of their pod. */
export function checkContainers(spec: PodSpec, report: FieldReport, { enabled }: KindContext): void {
  const declared: Declared = {
    os: spec.os?.name,
    gracePeriod: spec.terminationGracePeriodSeconds,
    hasRestartRules: enabled("ContainerRestartRules"),
    minPause: enabled("PodLifecycleSleepActionAllowZero") ? 0 : 1,
    volumes: new Map(
      (spec.volumes ?? []).map((volume) => [
        volume.name,
        volume.persistentVolumeClaim !== undefined || volume.ephemeral !== undefined,
      ]),
    ),
    claims: new Set((spec.resourceClaims ?? []).map(({ name }) => name)),
  };
  const names = new Set<string>();
  checkRegular(spec.containers ?? [], names, declared, report.at("containers"));
  checkInit(spec.initContainers ?? [], names, declared, report.at("initContainers"));
  const ephemeral = spec.ephemeralContainers ?? [];
  if (ephemeral.length > 0) checkEphemeral(ephemeral, names, declared, report.at("ephemeralContainers"));
}

type AnyContainer = Container | EphemeralContainer;

function checkShared(
  container: AnyContainer,
  names: Set<string>,
  declared: Declared,
  report: FieldReport,
): void {
  if (container.name !== "") {
    if (names.has(container.name)) report.at("name").duplicate(container.name);
    names.add(container.name);
  }
  checkVolumeUse(container, declared.volumes, report);
  checkClaims(container.resources?.claims, declared.claims, report.at("resources", "claims"));
}

function checkRegular(
  containers: readonly Container[],
  names: Set<string>,
  declared: Declared,
  report: FieldReport,
): void {
  const hostPorts = new Set<string>();
  for (const [index, container] of containers.entries()) {
    if (report.full) return;
    const at = report.at(index);
    checkShared(container, names, declared, at);
    checkRestartPolicy(container, false, declared.hasRestartRules, at);
    checkProbes(container, at);
    checkLifecycle(container.lifecycle, declared, at.at("lifecycle"));
    uniqueHostPorts(container, hostPorts, at);
  }
}

/** Requires a success threshold of 1 for liveness and startup probes; rejects a grace period of readiness probes. */
function checkProbes(container: Container, report: FieldReport): void {
  for (const name of ["livenessProbe", "startupProbe"] as const) {
    const successes = container[name]?.successThreshold;
    if (successes !== undefined && successes !== 1) {
      report.at(name, "successThreshold").invalid(successes, "must be 1");
    }
  }
  const grace = container.readinessProbe?.terminationGracePeriodSeconds;
  if (grace !== undefined) {
    report
      .at("readinessProbe", "terminationGracePeriodSeconds")
      .invalid(grace, "must not be set for readinessProbes");
  }
}

/** Checks pauses against the grace period of the pod, and the signal that stops a container against its operating system. */
function checkLifecycle(
  lifecycle: Container["lifecycle"],
  { os, gracePeriod, minPause }: Declared,
  report: FieldReport,
): void {
  for (const name of ["postStart", "preStop"] as const) {
    const sleep = lifecycle?.[name]?.sleep;
    if (sleep === undefined || gracePeriod === undefined) continue;
    if (sleep.seconds < minPause || sleep.seconds > gracePeriod) {
      const message = `must be from ${minPause} to terminationGracePeriodSeconds (${gracePeriod})`;
      report.at(name, "sleep").invalid(sleep.seconds, message);
    }
  }
  const { stopSignal } = lifecycle ?? {};
  if (stopSignal !== undefined) checkStopSignal(stopSignal, os, report.at("stopSignal"));
}

const notForInit = ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"] as const;

/**
 * Rejects members that init containers can't have, because they run to completion one after the other. Sidecars may have them.
 */
function checkInit(
  containers: readonly Container[],
  names: Set<string>,
  declared: Declared,
  report: FieldReport,
): void {
  for (const [index, container] of containers.entries()) {
    if (report.full) return;
    const at = report.at(index);
    checkShared(container, names, declared, at);
    uniqueHostPorts(container, new Set(), at);
    checkRestartPolicy(container, true, declared.hasRestartRules, at);
    if (isSidecar(container)) {
      checkProbes(container, at);
      checkLifecycle(container.lifecycle, declared, at.at("lifecycle"));
      continue;
    }
    for (const name of notForInit) {
      if (container[name] === undefined) continue;
      at.at(name).forbidden("may not be set for init containers without restartPolicy=Always");
    }
  }
}

const notForEphemeral = [
  "ports",
  "livenessProbe",
  "readinessProbe",
  "lifecycle",
  "startupProbe",
  "resizePolicy",
  "restartPolicy",
  "restartPolicyRules",
] as const;

/** Rejects members that ephemeral containers can't have, such as ports and resources. */
function checkEphemeral(
  containers: readonly EphemeralContainer[],
  names: Set<string>,
  declared: Declared,
  report: FieldReport,
): void {
  const targets = new Set(names);
  const message = "cannot be set for an Ephemeral Container";
  for (const [index, container] of containers.entries()) {
    if (report.full) return;
    const at = report.at(index);
    checkShared(container, names, declared, at);
    checkImageText(container, at);
    const { targetContainerName = "" } = container;
    if (targetContainerName !== "" && !targets.has(targetContainerName)) {
      at.at("targetContainerName").notFound(targetContainerName);
    }
    for (const name of notForEphemeral) {
      if (container[name] !== undefined) at.at(name).forbidden(message);
    }
    if (Object.keys(container.resources ?? {}).length > 0) at.at("resources").forbidden(message);
    for (const [position, mount] of (container.volumeMounts ?? []).entries()) {
      for (const name of ["subPath", "subPathExpr"] as const) {
        if ((mount[name] ?? "") !== "") at.at("volumeMounts", position, name).forbidden(message);
      }
    }
  }
}

/** Rejects images with leading or trailing spaces, in pods but not in templates. */
export function checkImageText(
  container: { readonly image?: string | undefined },
  report: FieldReport,
): void {
  const { image = "" } = container;
  if (image !== image.trim()) {
    report.at("image").invalid(image, "must not have leading or trailing whitespace");
  }
}

const realTimeSignals = [
  ...Array.from({ length: 15 }, (_, index) => `SIGRTMIN+${index + 1}`),
  ...Array.from({ length: 14 }, (_, index) => `SIGRTMAX-${14 - index}`),
];

const signalNames =
  "ABRT ALRM BUS CHLD CLD CONT FPE HUP ILL INT IO IOT KILL PIPE POLL PROF PWR QUIT SEGV STKFLT " +
  "STOP SYS TERM TRAP TSTP TTIN TTOU URG USR1 USR2 VTALRM WINCH XCPU XFSZ RTMIN RTMAX";

const linuxSignals: ReadonlySet<string> = new Set([
  ...signalNames.split(" ").map((name) => `SIG${name}`),
  ...realTimeSignals,
]);

const windowsSignals: ReadonlySet<string> = new Set(["SIGTERM", "SIGKILL"]);

/**
 * Checks the signal that stops a container.
 *
 * @param os name of the pod's operating system; undefined if the pod doesn't name it.
 */
function checkStopSignal(signal: string, os: string | undefined, report: FieldReport): void {
  if (os === undefined) {
    report.forbidden("may not be set for containers with empty `spec.os.name`");
    return;
  }
  const signals = os === "windows" ? windowsSignals : linuxSignals;
  if (!signals.has(signal)) report.notSupported(signal, [...signals].toSorted());
}
