import { similarName } from "../../base/similar-name.ts";
import type { FeatureLifeCycle } from "./feature-life-cycles.ts";
import { isLater, releaseAfter } from "../../base/releases.ts";

const stages = ["alpha", "beta", "stable", "deprecated"] as const;

/** The stage of a feature (spec: conventions 9.2, rule 8). */
export type FeatureStage = (typeof stages)[number];

/** A feature in one release. */
export interface Feature {
  readonly stage: FeatureStage;
  readonly on: boolean;
  /** Whether it can't be set to another value. */
  readonly locked: boolean;
}

/** A feature whose gate was removed. */
export interface RemovedGate {
  /** The first release without the gate. */
  readonly release: string;
  /** Whether the feature is part of all later releases. */
  readonly on: boolean;
}

/** The features of a release. */
export interface Features {
  /** The features that can be set, by gate name. */
  readonly gates: Readonly<Record<string, Feature>>;
  /** The removed gates, by name. */
  readonly removed: ReadonlyMap<string, RemovedGate>;
}

/** Returns the features of the table at a release. */
export function featuresAt(release: string, table: Readonly<Record<string, FeatureLifeCycle>>): Features {
  const gates: Record<string, Feature> = {};
  const removed = new Map<string, RemovedGate>();
  for (const [name, cycle] of Object.entries(table)) {
    const stage = stageAt(release, cycle);
    if (cycle.removed !== undefined && !isLater(cycle.removed, release))
      removed.set(name, { release: cycle.removed, on: cycle.stable !== undefined });
    else if (stage !== undefined)
      gates[name] = {
        stage,
        on: cycle.on ?? (stage === "beta" || stage === "stable"),
        locked: stage === "stable",
      };
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
 * Returns the first release that may remove the gate of a stable or abandoned feature; undefined for others. A gate
 * works for at least 6 months or 2 releases after the feature became stable, and 3 months or 1 release after a beta
 * was abandoned; the gate of an abandoned alpha may be removed at once (spec: conventions 9.2, rule 8). There are
 * three releases a year.
 */
export function earliestRemoval({ beta, stable, deprecated }: FeatureLifeCycle): string | undefined {
  if (stable !== undefined) return releaseAfter(stable, 2);
  if (deprecated === undefined) return undefined;
  return beta === undefined ? deprecated : releaseAfter(deprecated, 1);
}

/** Thrown for a value of `--feature-gates` that can't be used. */
export class FeatureGateError extends Error {
  override name = "FeatureGateError";
}

/** The enabled features. */
export class FeatureGates {
  private constructor(
    private readonly features: Features,
    /** The settings by name, including `AllAlpha` and `AllBeta`. */
    readonly settings: ReadonlyMap<string, boolean>,
    /** Warnings for the operator about the settings. */
    readonly warnings: readonly string[],
    private readonly isLater: (name: string) => boolean,
  ) {}

  /**
   * Parses comma-separated `NAME=true|false` pairs. `AllAlpha` and `AllBeta` set every feature of the stage that
   * isn't named itself.
   *
   * @param isLater whether a later release has a feature.
   * @throws {FeatureGateError} if a name is unknown or removed, a value is neither true nor false, or a stable
   * feature is turned off.
   */
  static parse(
    text: string,
    features: Features,
    isLater: (name: string) => boolean = () => false,
  ): FeatureGates {
    const settings = new Map<string, boolean>();
    const warnings: string[] = [];
    for (const pair of text.split(",").map((one) => one.trim())) {
      if (pair === "") continue;
      const [name = "", value] = pair.split("=", 2).map((one) => one.trim());
      if (value !== "true" && value !== "false") {
        throw new FeatureGateError(`${JSON.stringify(pair)}: a feature is set with NAME=true or NAME=false`);
      }
      const on = value === "true";
      const feature = featureOf(features, name);
      if (feature === undefined && name !== "AllAlpha" && name !== "AllBeta")
        throw unknownGateError(name, features);
      if (feature?.locked === true && on !== feature.on) {
        throw new FeatureGateError(
          `cannot set feature gate ${name} to ${on}, feature is locked to ${feature.on}`,
        );
      }
      if (feature?.stage === "stable") warnings.push(`feature gate ${name} is stable; it will be removed`);
      if (feature?.stage === "deprecated") warnings.push(`feature gate ${name} is deprecated`);
      settings.set(name, on);
    }
    return new FeatureGates(features, settings, warnings, isLater);
  }

  /** Whether the feature is enabled; one without a gate is, if the release has it. An unknown name is a bug and throws. */
  readonly enabled = (name: string): boolean => {
    const feature = featureOf(this.features, name);
    if (feature === undefined) {
      const removed = this.features.removed.get(name);
      if (removed !== undefined) return removed.on;
      if (this.isLater(name)) return false;
      throw new Error(`there is no feature gate ${name}`);
    }
    const own = this.settings.get(name);
    if (own !== undefined) return own;
    const stageSetting = feature.stage === "alpha" ? "AllAlpha" : feature.stage === "beta" ? "AllBeta" : "";
    return this.settings.get(stageSetting) ?? feature.on;
  };
}

function featureOf({ gates }: Features, name: string): Feature | undefined {
  return Object.hasOwn(gates, name) ? gates[name] : undefined;
}

function unknownGateError(name: string, { gates, removed }: Features): FeatureGateError {
  const message = `unrecognized feature gate: ${name}`;
  const gate = removed.get(name);
  if (gate !== undefined)
    return new FeatureGateError(`${message}; it was removed in ${gate.release} and can no longer be set`);
  const similar = similarName(name, Object.keys(gates));
  return new FeatureGateError(similar === undefined ? message : `${message}; did you mean ${similar}?`);
}
