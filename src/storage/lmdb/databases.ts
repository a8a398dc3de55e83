import type { Database, RootDatabase } from "lmdb";
import type { RawEntry, RecordCodec } from "./codecs.ts";
import type { HistoryKey } from "./layout.ts";
import type { DeferredSyncs } from "./syncs/deferred-syncs.ts";
import type { WriterLock } from "./writer-lock.ts";

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
