import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { deprecatedBehaviors, type DeprecatedBehavior } from "../deprecated-behaviors.ts";

const { osLabel, archLabel, zoneLabel, regionLabel, typeLabel } = deprecatedBehaviors;
const renamed: readonly DeprecatedBehavior[] = [zoneLabel, regionLabel, typeLabel, osLabel, archLabel];

/** Returns the replacement of a deprecated node label, and the release of its deprecation. */
function find(key: string, { domain }: Vocabulary): { now: string; since: string } | undefined {
  const found = renamed.find(({ what }) => what.replace("*", domain) === key);
  return found === undefined
    ? undefined
    : { now: found.instead.replace("*", domain), since: found.deprecated };
}

/** Returns the replacement of a deprecated node label; undefined if it isn't deprecated. */
export function successorOf(key: string, vocabulary: Vocabulary): string | undefined {
  return find(key, vocabulary)?.now;
}

/** Returns the warning for a deprecated node label. */
export function labelWarnings(path: string, key: string, vocabulary: Vocabulary): string[] {
  const found = find(key, vocabulary);
  return found === undefined ? [] : [`${path}: deprecated since v${found.since}; use "${found.now}" instead`];
}
