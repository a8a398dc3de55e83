import type { History, Violation, Watch } from "../history.ts";
import type { Timeline } from "./timeline.ts";

/**
 * The watches together cover every revision that was seen. Several laws rely on it, because only a watch shows the revision of a
 * deletion, and that a write without an answer had no effect.
 */
export function judgeCoverage(history: History, timeline: Timeline): Violation[] {
  const ends = [...new Set(history.watches.map(({ prefix }) => prefix))].map((prefix) => ({
    prefix,
    end: endOf(
      history.watches.filter((watch) => watch.prefix === prefix),
      history.initial.revision,
    ),
  }));
  const uncovered = timeline.versions.find(
    ({ key, revision }) =>
      revision > history.initial.revision &&
      !ends.some(({ prefix, end }) => revision <= end && key.startsWith(prefix)),
  );
  if (uncovered === undefined) return [];
  const { key, revision, source } = uncovered;
  const message = `no watch covers revision ${revision} of ${key}, which ${source} shows`;
  return [{ law: "coverage", message }];
}

/** Returns the revision up to which watches of one prefix cover everything since the initial revision. */
function endOf(watches: readonly Watch[], initial: number): number {
  let end = initial;
  for (const { after, frames } of watches.toSorted((a, b) => a.after - b.after)) {
    if (after > end) break;
    for (const frame of frames) {
      if (frame.type === "GONE") continue;
      end = Math.max(end, frame.type === "BOOKMARK" ? frame.revision : frame.object.revision);
    }
  }
  return end;
}
