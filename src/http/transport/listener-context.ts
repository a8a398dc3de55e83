import type { ChunkFraming } from "./chunk-framing.ts";
import type { HandlerGuard } from "./http-exchange.ts";
import type { ResponseBacklogs } from "./response-backlog.ts";
import type { SlowReaders } from "./slow-readers.ts";

/** State that all exchanges of a listener share. */
export interface ListenerContext {
  readonly slowReaders: SlowReaders;
  readonly guard: HandlerGuard;
  readonly backlog: ResponseBacklogs;
  /** Frames the chunks of HTTP/1.1. */
  readonly chunks: ChunkFraming;
  /** Calls a task when it is the turn of a user's response to write a slice of its body. */
  readonly nextSlice: (user: string, task: () => void) => void;
  /** Whether the listener is closing: then HTTP/1.1 responses close their connection. */
  draining: boolean;
}
