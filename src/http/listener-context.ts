import type { HandlerGuard } from "./guard.ts";
import type { UnsentAnswers } from "./unsent.ts";
import type { SlowReaders } from "./slow-readers.ts";

/** What the exchanges of one listener share. */
export interface ListenerContext {
  readonly slowReaders: SlowReaders;
  readonly guard: HandlerGuard;
  readonly unsent: UnsentAnswers;
}
