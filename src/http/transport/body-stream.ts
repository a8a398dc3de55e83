import type { Clock } from "../../base/clock.ts";
import type { MaybePromise } from "../../base/maybe-promise.ts";
import { StatusError } from "../../base/status-error.ts";
import type { HeaderLines } from "./header-lines.ts";

/** The body of a streamed response. */
export interface BodyStream {
  /** Writes bytes. Returns false if the client reads more slowly than the server writes. */
  write(bytes: Uint8Array): boolean;
  /** Resolves when the client has read most of the written bytes or has disconnected. */
  drained(): Promise<void>;
  /** Written bytes that the client hasn't read. */
  readonly backlogBytes: number;
  readonly closed: boolean;
  /** Completes the response, with trailers if the protocol has them. A promise resolves when all bytes are written. */
  end(trailers?: HeaderLines): MaybePromise<void>;
  /** Aborts the connection, so that the client notices that the response is incomplete. */
  destroy(): void;
}

/** A client that reads nothing for this many milliseconds counts as stalled. */
export const stallMs = 60_000;

/**
 * Waits until the client has read most of the written bytes.
 *
 * @throws {StatusError} Timeout if the client stalls for {@link stallMs}.
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

/** The body of an expired response, which discards all bytes. */
export const closedStream: BodyStream = {
  write: () => true,
  drained: () => Promise.resolve(),
  backlogBytes: 0,
  closed: true,
  end: () => undefined,
  destroy: () => undefined,
};
