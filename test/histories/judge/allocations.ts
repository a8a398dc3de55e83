import type { History, Violation } from "../history.ts";
import { visitVersions } from "./live-objects.ts";
import type { Timeline } from "./timeline.ts";

/** At no revision do two objects own the same address or port. Linear in the versions. */
export function judgeAllocations(_history: History, timeline: Timeline): Violation[] {
  const violations: Violation[] = [];
  const owners = new Map<string, string>();
  visitVersions(timeline, "/", ({ object, key, revision, source }, previous) => {
    for (const claim of previous?.claims ?? []) if (owners.get(claim) === key) owners.delete(claim);
    for (const claim of object?.claims ?? []) {
      const owner = owners.get(claim);
      if (owner !== undefined) {
        const message = `${key} has ${claim} at revision ${revision} (${source}), which ${owner} already has`;
        violations.push({ law: "allocations", message });
      }
      owners.set(claim, key);
    }
  });
  return violations;
}
