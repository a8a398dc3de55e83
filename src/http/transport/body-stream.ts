import type { Clock } from "../../base/time/clock.ts";
import { StatusError } from "../../base/status-error.ts";
import type { HeaderLines } from "./header-lines.ts";

/** The body of a streamed response. */
export interface BodyStream {
  /** Writes bytes. Returns false if the client reads more slowly than the server writes. */
  write(bytes: Uint8Array): boolean;
  /** Whether written bytes wait for the client. After `end`: whether the response is still being written. */
  readonly needsDrain: boolean;
  /**
   * Calls the listener once, when the client has read most of the written bytes or has disconnected. A request waits with `awaitDrain`
   * (`limits/seat-release.ts`), which releases its seat.
   */
  onDrain(listener: () => void): void;
  /** Written bytes that the client hasn't read. */
  readonly backlogBytes: number;
  readonly closed: boolean;
  /** Completes the response after the written bytes, with trailers if the protocol has them. */
  end(trailers?: HeaderLines): void;
  /** Aborts the connection, so that the client notices that the response is incomplete. */
  destroy(): void;
}

/** A client that reads nothing for this many milliseconds counts as stalled. */
export const stallMs = 60_000;

/**
 * Waits until the client has read most of the written bytes. Only for `awaitDrain` (`limits/seat-release.ts`).
 *
 * @throws {StatusError} Timeout if the client stalls for {@link stallMs}.
 */
export async function drainInTime(stream: BodyStream, clock: Clock): Promise<void> {
  const drained = new Promise<void>((resolve) => stream.onDrain(resolve));
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
  needsDrain: false,
  onDrain: (listener) => listener(),
  backlogBytes: 0,
  closed: true,
  end: () => undefined,
  destroy: () => undefined,
};
