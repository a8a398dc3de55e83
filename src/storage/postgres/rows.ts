import { entryFromDraft, revisionOf } from "../entry.ts";
import { type Entry, type Revision, StoreDamagedError, type StoreEvent } from "../store.ts";
import type { Row } from "./session.ts";

/** Returns the entry of columns `key, revision, revision_at, header, body` from a position on. */
export function entryOf(row: Row, from: number): Entry {
  const [key, revision, revisionAt, header, body] = row.slice(from, from + 5) as [
    Buffer,
    number,
    number,
    Buffer,
    Buffer,
  ];
  return entryFrom(key.toString(), revision, { revisionAt, header, body });
}

/** @throws {StoreDamagedError} if the position of the revision lies outside the body. */
export function entryFrom(
  key: string,
  revision: number,
  draft: { readonly revisionAt: number; readonly header: Buffer; readonly body: Buffer },
): Entry {
  if (draft.revisionAt < 0 || draft.revisionAt > draft.body.length)
    throw new StoreDamagedError(`the value of ${key} at revision ${revision} is cut off`);
  return entryFromDraft(key, revisionOf(revision), draft);
}

/** Part of the log, as read by the statement `log`. */
export interface LogPart {
  /** The newest revision of the store. */
  readonly latest: Revision;
  readonly floor: Revision;
  /** Whether the store has the last batch that the reader has seen. */
  readonly isKnown: boolean;
  /** Id of the newest batch, whose last revision is `latest`. */
  readonly newest: string;
  /** The part has the events up to this revision. */
  readonly reached: Revision;
  readonly events: StoreEvent[];
}

/** Decodes the rows of `log`: each is a version of a key, with the revisions at which it was written and replaced. */
export function logPartOf(rows: readonly Row[], after: Revision): LogPart {
  const [latest, floor, isKnown, newest, reached] = rows[0] as unknown as [
    Revision,
    Revision,
    boolean,
    string,
    Revision,
  ];
  const entries = new Map<number, Entry>();
  const replaced = new Map<number, Entry>();
  for (const row of rows) {
    if (row[5] === null) continue;
    const until = row[6] as number | null;
    const entry = entryOf([row[7]!, row[5]!, row[8]!, row[9]!, row[10]!], 0);
    if (entry.revision > after) entries.set(entry.revision, entry);
    if (until !== null && until <= reached) replaced.set(until, entry);
  }
  const revisions = [...new Set([...entries.keys(), ...replaced.keys()])].toSorted((a, b) => a - b);
  const events = revisions.map((revision): StoreEvent => {
    const entry = entries.get(revision);
    const previous = replaced.get(revision);
    if (entry !== undefined && previous !== undefined && entry.key !== previous.key)
      throw new StoreDamagedError(`revision ${revision} belongs to ${entry.key} and to ${previous.key}`);
    return { key: (entry ?? previous)!.key, revision: revisionOf(revision), entry, previous };
  });
  return { latest, floor, isKnown, newest, reached, events };
}
