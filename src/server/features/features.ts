import { releases, type Release } from "../../base/releases.ts";
import { featureLifeCycles } from "./feature-life-cycles.ts";
import { FeatureGates, featuresAt, type Features } from "./feature-gates.ts";
import { applyChanges, type GateChanges } from "./gate-changes.ts";
import { gateChanges as changes27 } from "./releases/v1-27.ts";
import { gateChanges as changes28 } from "./releases/v1-28.ts";
import { gateChanges as changes29 } from "./releases/v1-29.ts";
import { gateChanges as changes30 } from "./releases/v1-30.ts";
import { gateChanges as changes31 } from "./releases/v1-31.ts";
import { gateChanges as changes32 } from "./releases/v1-32.ts";
import { gateChanges as changes33 } from "./releases/v1-33.ts";
import { gateChanges as changes34 } from "./releases/v1-34.ts";
import { gateChanges as changes35 } from "./releases/v1-35.ts";
import { gateChanges as changes36 } from "./releases/v1-36.ts";
import { gateChanges as changes37 } from "./releases/v1-37.ts";

/** The changes of each release after the first one; functions, so that a server creates only those of its release. */
const changesOf: Readonly<Record<Exclude<Release, "1.26">, () => GateChanges>> = {
  "1.27": changes27,
  "1.28": changes28,
  "1.29": changes29,
  "1.30": changes30,
  "1.31": changes31,
  "1.32": changes32,
  "1.33": changes33,
  "1.34": changes34,
  "1.35": changes35,
  "1.36": changes36,
  "1.37": changes37,
};

const featuresByRelease = new Map<Release, Features>();

/** Returns the features of a release. */
export function featuresOf(release: Release): Features {
  let features = featuresByRelease.get(release);
  if (features === undefined) {
    features = featuresAt("1.26", featureLifeCycles);
    for (const one of releases.slice(1, releases.indexOf(release) + 1)) {
      features = applyChanges(features, one, changesOf[one as keyof typeof changesOf]());
    }
    featuresByRelease.set(release, features);
  }
  return features;
}

/** Whether a release after the given one adds the feature. */
function isLaterFeature(name: string, release: Release): boolean {
  return releases
    .slice(releases.indexOf(release) + 1)
    .some((one) => Object.hasOwn(changesOf[one as keyof typeof changesOf](), name));
}

/**
 * Returns the feature gates of a release.
 *
 * @param text the settings, as in `--feature-gates`.
 * @throws {FeatureGateError} the settings can't be used.
 */
export function gatesOfRelease(release: Release, text = ""): FeatureGates {
  return FeatureGates.parse(text, featuresOf(release), (name) => isLaterFeature(name, release));
}
