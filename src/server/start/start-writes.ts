import type { Clock, Timer } from "../../base/time/clock.ts";
import { stackOf, type Logger } from "../../base/logger.ts";
import { StoreFullError, StoreTimeoutError, StoreUnavailableError } from "../../storage/store.ts";

/** The pause before the second attempt; each later one is twice as long, up to {@link maxRetryMs}. */
const firstRetryMs = 250;
const maxRetryMs = 15_000;

const passing = [StoreFullError, StoreTimeoutError, StoreUnavailableError];

/** Whether a write failed because the store accepts no writes at present: it is full, locked or unreachable. */
export function isStoreBusy(error: unknown): boolean {
  if (passing.some((one) => error instanceof one)) return true;
  return error instanceof Error && error.cause !== undefined && isStoreBusy(error.cause);
}

/** The dependencies and callbacks of a start write. */
interface StartWriteSetup {
  readonly clock: Clock;
  readonly log: Logger;
  /** The subject of the log lines. */
  readonly subject: string;
  /** Called when the first attempt failed and the write is retried. */
  delayed?(): void;
  /** Called once, when everything is written. */
  written?(): void;
}

/** A write of the start that may be retried in the background. */
export interface StartWrite {
  /** Stops retrying; resolves when no attempt is running. */
  close(): Promise<void>;
}

/**
 * Runs a write that every server makes at its start. If the store accepts no writes, retries in the background so
 * that the server can serve reads; logs one line then, and one on success.
 *
 * @param write brings objects to their desired state; it may be called again after it failed.
 * @returns after the first attempt.
 * @throws any other failure of the first attempt.
 */
export async function startWriting(write: () => Promise<void>, setup: StartWriteSetup): Promise<StartWrite> {
  try {
    await write();
    setup.written?.();
    return { close: () => Promise.resolve() };
  } catch (error) {
    if (!isStoreBusy(error)) throw error;
    const { log, subject } = setup;
    log.error(
      { error: stackOf(error) },
      `${subject} can't be written at present; retrying in the background`,
    );
    setup.delayed?.();
    return new Retry(write, setup);
  }
}

class Retry implements StartWrite {
  private timer: Timer | undefined;
  private running: Promise<void> | undefined;
  private delayMs = firstRetryMs;
  private closed = false;

  constructor(
    private readonly write: () => Promise<void>,
    private readonly setup: StartWriteSetup,
  ) {
    this.schedule();
  }

  async close(): Promise<void> {
    this.closed = true;
    this.timer?.cancel();
    await this.running;
  }

  private schedule(): void {
    this.timer = this.setup.clock.setTimer(() => {
      this.running = this.attempt().finally(() => (this.running = undefined));
    }, this.delayMs);
    this.delayMs = Math.min(2 * this.delayMs, maxRetryMs);
  }

  private async attempt(): Promise<void> {
    const { log, subject, written } = this.setup;
    try {
      await this.write();
    } catch (error) {
      if (this.closed) return;
      if (!isStoreBusy(error)) log.error({ error: stackOf(error) }, `${subject} could not be written`);
      return this.schedule();
    }
    log.warn({}, `${subject} could be written now`);
    written?.();
  }
}
