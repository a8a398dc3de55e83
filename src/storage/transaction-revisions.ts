import type { Revision } from "./store.ts";

/** Bounds the remembered revisions. */
const maxRevisions = 1000;

/** Remembers which of the newest revisions are those of transactions. */
export class TransactionRevisions {
  private readonly revisions = new Set<Revision>();

  /** @param start the revisions up to this one aren't known; rises when old ones are forgotten. */
  constructor(private start: Revision) {}

  /** Adds the revision of several events. */
  add(revision: Revision): void {
    this.revisions.add(revision);
    if (this.revisions.size <= maxRevisions) return;
    const [oldest] = this.revisions;
    this.revisions.delete(oldest!);
    this.start = oldest!;
  }

  /** Whether a revision is that of a transaction, as far as it is known. */
  mayHave(revision: Revision): boolean {
    return revision <= this.start || this.revisions.has(revision);
  }

  /** Forgets the revisions up to one whose events are missing. */
  skipTo(revision: Revision): void {
    this.revisions.clear();
    this.start = revision;
  }
}
