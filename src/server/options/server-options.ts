import type { ServingFileName } from "../../base/certificates/serving-certificates.ts";
import type { Random } from "../../base/random.ts";
import type { Clock } from "../../base/time/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { OtherProcesses } from "../../base/other-processes.ts";
import type { Store } from "../../storage/store.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { Extensions } from "./extensions.ts";
import type { StorageSettings, ValueSettings } from "./settings-types.ts";

/** The newest backup of a store. */
export interface NewestBackup {
  /** When it was made, in milliseconds since 1970. */
  readonly timeMs: number;
  readonly bytes: number;
}

/** The complete options of a server: the values of the options table, and objects with code. */
export interface ServerOptions extends Omit<ValueSettings, "vocabulary" | "storage"> {
  readonly vocabulary: Vocabulary;
  /** The settings of an engine, or a store of the embedding program, which stays open when the server stops. */
  readonly storage: StorageSettings | Store;
  /** Folder of the certificates that the server creates; without it they are kept in memory. */
  readonly certificateFolder?: string | undefined;
  /** Absolute path of the data folder, for the page that administrators see at `/`. */
  readonly dataFolder?: string | undefined;
  /** Base name of the serving certificate's files in that folder; `server` by default. */
  readonly certificateFileName?: ServingFileName | undefined;
  /** Code of the embedding program. */
  readonly extensions?: Extensions | undefined;
  /** Whether the newest requests are kept; false by default. */
  readonly recordRequests?: boolean | undefined;
  /** Path of the socket of the process that commits the writes to an embedded store; by default the server commits them. */
  readonly committer?: string | undefined;
  /** The other processes that serve the same port. */
  readonly otherProcesses?: OtherProcesses | undefined;
  /** Number of processes that serve the same port and share the limits of memory; 1 by default. */
  readonly processes?: number | undefined;
  /** Returns the newest backup that the program has made, for metrics; undefined without scheduled backups. */
  readonly newestBackup?: (() => Promise<NewestBackup | undefined>) | undefined;
  /** Source of uids and generated names; by default that of the machine. */
  readonly random?: Random | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}
