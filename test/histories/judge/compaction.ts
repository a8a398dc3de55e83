import type { History } from "../history.ts";
import { countUpTo, type Timeline } from "./timeline.ts";

/** Knows when history may have been removed, for answers with 410. */
export class Compactions {
  private readonly requested: readonly { readonly beginNs: number; readonly revision: number }[];
  private readonly beginNs = new Map<number, number>();

  constructor(
    private readonly history: History,
    private readonly timeline: Timeline,
  ) {
    this.requested = history.operations.flatMap(({ beginNs, request }) =>
      request.verb === "compact" ? [{ beginNs, revision: request.revision }] : [],
    );
    for (const operation of history.operations) {
      const revision = timeline.revisionOf(operation);
      if (revision !== undefined) this.beginNs.set(revision, operation.beginNs);
    }
  }

  /**
   * Whether the history after a revision may be gone at a time: a compaction passed the revision, or it is as old as the retention
   * time. A revision of the time before the history may be of any age.
   */
  mayHaveRemoved(revision: number, atNs: number): boolean {
    if (revision < this.history.initial.revision) return true;
    if (this.requested.some((one) => one.beginNs < atNs && one.revision > revision)) return true;
    const { versions } = this.timeline;
    const last = versions[countUpTo(versions, revision) - 1];
    const beginNs =
      (last === undefined ? undefined : this.beginNs.get(last.revision)) ?? Number.NEGATIVE_INFINITY;
    return atNs - beginNs >= this.history.retentionNs;
  }
}
