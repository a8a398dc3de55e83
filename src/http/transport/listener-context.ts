import type { HandlerGuard } from "./guard.ts";
import type { ResponseBacklogs } from "./response-backlog.ts";
import type { SlowReaders } from "./slow-readers.ts";

/** What the exchanges of one listener share. */
export interface ListenerContext {
  readonly slowReaders: SlowReaders;
  readonly guard: HandlerGuard;
  readonly backlog: ResponseBacklogs;
  /** Whether the listener is about to close: then an answer over HTTP/1.1 closes its connection too. */
  draining: boolean;
}
