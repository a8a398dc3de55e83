import type { Revision } from "../../storage/store.ts";

/** A change of a role or binding, as far as it is needed to know which users it affects. */
export interface LoggedChange {
  readonly revision: Revision;
  /** Namespace of the role or binding; empty for the cluster. */
  readonly namespace: string;
  /** Subjects of the binding before and after the change; undefined for a role. */
  readonly subjects?: readonly string[];
  /** Namespace and name of the role; undefined for a binding. */
  readonly role?: string;
}

/** Maximum number of changes and subjects in a log; the oldest changes are dropped above it. */
export const maxLogSize = 50_000;
/** Size of a log after its oldest changes were dropped. */
const sizeAfterDrop = 40_000;

/** The recent changes of roles and bindings, in the order of their revisions. */
export class GrantLog {
  private changes: LoggedChange[] = [];
  private size = 0;

  /** @param start the log has every change after this revision; rises when old changes are dropped. */
  constructor(public start: Revision) {}

  add(change: LoggedChange): void {
    this.changes.push(change);
    this.size += sizeOf(change);
    if (this.size <= maxLogSize) return;
    let dropped = 0;
    while (this.size > sizeAfterDrop) {
      const oldest = this.changes[dropped++]!;
      this.size -= sizeOf(oldest);
      this.start = oldest.revision;
    }
    this.changes = this.changes.slice(dropped);
  }

  /**
   * Extends the log to the past.
   *
   * @param earlier every change after `start` up to `upTo`.
   */
  extend(start: Revision, earlier: readonly LoggedChange[], upTo: Revision): void {
    if (start >= this.start || upTo < this.start) return;
    const added = earlier.filter(({ revision }) => revision <= this.start);
    const size = added.reduce((sum, change) => sum + sizeOf(change), 0);
    if (this.size + size > maxLogSize) return;
    this.changes = [...added, ...this.changes];
    this.size += size;
    this.start = start;
  }

  /**
   * Whether a change after a revision matches.
   *
   * @returns undefined if the log doesn't reach back to the revision.
   */
  hasAfter(revision: Revision, matches: (change: LoggedChange) => boolean): boolean | undefined {
    if (revision < this.start) return undefined;
    for (let i = this.changes.length - 1; i >= 0; i--) {
      const change = this.changes[i]!;
      if (change.revision <= revision) return false;
      if (matches(change)) return true;
    }
    return false;
  }
}

function sizeOf({ subjects }: LoggedChange): number {
  return 1 + (subjects?.length ?? 0);
}
