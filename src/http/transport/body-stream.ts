import type { Clock } from "../../base/clock.ts";
import type { MaybePromise } from "../../base/maybe-promise.ts";
import { StatusError } from "../../base/status-error.ts";
import type { HeaderLines } from "./header-lines.ts";

/** The body of an answer that is being written. */
export interface BodyStream {
  /** Hands over bytes; false when the client is slower than the bytes come. */
  write(bytes: Uint8Array): boolean;
  /** Resolves when the client has taken most of what was written, or is gone. */
  drained(): Promise<void>;
  /** Bytes that were written and not yet taken. */
  readonly backlogBytes: number;
  readonly closed: boolean;
  /** Ends the answer well, with trailers where it may have some; a promise resolves when all of it is handed over. */
  end(trailers?: HeaderLines): MaybePromise<void>;
  /** Breaks the connection off, so that the client can't mistake what it has for a whole answer. */
  destroy(): void;
}

/** A client that takes nothing of what it asked for in this time has stopped reading. */
export const stallMs = 60_000;

/**
 * Waits until the client has taken most of what was written.
 *
 * @throws {StatusError} Timeout when it takes nothing for {@link stallMs}.
 */
export async function drainInTime(stream: BodyStream, clock: Clock): Promise<void> {
  const drained = stream.drained();
  let stalled: (error: StatusError) => void = () => undefined;
  const stall = new Promise<never>((_, reject) => {
    stalled = reject;
  });
  const timer = clock.setTimer(
    () => stalled(new StatusError("Timeout", "the client stopped reading")),
    stallMs,
  );
  try {
    await Promise.race([drained, stall]);
  } finally {
    timer.cancel();
  }
}

/** The body of an answer that nobody waits for any more: what is written to it is dropped. */
export const closedStream: BodyStream = {
  write: () => true,
  drained: () => Promise.resolve(),
  backlogBytes: 0,
  closed: true,
  end: () => undefined,
  destroy: () => undefined,
};
