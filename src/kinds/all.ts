import { comparePriority } from "../base/version-priority.ts";
import type { Kind } from "../schema/kind.ts";
import * as declarations from "./built-in.ts";

/** Built-in kinds in the order of discovery: by group, then by the priority of the version, then by resource. */
export const builtInKinds: readonly Kind[] = Object.values<Kind>(declarations).toSorted(
  (a, b) =>
    compareTexts(a.group.base, b.group.base) ||
    comparePriority(a.version, b.version) ||
    compareTexts(a.resource, b.resource),
);

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

// The entry `plinth/kinds` of the package.
export * from "./built-in.ts";
