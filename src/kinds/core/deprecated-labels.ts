import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { deprecatedBehaviors, type DeprecatedBehavior } from "../deprecated-behaviors.ts";

const { osLabel, archLabel, zoneLabel, regionLabel, typeLabel } = deprecatedBehaviors;
const renamed: readonly DeprecatedBehavior[] = [zoneLabel, regionLabel, typeLabel, osLabel, archLabel];

/** Returns the replacement of a deprecated node label, and the release of its deprecation. */
function replacementOf(key: string, { domain }: Vocabulary): { now: string; since: string } | undefined {
  const match = renamed.find(({ what }) => what.replace("*", domain) === key);
  return match === undefined
    ? undefined
    : { now: match.instead.replace("*", domain), since: match.deprecated };
}

/** Returns the replacement of a deprecated node label; undefined if it isn't deprecated. */
export function successorOf(key: string, vocabulary: Vocabulary): string | undefined {
  return replacementOf(key, vocabulary)?.now;
}

/** Returns the warning for a deprecated node label. */
export function labelWarnings(path: string, key: string, vocabulary: Vocabulary): string[] {
  const match = replacementOf(key, vocabulary);
  return match === undefined ? [] : [`${path}: deprecated since v${match.since}; use "${match.now}" instead`];
}
