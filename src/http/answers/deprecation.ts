import { deprecationWarning, lifeCycleOf } from "../../kinds/life-cycles.ts";
import type { Resource } from "../../resources/registry/registry.ts";
import { referenceRelease, type Vocabulary } from "../../vocabulary/vocabulary.ts";

const known = new WeakMap<Resource, string>();
const release = `${referenceRelease.major}.${referenceRelease.minor}`;

/** The warning to callers of a deprecated version (spec: conventions 9.2); empty for a version that isn't deprecated. */
export function deprecationOf(resource: Resource, vocabulary: Vocabulary): string {
  let found = known.get(resource);
  if (found === undefined) {
    const { group, version, name, custom } = resource.kind;
    const cycle = custom === undefined ? lifeCycleOf(group, version, name) : undefined;
    found =
      cycle === undefined
        ? (custom?.deprecation ?? "")
        : (deprecationWarning(cycle, release, vocabulary) ?? "");
    known.set(resource, found);
  }
  return found;
}
