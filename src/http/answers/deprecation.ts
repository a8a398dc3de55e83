import { deprecationWarning, lifeCycleOf } from "../../kinds/life-cycles.ts";
import type { Resource } from "../../resources/registry/registry.ts";
import { referenceRelease, type Vocabulary } from "../../vocabulary/vocabulary.ts";

const warningCache = new WeakMap<Resource, string>();
const release = `${referenceRelease.major}.${referenceRelease.minor}`;

/** Returns the warning for a deprecated version (spec: conventions 9.2); empty for other versions. */
export function deprecationOf(resource: Resource, vocabulary: Vocabulary): string {
  let cached = warningCache.get(resource);
  if (cached === undefined) {
    const { group, version, name, custom } = resource.kind;
    const cycle = custom === undefined ? lifeCycleOf(group, version, name) : undefined;
    cached =
      cycle === undefined
        ? (custom?.deprecation ?? "")
        : (deprecationWarning(cycle, release, vocabulary) ?? "");
    warningCache.set(resource, cached);
  }
  return cached;
}
