import type { FeatureLifeCycle } from "./feature-life-cycles.ts";
import { isLater, releaseAfter } from "../../base/releases.ts";

const stages = ["alpha", "beta", "stable", "deprecated"] as const;

/** How far a feature has come (spec: conventions 9.2, rule 8). */
export type FeatureStage = (typeof stages)[number];

/** One feature as it stands in a release. */
export interface Feature {
  readonly stage: FeatureStage;
  readonly on: boolean;
}

/** The features of a release. */
export interface Features {
  /** Those that can be set, by their gates. */
  readonly gates: Readonly<Record<string, Feature>>;
  /** The release that removed a gate, by the gate. */
  readonly removed: ReadonlyMap<string, string>;
}

/** What a release has of the features of this table. */
export function featuresAt(release: string, table: Readonly<Record<string, FeatureLifeCycle>>): Features {
  const gates: Record<string, Feature> = {};
  const removed = new Map<string, string>();
  for (const [name, cycle] of Object.entries(table)) {
    const stage = stageAt(release, cycle);
    if (cycle.removed !== undefined && !isLater(cycle.removed, release)) removed.set(name, cycle.removed);
    else if (stage !== undefined)
      gates[name] = { stage, on: cycle.on ?? (stage === "beta" || stage === "stable") };
  }
  return { gates, removed };
}

function stageAt(release: string, cycle: FeatureLifeCycle): FeatureStage | undefined {
  return stages.findLast((stage) => {
    const since = cycle[stage];
    return since !== undefined && !isLater(since, release);
  });
}

/**
 * The first release that may lack the gate of a feature that became stable or was given up; undefined while it is neither.
 * Its gate works for 6 months or 2 releases after it became stable, for 3 months or 1 release after a beta was given up, and
 * no longer after an alpha was (spec: conventions 9.2, rule 8). There are three releases a year.
 */
export function earliestRemoval({ beta, stable, deprecated }: FeatureLifeCycle): string | undefined {
  if (stable !== undefined) return releaseAfter(stable, 2);
  if (deprecated === undefined) return undefined;
  return beta === undefined ? deprecated : releaseAfter(deprecated, 1);
}

/** A `--feature-gates` that can't be used. */
export class FeatureGateError extends Error {
  override name = "FeatureGateError";
}

/** Which features are on. */
export class FeatureGates {
  private constructor(
    private readonly features: Features,
    /** What was set, by name; also of whole stages. */
    readonly settings: ReadonlyMap<string, boolean>,
    /** What the operator should know of the settings. */
    readonly warnings: readonly string[],
  ) {}

  /**
   * Reads comma-separated `NAME=true|false` pairs; `AllAlpha` and `AllBeta` stand for every feature of that stage which
   * isn't named itself.
   *
   * @throws {FeatureGateError} for unknown and removed names, values that are neither true nor false, and stable features
   * turned off.
   */
  static parse(text: string, features: Features): FeatureGates {
    const settings = new Map<string, boolean>();
    const warnings: string[] = [];
    for (const pair of text.split(",").map((one) => one.trim())) {
      if (pair === "") continue;
      const [name = "", value] = pair.split("=", 2).map((one) => one.trim());
      if (value !== "true" && value !== "false") {
        throw new FeatureGateError(`${JSON.stringify(pair)}: a feature is set with NAME=true or NAME=false`);
      }
      const on = value === "true";
      const feature = gateOf(features, name);
      if (feature === undefined && name !== "AllAlpha" && name !== "AllBeta") throw unknown(name, features);
      if (feature?.stage === "stable" && !on) {
        throw new FeatureGateError(`cannot set feature gate ${name} to false, feature is locked to true`);
      }
      if (feature?.stage === "stable") warnings.push(`feature gate ${name} is stable; it will be removed`);
      if (feature?.stage === "deprecated") warnings.push(`feature gate ${name} is deprecated`);
      settings.set(name, on);
    }
    return new FeatureGates(features, settings, warnings);
  }

  /** Whether a feature is on; names that don't exist are a defect. */
  readonly enabled = (name: string): boolean => {
    const feature = gateOf(this.features, name);
    if (feature === undefined) throw new Error(`there is no feature gate ${name}`);
    const own = this.settings.get(name);
    if (own !== undefined) return own;
    const whole = feature.stage === "alpha" ? "AllAlpha" : feature.stage === "beta" ? "AllBeta" : "";
    return this.settings.get(whole) ?? feature.on;
  };
}

function gateOf({ gates }: Features, name: string): Feature | undefined {
  return Object.hasOwn(gates, name) ? gates[name] : undefined;
}

function unknown(name: string, { removed }: Features): FeatureGateError {
  const release = removed.get(name);
  const gone = release === undefined ? "" : `; it was removed in ${release}, what it stood for can't be set`;
  return new FeatureGateError(`unrecognized feature gate: ${name}${gone}`);
}
