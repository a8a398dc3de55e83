import { randomInt } from "node:crypto";
import { systemClock } from "../../../base/time/clock.ts";
import { revisionOf } from "../../entry.ts";
import { keepStoredHistory } from "../../history/history-store.ts";
import { rollBack } from "../../roll-back.ts";
import { type Revision, StoreDamagedError } from "../../store.ts";
import { type Environment, oldestMarkTime, revisionAtTime, skipRevisions } from "../databases.ts";
import { openLmdbStore } from "../lmdb-store.ts";
import { soundStateIn } from "../stored-state.ts";
import { withCopy } from "./copies.ts";

/** A past state within the history of a backup: a revision, or a time in milliseconds since 1970. */
export type RestorePoint = { readonly revision: number } | { readonly timeMs: number };

/** Revisions that a restore skips, besides those for the time since the backup. */
const skippedRevisions = 1_000_000;
/**
 * A restore skips a random number of revisions below this one too. Two restores of one backup begin at different revisions, so that a client
 * of the first one is told that its revision is unknown when it continues at the second.
 */
const randomRevisions = 1_000_000_000;
/** More writes than a server commits in a second. */
const maxWritesPerSecond = 100_000;

/**
 * Sets a copy back to a past state, by writes at new revisions.
 *
 * @param dir the folder of the copy, which no other process uses.
 * @param newestMs time of the newest state that the backup has, in milliseconds since 1970.
 * @returns the revision of that state.
 * @throws {StoreDamagedError} if the backup doesn't have that state; the message has its range.
 */
export async function goToPoint(dir: string, point: RestorePoint, newestMs: number): Promise<Revision> {
  const { revision, latest } = await withCopy(dir, (copy) => ({
    revision: "revision" in point ? atRevision(copy, point.revision) : atTime(copy, point.timeMs, newestMs),
    latest: soundStateIn(copy.meta.getBinary("state")).revision,
  }));
  if (revision === latest) return revision;
  const inner = openLmdbStore({ dir, clock: systemClock, retentionMs: Infinity });
  // These writes are part of the history that is kept.
  const store = await keepStoredHistory(inner, systemClock);
  try {
    await rollBack(store, revision);
  } finally {
    await store.close();
  }
  return revision;
}

function atRevision({ meta }: Environment, requested: number): Revision {
  const { floor, revision } = soundStateIn(meta.getBinary("state"));
  if (requested < floor || requested > revision)
    throw new StoreDamagedError(
      `the backup has the revisions ${floor} to ${revision}; revision ${requested} isn't one of them`,
    );
  return revisionOf(requested);
}

function atTime(copy: Environment, requestedMs: number, newestMs: number): Revision {
  const revision = revisionAtTime(copy, requestedMs);
  if (requestedMs <= newestMs && revision >= soundStateIn(copy.meta.getBinary("state")).floor)
    return revision;
  const range = `${timeText(oldestMarkTime(copy))} to ${timeText(newestMs)}`;
  throw new StoreDamagedError(
    `the backup has the states from ${range}; ${timeText(requestedMs)} is outside: choose another backup`,
  );
}

/** Formats milliseconds since 1970 as `2026-11-28T10:00:00.000Z`. */
export function timeText(ms: number): string {
  return new Date(ms).toISOString();
}

/**
 * Continues a copy above every revision that the original may have assigned after the backup. Otherwise a client that has seen one of those
 * would take a new write for it and miss others.
 *
 * @param backupTimeMs when the backup was made, in milliseconds since 1970.
 */
export async function skipUnsavedRevisions(dir: string, backupTimeMs: number): Promise<void> {
  const seconds = Math.max(0, systemClock.now() - backupTimeMs) / 1000;
  const assigned = Math.ceil(seconds * (maxWritesPerSecond / skippedRevisions) + 1) * skippedRevisions;
  const skipped = assigned + randomInt(randomRevisions);
  await withCopy(dir, (copy) =>
    copy.root.transaction(() => {
      const { revision } = soundStateIn(copy.meta.getBinary("state"));
      skipRevisions(copy, revisionOf(revision + skipped));
    }),
  );
}
