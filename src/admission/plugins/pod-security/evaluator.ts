import { defaultRelease, type Release } from "../../../base/releases.ts";
import type { CheckedPod, Check, Control, Violation } from "./control.ts";
import {
  hostNamespaces,
  hostPathVolumes,
  hostPorts,
  hostProbes,
  windowsHostProcess,
} from "./host-controls.ts";
import { procMount, restrictedProcMount, sysctls } from "./kernel-controls.ts";
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
import { restrictedVolumes } from "./volume-controls.ts";

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
