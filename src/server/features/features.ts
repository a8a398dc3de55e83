import { featureLifeCycles } from "./feature-life-cycles.ts";
import { featuresAt } from "./feature-gates.ts";
import { referenceRelease } from "../../vocabulary/vocabulary.ts";

/** The features of the reference release. */
export const features = featuresAt(`${referenceRelease.major}.${referenceRelease.minor}`, featureLifeCycles);
