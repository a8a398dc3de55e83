import { revisionOf } from "../entry.ts";
import type { Entry, Revision, Write } from "../store.ts";
import type { RawEntry } from "./codecs.ts";
import type { Environment } from "./databases.ts";
import {
  decodeLogRecord,
  type HistoryKey,
  type LogRecord,
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
      const bytes = this.logged(revision);
      const previous = supersededRevision(bytes);
      if (previous === undefined) return undefined;
      if (previous >= revision) throw new RangeError(`the log goes from ${revision} back to ${previous}`);
      if (previous <= at) return this.supersededIn(bytes, key, revision);
      revision = previous;
    }
  }

  /** Returns the change of a revision if its key is under the prefix. */
  change(revision: Revision, prefix: string): Change | undefined {
    const bytes = this.logged(revision);
    const { kind, key, recordAt } = decodeLogRecord(bytes);
    if (!key.startsWith(prefix)) return undefined;
    const previous = kind === "create" ? undefined : this.environment.records.copy(bytes, recordAt);
    return { kind, key, revision, previous: this.named(key, previous) };
  }

  /** Returns kind and key of the write at a revision. */
  kindAndKey(revision: Revision): LogRecord {
    return decodeLogRecord(this.logged(revision));
  }

  private supersededIn(bytes: Buffer, key: string, revision: Revision): Entry | undefined {
    const { key: logged, recordAt } = decodeLogRecord(bytes);
    if (logged !== key) throw new RangeError(`the log has ${logged} at ${revision} in place of ${key}`);
    return this.named(key, this.environment.records.copy(bytes, recordAt));
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
