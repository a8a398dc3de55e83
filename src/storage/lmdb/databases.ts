import type { Database, RootDatabase } from "lmdb";
import type { RawEntry, RecordCodec } from "./codecs.ts";
import { type HistoryKey, encodeState } from "./layout.ts";
import type { DeferredSyncs } from "./syncs/deferred-syncs.ts";
import type { WriterLock } from "./writer-lock.ts";
import { revisionOf } from "../entry.ts";
import type { Revision } from "../store.ts";
import { numberIn, stateIn, soundStateIn } from "./stored-state.ts";

/** The open databases of a folder; see `layout.ts`. */
export interface Environment {
  readonly dir: string;
  readonly root: RootDatabase<Buffer, string>;
  readonly lock: WriterLock;
  readonly syncs: DeferredSyncs;
  /** Page size of the file. */
  readonly pageBytes: number;
  readonly data: Database<RawEntry | Buffer, string>;
  readonly history: Database<Buffer, HistoryKey>;
  readonly log: Database<Buffer, number>;
  readonly counts: Database<Buffer, string>;
  readonly marks: Database<Buffer, number>;
  readonly meta: Database<Buffer, string>;
  /** Value decoder of `data` and of the records in the log. */
  readonly records: RecordCodec;
}

/** Returns the revision that was the newest at a time (milliseconds since 1970); 0 if the marks don't reach back to it. */
export function revisionAtTime({ marks, meta }: Environment, timeMs: number): Revision {
  const { revision, markTime } = stateIn(meta.getBinaryFast("state"));
  if (markTime <= timeMs) return revision;
  // A reverse range goes from `start` down to the first mark.
  for (const { value } of marks.getRange({ start: Math.max(0, timeMs), reverse: true, limit: 1 }))
    return revisionOf(numberIn(value));
  return revisionOf(0);
}

/** Returns the time of the first write that has a mark, in milliseconds since 1970. */
export function oldestMarkTime({ marks, meta }: Environment): number {
  // A new store has a mark at 0, before its first write.
  const [timeMs] = marks.getKeys({ start: 1, limit: 1 });
  return timeMs ?? stateIn(meta.getBinaryFast("state")).markTime;
}

/**
 * Continues a store at a later revision, with its floor there and without history. Clients that have seen revisions between, which were
 * lost, are told that theirs are no longer retained; no reader takes a new write for a lost one. Must be called in a write transaction
 * that is synced.
 */
export function skipRevisions({ meta, log, history, marks }: Environment, to: Revision): void {
  const { markTime } = soundStateIn(meta.getBinary("state"));
  for (const database of [log, history, marks]) database.clearSync();
  meta.putSync("state", encodeState({ revision: to, floor: to, markTime, batch: 0 }));
}
