import { defaultRelease, type Release } from "../../../base/releases.ts";
import {
  type CheckedPod,
  type Check,
  type Control,
  type Violation,
  distinct,
  plural,
  quoted,
  containersNamed,
  exceptInUserNamespace,
  namesWhere,
} from "./control.ts";
import {
  hostNamespaces,
  hostPathVolumes,
  hostPorts,
  hostProbes,
  windowsHostProcess,
} from "./host-controls.ts";
import type { LevelVersion } from "./levels.ts";
import {
  allowPrivilegeEscalation,
  baselineCapabilities,
  privileged,
  restrictedCapabilities,
  runAsNonRoot,
  runAsUser,
} from "./privilege-controls.ts";
import { appArmorProfile, baselineSeccomp, restrictedSeccomp, seLinuxOptions } from "./profile-controls.ts";

/** Forbids an unmasked `/proc`, from v1.35 on only to pods among the users of the host. */
const procMount: Control = {
  id: "procMount",
  level: "baseline",
  rules: [
    { since: 0, check: unmasksProc },
    { since: 35, check: exceptInUserNamespace(unmasksProc) },
  ],
};

/** Forbids an unmasked `/proc` to all pods, where `baseline` doesn't. */
const restrictedProcMount: Control = {
  id: "procMount_restricted",
  level: "restricted",
  rules: [{ since: 35, check: unmasksProc }],
  replaces: procMount.id,
};

function unmasksProc(pod: CheckedPod): Violation | undefined {
  const types: string[] = [];
  const names = namesWhere(pod, ({ securityContext }) => {
    const type = securityContext?.procMount;
    if (type === undefined || type === "Default") return false;
    types.push(type);
    return true;
  });
  if (names.length === 0) return undefined;
  const which = quoted(distinct(types));
  const detail = `${containersNamed(names)} must not set securityContext.procMount to ${which}`;
  return { reason: "procMount", detail };
}

/** Kernel parameters that are local to the pod, by the minor release from which on they are allowed. */
const safeSysctls: readonly { readonly since: number; readonly names: readonly string[] }[] = [
  {
    since: 0,
    names: [
      "kernel.shm_rmid_forced",
      "net.ipv4.ip_local_port_range",
      "net.ipv4.tcp_syncookies",
      "net.ipv4.ping_group_range",
      "net.ipv4.ip_unprivileged_port_start",
    ],
  },
  { since: 27, names: ["net.ipv4.ip_local_reserved_ports"] },
  {
    since: 29,
    names: [
      "net.ipv4.tcp_keepalive_time",
      "net.ipv4.tcp_fin_timeout",
      "net.ipv4.tcp_keepalive_intvl",
      "net.ipv4.tcp_keepalive_probes",
    ],
  },
  { since: 32, names: ["net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"] },
];

/** Forbids kernel parameters that affect other pods of the node. */
const sysctls: Control = {
  id: "sysctls",
  level: "baseline",
  rules: safeSysctls.map(({ since }) => ({ since, check: setsOtherSysctls(sysctlsUntil(since)) })),
};

function sysctlsUntil(minor: number): ReadonlySet<string> {
  return new Set(safeSysctls.flatMap(({ since, names }) => (since <= minor ? names : [])));
}

function setsOtherSysctls(allowed: ReadonlySet<string>): Check {
  return ({ spec }) => {
    const names = (spec.securityContext?.sysctls ?? [])
      .map(({ name }) => name)
      .filter((name) => !allowed.has(name));
    return names.length === 0 ? undefined : { reason: "forbidden sysctls", detail: names.join(", ") };
  };
}

/** Allowed volume types. */
const allowedSources: ReadonlySet<string> = new Set([
  "configMap",
  "csi",
  "downwardAPI",
  "emptyDir",
  "ephemeral",
  "persistentVolumeClaim",
  "projected",
  "secret",
]);

/** Forbids volumes of other types. */
const restrictedVolumes: Control = {
  id: "restrictedVolumes",
  level: "restricted",
  rules: [
    { since: 0, check: mountsOthers(allowedSources) },
    { since: 0, sinceServer: 33, check: mountsOthers(new Set([...allowedSources, "image"])) },
  ],
  replaces: hostPathVolumes.id,
};

function mountsOthers(allowed: ReadonlySet<string>): Check {
  return ({ spec }) => otherVolumes(spec.volumes ?? [], allowed);
}

function otherVolumes(
  volumes: NonNullable<CheckedPod["spec"]["volumes"]>,
  allowed: ReadonlySet<string>,
): Violation | undefined {
  const names: string[] = [];
  const restrictedTypes: string[] = [];
  for (const { name, ...volume } of volumes) {
    const sources = Object.entries(volume).flatMap(([type, source]) => (source === undefined ? [] : type));
    if (sources.some((type) => allowed.has(type))) continue;
    names.push(name);
    restrictedTypes.push(sources[0] ?? "unknown");
  }
  if (names.length === 0) return undefined;
  const types = distinct(restrictedTypes);
  const verb = names.length === 1 ? "uses" : "use";
  const which = `${plural(types, "restricted volume type")} ${quoted(types)}`;
  return {
    reason: "restricted volume types",
    detail: `${plural(names, "volume")} ${quoted(names)} ${verb} ${which}`,
  };
}

/** The controls, in the order of messages. */
export const controls: readonly Control[] = [
  appArmorProfile,
  baselineCapabilities,
  hostNamespaces,
  hostPathVolumes,
  hostPorts,
  hostProbes,
  privileged,
  procMount,
  seLinuxOptions,
  baselineSeccomp,
  sysctls,
  windowsHostProcess,
  allowPrivilegeEscalation,
  restrictedCapabilities,
  restrictedProcMount,
  restrictedVolumes,
  runAsNonRoot,
  runAsUser,
  restrictedSeccomp,
];

/** Evaluates pods for levels. The rules of a level and version are cached. */
export class Evaluator {
  private readonly checks = new Map<string, readonly Check[]>();
  private readonly newest: number;

  /** @param release the release of the server. Later versions, and `latest`, have the same rules. */
  constructor(release: Release = defaultRelease) {
    this.newest = Number(release.slice(release.indexOf(".") + 1));
  }

  /** Returns the violations of a pod in the order of {@link controls}; none if the level allows it. */
  evaluate({ level, minor }: LevelVersion, pod: CheckedPod): readonly Violation[] {
    if (level === "privileged") return [];
    const release = Math.min(minor, this.newest);
    const key = `${level} ${release}`;
    let checks = this.checks.get(key);
    if (checks === undefined) this.checks.set(key, (checks = checksOf(level, release, this.newest)));
    return checks.flatMap((check) => check(pod) ?? []);
  }
}

/** Names of violations: `hostPort, privileged`. */
export function reasonsOf(violations: readonly Violation[]): string {
  return violations.map(({ reason }) => reason).join(", ");
}

/** Violations with details: `hostPort (container "c" uses hostPort 80), privileged (…)`. */
export function detailsOf(violations: readonly Violation[]): string {
  return violations.map(({ reason, detail }) => `${reason} (${detail})`).join(", ");
}

function checksOf(level: Control["level"], release: number, server: number): readonly Check[] {
  const holding = controls.flatMap((control) => {
    if (control.level === "restricted" && level === "baseline") return [];
    const rule = control.rules.findLast(
      ({ since, sinceServer = 0 }) => since <= release && sinceServer <= server,
    );
    return rule === undefined ? [] : [{ ...control, check: rule.check }];
  });
  const replaced = new Set(holding.map(({ replaces }) => replaces));
  return holding.filter(({ id }) => !replaced.has(id)).map(({ check }) => check);
}
