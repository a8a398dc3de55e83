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
  const changes = new Map<string, Change>();
  const changeOf = (revision: number, key: string): Change => {
    const id = `${revision} ${key}`;
    let change = changes.get(id);
    if (change === undefined) {
      change = { key, revision: revisionOf(revision), entry: undefined, previous: undefined };
      changes.set(id, change);
    }
    return change;
  };
  for (const row of rows) {
    if (row[5] === null) continue;
    const until = row[6] as number | null;
    const entry = entryOf([row[7]!, row[5]!, row[8]!, row[9]!, row[10]!], 0);
    if (entry.revision > after) changeOf(entry.revision, entry.key).entry = entry;
    if (until !== null && until <= reached) changeOf(until, entry.key).previous = entry;
  }
  const events = [...changes.values()].toSorted((a, b) => a.revision - b.revision);
  return { latest, floor, isKnown, newest, reached, events };
}

/** An event whose values are still to come. */
interface Change extends StoreEvent {
  entry: Entry | undefined;
  previous: Entry | undefined;
}

/**
 * Checks that a part of the log has the changes of all revisions: a transaction with several changes takes as many revisions, of which
 * its changes have the last one.
 *
 * @throws {StoreDamagedError} if some are missing.
 */
export function assertComplete({ events, reached, floor }: LogPart, after: Revision): void {
  const first = Math.max(after, floor);
  const isLastOf = (revision: Revision, index: number) => events[index + 1]?.revision !== revision;
  const gap = events.findIndex(
    ({ revision }, index) => isLastOf(revision, index) && first + index + 1 !== revision,
  );
  const [count, end] = gap < 0 ? [events.length, reached] : [gap + 1, events[gap]!.revision];
  if (count === end - first) return;
  throw new StoreDamagedError(
    `the log has ${count} changes from revision ${first + 1} to ${end}, not ${end - first}`,
  );
}
