import { comparePriority } from "../base/version-priority.ts";
import type { Kind } from "../schema/kind.ts";

/** Sorts kinds by group, then by the priority of the version, then by resource. */
export function inDiscoveryOrder(kinds: readonly Kind[]): readonly Kind[] {
  return kinds.toSorted(
    (a, b) =>
      compareTexts(a.group.base, b.group.base) ||
      comparePriority(a.version, b.version) ||
      compareTexts(a.resource, b.resource),
  );
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
