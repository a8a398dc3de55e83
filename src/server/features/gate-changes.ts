import type { Feature, Features, FeatureStage } from "./feature-gates.ts";

/**
 * A stage of a feature, with the default if it differs from that of the stage, and whether the default can be changed if that differs:
 * alpha and deprecated features are off, beta and stable ones on; stable ones are locked. Or that the gate was removed.
 */
export type GateState = `${FeatureStage}${"" | " on" | " off"}${"" | " locked" | " unlocked"}` | "removed";

/** The feature gates that a release adds, changes or removes, by name. */
export type GateChanges = Readonly<Record<string, GateState>>;

/** Returns the features of a release by those of the one before. */
export function applyChanges(before: Features, release: string, changes: GateChanges): Features {
  const gates: Record<string, Feature> = { ...before.gates };
  const removed = new Map(before.removed);
  for (const [name, state] of Object.entries(changes)) {
    if (state === "removed") {
      removed.set(name, { release, on: gates[name]?.on === true });
      delete gates[name];
    } else {
      gates[name] = featureIn(state);
      removed.delete(name);
    }
  }
  return { gates, removed };
}

function featureIn(state: Exclude<GateState, "removed">): Feature {
  const [stage, ...rest] = state.split(" ") as [FeatureStage, ...string[]];
  const isUsuallyOn = stage === "beta" || stage === "stable";
  return {
    stage,
    on: rest.includes("on") || (isUsuallyOn && !rest.includes("off")),
    locked: rest.includes("locked") || (stage === "stable" && !rest.includes("unlocked")),
  };
}
