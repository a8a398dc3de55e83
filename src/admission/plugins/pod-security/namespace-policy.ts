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

/** The modes of a policy: reject violating pods, record them in the audit log, or warn the client. */
export const modes = ["enforce", "audit", "warn"] as const;
export type Mode = (typeof modes)[number];

/** The level and version of each mode. */
export type Policy = Readonly<Record<Mode, LevelVersion>>;

/** The policy of a namespace, from its labels and the defaults. */
export interface NamespacePolicy extends Policy {
  /** Errors for invalid labels. An invalid level counts as `restricted` (`privileged` for audit and warn), an invalid version as `latest`. */
  readonly faults: readonly Cause[];
}

/** Whether all modes are `privileged`. */
export function isPrivileged(policy: Policy): boolean {
  return modes.every((mode) => policy[mode].level === "privileged");
}

/** Names of the labels that define the policy: `pod-security.platform.io/enforce` and `/enforce-version`. */
export interface PolicyLabels {
  readonly level: Readonly<Record<Mode, string>>;
  readonly version: Readonly<Record<Mode, string>>;
}

/** @param prefix the prefix of the labels, with the slash. */
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
  return { enforce, audit, warn: raiseWarnLevel(warn, enforce, labels, names), faults: report.faults };
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
    const parsed = parseLevel(levelText);
    level = parsed ?? (mode === "enforce" ? "restricted" : "privileged");
    if (parsed === undefined) labelReport(report, levelNames[mode]).invalid(levelText, levelForm);
  }
  const versionText = labels[versionNames[mode]];
  if (versionText !== undefined) {
    const parsed = parseVersion(versionText);
    minor = parsed ?? latest;
    if (parsed === undefined) labelReport(report, versionNames[mode]).invalid(versionText, versionMessage);
  }
  return { level, minor };
}

function labelReport(report: FieldReport, label: string): FieldReport {
  return report.at("metadata", "labels").key(label);
}

/** Without a label for `warn`, a stricter level of `enforce` applies to `warn` too. */
function raiseWarnLevel(
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
