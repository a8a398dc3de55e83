import { deprecationWarning, lifeCycleOf } from "../../kinds/life-cycles.ts";
import type { Registry, Resource } from "../../resources/registry/registry.ts";

const warningCache = new WeakMap<Resource, string>();

/** Returns the warning for a deprecated version (spec: conventions 9.2); empty for other versions. */
export function deprecationOf(resource: Resource, { release, vocabulary }: Registry): string {
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
