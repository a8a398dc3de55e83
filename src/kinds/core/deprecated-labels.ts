import type { Vocabulary } from "../../vocabulary/vocabulary.ts";

/** Labels of nodes that got new names: the old one and the new one, without the domain. */
const renamed: readonly (readonly [old: string, now: string, since: string])[] = [
  ["failure-domain.beta.*/zone", "topology.*/zone", "v1.17"],
  ["failure-domain.beta.*/region", "topology.*/region", "v1.17"],
  ["beta.*/instance-type", "node.*/instance-type", "v1.17"],
  ["beta.*/os", "*/os", "v1.14"],
  ["beta.*/arch", "*/arch", "v1.14"],
];

function find(key: string, { domain }: Vocabulary): { now: string; since: string } | undefined {
  const found = renamed.find(([old]) => old.replace("*", domain) === key);
  return found === undefined ? undefined : { now: found[1].replace("*", domain), since: found[2] };
}

/** The new name of a label of nodes, if it has one. */
export function successorOf(key: string, vocabulary: Vocabulary): string | undefined {
  return find(key, vocabulary)?.now;
}

/** What a writer who uses an old label should know. */
export function labelWarnings(path: string, key: string, vocabulary: Vocabulary): string[] {
  const found = find(key, vocabulary);
  return found === undefined ? [] : [`${path}: deprecated since ${found.since}; use "${found.now}" instead`];
}
