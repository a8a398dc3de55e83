import type { Clock, Timer } from "../../base/time/clock.ts";
import { Throttle, type ThrottleOptions } from "../../base/turns/throttle.ts";
import type { EventOutput } from "./backend.ts";

/** Options of {@link BatchOutput}. */
export interface BatchOptions {
  /** Maximum number of waiting events; further events are lost. */
  readonly bufferEvents: number;
  /** Maximum number of events of a batch. */
  readonly batchEvents: number;
  /** Maximum size of a batch in bytes, except for a single larger event; undefined for no limit. */
  readonly batchBytes: number | undefined;
  /** Time after which a batch is sent that isn't full. */
  readonly maxWaitMs: number;
  /** Limits the rate of batches; undefined for no limit. */
  readonly throttle: ThrottleOptions | undefined;
  /** Maximum number of batches that are being sent at the same time. */
  readonly parallel: number;
}

/** Maximum size of waiting and sent events, regardless of their number. */
const maxBufferBytes = 64 * 1024 * 1024;
/** Time for which a stopping server waits for batches that are being sent. */
const closeMs = 10_000;

/** Collects events and sends them in batches, without delaying requests. Events that exceed the buffer are lost. */
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
   * @param send sends a batch; a rejected promise means that it is lost.
   * @param lost called with the number of lost events and the reason.
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

  /** Sends waiting events at once; events that aren't accepted within ten seconds are lost. */
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

  /** Sends all batches that may be sent now. */
  private pump(): void {
    const { parallel, batchEvents } = this.options;
    while (this.sending < parallel && this.waiting.length > 0) {
      if (!this.closed && !this.due && this.waiting.length < batchEvents) break;
      const waitMs = this.closed ? 0 : (this.throttle?.takeToken() ?? 0);
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

/** Returns the approximate memory of a text, in bytes. */
function sizeOf(text: string): number {
  return text.length * 2;
}
