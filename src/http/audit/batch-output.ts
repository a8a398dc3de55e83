import type { Clock, Timer } from "../../base/clock.ts";
import { Throttle, type ThrottleOptions } from "../../base/throttle.ts";
import type { EventOutput } from "./backend.ts";

/** How events are gathered and sent. */
export interface BatchOptions {
  /** Events that may wait; one more is lost. */
  readonly bufferEvents: number;
  /** Events of a batch at most. */
  readonly batchEvents: number;
  /** Bytes of a batch, but for a single event that has more; undefined: any number. */
  readonly batchBytes: number | undefined;
  /** A batch that isn't full is sent after this time. */
  readonly maxWaitMs: number;
  /** Undefined: batches are sent as fast as they come. */
  readonly throttle: ThrottleOptions | undefined;
  /** Batches that may be on their way at a time. */
  readonly parallel: number;
}

/** Bytes that may wait or be on their way, whatever the number of events. */
const maxBufferBytes = 64 * 1024 * 1024;
/** How long a server that stops waits for batches on their way. */
const closeMs = 10_000;

/** Gathers events and sends them in batches, without keeping any request waiting. What doesn't fit is lost. */
export class BatchOutput implements EventOutput {
  private waiting: string[] = [];
  private bytes = 0;
  private sending = 0;
  private timer: Timer | undefined;
  private due = false;
  private closing: (() => void) | undefined;
  private closed = false;
  private readonly throttle: Throttle | undefined;

  /**
   * @param send takes a batch; a promise that is rejected tells that it is lost.
   * @param lost called with how many events are lost, and why.
   */
  constructor(
    private readonly options: BatchOptions,
    private readonly clock: Clock,
    private readonly send: (texts: readonly string[]) => Promise<void>,
    private readonly lost: (events: number, error: unknown) => void,
    private readonly end: () => Promise<void>,
  ) {
    this.throttle = options.throttle && new Throttle(options.throttle, clock);
  }

  write(text: string): boolean {
    const size = sizeOf(text);
    if (
      this.closed ||
      this.waiting.length >= this.options.bufferEvents ||
      this.bytes + size > maxBufferBytes
    ) {
      this.lost(1, new Error("the audit buffer is full"));
      return false;
    }
    this.waiting.push(text);
    this.bytes += size;
    if (this.waiting.length >= this.options.batchEvents) this.pump();
    else this.timer ??= this.clock.setTimer(() => this.waitedLongEnough(), this.options.maxWaitMs);
    return true;
  }

  /** Sends what waits, without regard to times; what isn't taken in ten seconds is lost. */
  async close(): Promise<void> {
    this.closed = true;
    this.timer?.cancel();
    const done = new Promise<void>((resolve) => (this.closing = resolve));
    const limit = this.clock.setTimer(() => this.giveUp(), closeMs);
    this.pump();
    await done;
    limit.cancel();
    await this.end();
  }

  private waitedLongEnough(): void {
    this.due = true;
    this.pump();
  }

  /** Sends what may be sent now. */
  private pump(): void {
    const { parallel, batchEvents } = this.options;
    while (this.sending < parallel && this.waiting.length > 0) {
      if (!this.closed && !this.due && this.waiting.length < batchEvents) break;
      const waitMs = this.closed ? 0 : (this.throttle?.take() ?? 0);
      if (waitMs > 0) return this.pumpAfter(waitMs);
      const batch = this.takeBatch();
      this.sendBatch(batch).catch((error: unknown) => this.lost(batch.length, error));
    }
    if (this.waiting.length === 0) {
      this.timer?.cancel();
      this.timer = undefined;
      this.due = false;
      if (this.sending === 0) this.closing?.();
    } else if (!this.due && !this.closed) {
      this.timer ??= this.clock.setTimer(() => this.waitedLongEnough(), this.options.maxWaitMs);
    }
  }

  private pumpAfter(ms: number): void {
    this.timer?.cancel();
    this.timer = this.clock.setTimer(() => this.waitedLongEnough(), ms);
  }

  private takeBatch(): string[] {
    const { batchEvents, batchBytes = Infinity } = this.options;
    let size = 0;
    let count = 0;
    for (const text of this.waiting) {
      size += Buffer.byteLength(text);
      if (count === batchEvents || (count > 0 && size > batchBytes)) break;
      count++;
    }
    return this.waiting.splice(0, count);
  }

  private async sendBatch(batch: readonly string[]): Promise<void> {
    this.sending++;
    try {
      await this.send(batch);
    } catch (error) {
      this.lost(batch.length, error);
    }
    this.sending--;
    for (const text of batch) this.bytes -= sizeOf(text);
    this.pump();
  }

  private giveUp(): void {
    if (this.waiting.length > 0) this.lost(this.waiting.length, new Error("the server stopped"));
    this.waiting = [];
    this.closing?.();
  }
}

/** What a text takes in memory, about. */
function sizeOf(text: string): number {
  return text.length * 2;
}
