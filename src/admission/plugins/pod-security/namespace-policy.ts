import type { Cause } from "../../../base/status-error.ts";
import { FieldReport } from "../../../schema/faults.ts";
import {
  isStricter,
  latest,
  levelForm,
  parseLevel,
  parseVersion,
  versionMessage,
  type Level,
  type LevelVersion,
} from "./levels.ts";

/** What a policy does with pods that violate its level: reject them, record them in the audit log, warn the client. */
export const modes = ["enforce", "audit", "warn"] as const;
export type Mode = (typeof modes)[number];

/** The level of each mode. */
export type Policy = Readonly<Record<Mode, LevelVersion>>;

/** The policy of a namespace: what its labels say, and the defaults for what they don't say. */
export interface NamespacePolicy extends Policy {
  /** The invalid labels. Something is evaluated in place of each: `restricted` and `latest`, but `privileged` to audit and warn. */
  readonly faults: readonly Cause[];
}

/** Whether all modes of a policy allow everything. */
export function isPrivileged(policy: Policy): boolean {
  return modes.every((mode) => policy[mode].level === "privileged");
}

/** The labels of a namespace that choose its policy: `pod-security.platform.io/enforce` and `/enforce-version`. */
export interface PolicyLabels {
  readonly level: Readonly<Record<Mode, string>>;
  readonly version: Readonly<Record<Mode, string>>;
}

/** @param prefix prefix of the labels, with its slash. */
export function policyLabels(prefix: string): PolicyLabels {
  const named = (suffix: string) => ({
    enforce: `${prefix}enforce${suffix}`,
    audit: `${prefix}audit${suffix}`,
    warn: `${prefix}warn${suffix}`,
  });
  return { level: named(""), version: named("-version") };
}

type Labels = Readonly<Record<string, string>>;

/** Reads the policy of a namespace from its labels. */
export function policyOf(labels: Labels | undefined, names: PolicyLabels, defaults: Policy): NamespacePolicy {
  if (labels === undefined) return { ...defaults, faults: [] };
  const report = FieldReport.start();
  const enforce = levelOf("enforce", labels, names, defaults, report);
  const audit = levelOf("audit", labels, names, defaults, report);
  const warn = levelOf("warn", labels, names, defaults, report);
  return { enforce, audit, warn: raised(warn, enforce, labels, names), faults: report.faults };
}

function levelOf(
  mode: Mode,
  labels: Labels,
  { level: levelNames, version: versionNames }: PolicyLabels,
  defaults: Policy,
  report: FieldReport,
): LevelVersion {
  let { level, minor } = defaults[mode];
  const levelText = labels[levelNames[mode]];
  if (levelText !== undefined) {
    const found = parseLevel(levelText);
    level = found ?? (mode === "enforce" ? "restricted" : "privileged");
    if (found === undefined) placeOf(report, levelNames[mode]).invalid(levelText, levelForm);
  }
  const versionText = labels[versionNames[mode]];
  if (versionText !== undefined) {
    const found = parseVersion(versionText);
    minor = found ?? latest;
    if (found === undefined) placeOf(report, versionNames[mode]).invalid(versionText, versionMessage);
  }
  return { level, minor };
}

function placeOf(report: FieldReport, label: string): FieldReport {
  return report.at("metadata", "labels").key(label);
}

/** Who labels a namespace to enforce a level and says nothing of warnings gets them for that level too. */
function raised(
  warn: LevelVersion,
  enforce: LevelVersion,
  labels: Labels,
  { level, version }: PolicyLabels,
): LevelVersion {
  const enforced: Level | undefined = parseLevel(labels[level.enforce] ?? "");
  if (labels[level.warn] !== undefined || enforced === undefined) return warn;
  if (!isStricter(enforced, warn.level)) return warn;
  return { level: enforced, minor: labels[version.warn] === undefined ? enforce.minor : warn.minor };
}
