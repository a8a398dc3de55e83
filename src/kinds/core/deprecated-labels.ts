import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { deprecatedBehaviors, type DeprecatedBehavior } from "../deprecated-behaviors.ts";

const { osLabel, archLabel, zoneLabel, regionLabel, typeLabel } = deprecatedBehaviors;
const renamed: readonly DeprecatedBehavior[] = [zoneLabel, regionLabel, typeLabel, osLabel, archLabel];

/** The new name of a label of nodes that has one, and since when the old one is deprecated. */
function find(key: string, { domain }: Vocabulary): { now: string; since: string } | undefined {
  const found = renamed.find(({ what }) => what.replace("*", domain) === key);
  return found === undefined
    ? undefined
    : { now: found.instead.replace("*", domain), since: found.deprecated };
}

/** The new name of a label of nodes, if it has one. */
export function successorOf(key: string, vocabulary: Vocabulary): string | undefined {
  return find(key, vocabulary)?.now;
}

/** What a writer who uses an old label should know. */
export function labelWarnings(path: string, key: string, vocabulary: Vocabulary): string[] {
  const found = find(key, vocabulary);
  return found === undefined ? [] : [`${path}: deprecated since v${found.since}; use "${found.now}" instead`];
}
