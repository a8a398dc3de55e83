import type { ObservedObject } from "../history.ts";
import type { Timeline, Version } from "./timeline.ts";

/** Receives the objects under a prefix before a version, and the version. */
type Visit = (version: Version, previous: ObservedObject | undefined) => void;

/** Visits the versions under a prefix in the order of revisions, each with the object that it replaces. */
export function visitVersions(timeline: Timeline, prefix: string, visit: Visit): void {
  const live = new Map<string, ObservedObject>();
  for (const version of timeline.under(prefix)) {
    visit(version, live.get(version.key));
    if (version.object === undefined) live.delete(version.key);
    else live.set(version.key, version.object);
  }
}
