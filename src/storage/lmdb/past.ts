import { revisionOf } from "../entry.ts";
import type { Entry, Revision, Write } from "../store.ts";
import type { RawEntry } from "./codecs.ts";
import type { Environment } from "./databases.ts";
import {
  changesOfTransaction,
  decodeLogRecord,
  type HistoryKey,
  isTransaction,
  type ListedChange,
  maxRevision,
  supersededRevision,
} from "./layout.ts";

/** The effect of one write. */
export interface Change {
  readonly kind: Write["kind"];
  readonly key: string;
  readonly revision: Revision;
  /** The superseded value; absent for a create. */
  readonly previous: Entry | undefined;
}

/** Reads superseded values from the log as described in `layout.ts`. All revisions must be within the history. */
export class Past {
  constructor(private readonly environment: Environment) {}

  /** Returns the current value. */
  present(key: string): Entry | undefined {
    return this.named(key, this.environment.data.get(key) as RawEntry | undefined);
  }

  /** Returns the value at revision `at`. */
  valueAt(key: string, at: Revision): Entry | undefined {
    const present = this.present(key);
    if (present !== undefined && present.revision <= at) return present;
    const from = this.indexedAbove(key, at) ?? present?.revision;
    return from === undefined ? undefined : this.valueBefore(key, from, at);
  }

  /** Returns the value at revision `at`, walking back from a later revision `from` that changed the key. */
  valueBefore(key: string, from: Revision, at: Revision): Entry | undefined {
    for (let revision = from; ;) {
      const bytes = this.loggedOf(key, revision);
      const previous = supersededRevision(bytes);
      if (previous === undefined) return undefined;
      if (previous >= revision) throw new RangeError(`the log goes from ${revision} back to ${previous}`);
      if (previous <= at) return this.supersededIn(bytes, key, revision);
      revision = previous;
    }
  }

  /** Adds the changes of a revision under the prefix to a list. */
  addChanges(revision: Revision, prefix: string, changes: Change[]): void {
    const bytes = this.logged(revision);
    const listed = changesOfTransaction(bytes);
    if (listed === undefined) {
      const { kind, key, recordAt } = decodeLogRecord(bytes);
      if (key.startsWith(prefix))
        changes.push({ kind, key, revision, previous: this.previousIn(bytes, kind, key, recordAt) });
      return;
    }
    for (const { kind, key } of listed) {
      if (!key.startsWith(prefix)) continue;
      const own = this.inTransaction(key, revision);
      const { recordAt } = decodeLogRecord(own);
      changes.push({ kind, key, revision, previous: this.previousIn(own, kind, key, recordAt) });
    }
  }

  /** Returns kind and key of each change of a revision. */
  changesAt(revision: Revision): readonly ListedChange[] {
    const bytes = this.logged(revision);
    return changesOfTransaction(bytes) ?? [decodeLogRecord(bytes)];
  }

  private previousIn(bytes: Buffer, kind: Write["kind"], key: string, recordAt: number): Entry | undefined {
    return kind === "create" ? undefined : this.named(key, this.environment.records.copy(bytes, recordAt));
  }

  private supersededIn(bytes: Buffer, key: string, revision: Revision): Entry | undefined {
    const { key: logged, recordAt } = decodeLogRecord(bytes);
    // Entries of transactions are stored by their key.
    if (logged !== key && logged !== "")
      throw new RangeError(`the log has ${logged} at ${revision} in place of ${key}`);
    return this.named(key, this.environment.records.copy(bytes, recordAt));
  }

  /** Returns the log entry of the change of a key at a revision; see {@link logged}. */
  private loggedOf(key: string, revision: Revision): Buffer {
    const bytes = this.logged(revision);
    return isTransaction(bytes) ? this.inTransaction(key, revision) : bytes;
  }

  /** Returns the log entry of a change of a transaction; see {@link logged}. */
  private inTransaction(key: string, revision: Revision): Buffer {
    const bytes = this.environment.history.getBinaryFast([key, revision]);
    if (bytes === undefined) throw new RangeError(`the transaction at ${revision} has no change of ${key}`);
    return bytes;
  }

  /** Returns the first revision above `at` with an index entry for the key. */
  private indexedAbove(key: string, at: Revision): Revision | undefined {
    const start: HistoryKey = [key, revisionOf(at + 1)];
    const end: HistoryKey = [key, maxRevision];
    for (const [, revision] of this.environment.history.getKeys({ start, end, limit: 1 })) {
      return revision;
    }
    return undefined;
  }

  /** Returns a log entry. Its bytes are LMDB's buffer, valid until the next read. */
  private logged(revision: Revision): Buffer {
    const bytes = this.environment.log.getBinaryFast(revision);
    if (bytes === undefined) throw new RangeError(`the log has no entry of revision ${revision}`);
    return bytes;
  }

  private named(key: string, entry: RawEntry | undefined): Entry | undefined {
    return entry && this.environment.records.name(key, entry);
  }
}
