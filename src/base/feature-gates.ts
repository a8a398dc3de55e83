/** How far a feature has come (spec: conventions 9.2, rule 8). */
export type FeatureStage = "alpha" | "beta" | "stable" | "deprecated";

/** One feature that can be turned on or off. */
export interface Feature {
  readonly stage: FeatureStage;
  readonly on: boolean;
}

/** A `--feature-gates` that can't be used. */
export class FeatureGateError extends Error {
  override name = "FeatureGateError";
}

/** Which features are on. */
export class FeatureGates {
  private constructor(
    private readonly features: Readonly<Record<string, Feature>>,
    /** What was set, by name; also of whole stages. */
    readonly settings: ReadonlyMap<string, boolean>,
    /** What the operator should know of the settings. */
    readonly warnings: readonly string[],
  ) {}

  /**
   * Reads comma-separated `NAME=true|false` pairs; `AllAlpha` and `AllBeta` stand for every feature of that stage which
   * isn't named itself.
   *
   * @throws {FeatureGateError} for unknown names, values that are neither true nor false, and stable features turned off.
   */
  static parse(text: string, features: Readonly<Record<string, Feature>>): FeatureGates {
    const settings = new Map<string, boolean>();
    const warnings: string[] = [];
    for (const pair of text.split(",").map((one) => one.trim())) {
      if (pair === "") continue;
      const [name = "", value] = pair.split("=", 2).map((one) => one.trim());
      if (value !== "true" && value !== "false") {
        throw new FeatureGateError(`${JSON.stringify(pair)}: a feature is set with NAME=true or NAME=false`);
      }
      const on = value === "true";
      const feature = Object.hasOwn(features, name) ? features[name] : undefined;
      if (feature === undefined && name !== "AllAlpha" && name !== "AllBeta") {
        throw new FeatureGateError(`unrecognized feature gate: ${name}`);
      }
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
    const feature = Object.hasOwn(this.features, name) ? this.features[name] : undefined;
    if (feature === undefined) throw new Error(`there is no feature gate ${name}`);
    const own = this.settings.get(name);
    if (own !== undefined) return own;
    const whole = feature.stage === "alpha" ? "AllAlpha" : feature.stage === "beta" ? "AllBeta" : "";
    return this.settings.get(whole) ?? feature.on;
  };
}
