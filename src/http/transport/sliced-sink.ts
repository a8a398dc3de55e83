import { EventEmitter } from "node:events";
import type { HandlerGuard } from "./guard.ts";

/** A response to which the body of an answer is written. */
export interface Sink extends EventEmitter {
  write(bytes: Uint8Array): boolean;
  end(): unknown;
  destroy(): unknown;
  readonly writableLength: number;
  readonly writableNeedDrain: boolean;
  readonly destroyed: boolean;
  readonly writableEnded: boolean;
}

/**
 * Bytes that a TLS connection gets in one write. It encrypts all of them at once, and keeps that much memory for as long as it
 * is open, however fast its client reads: one answer of 900 KB costs 700 KB for each connection that ever had one.
 */
export const sliceBytes = 64 * 1024;

/**
 * A response that gets large pieces in slices, each when the connection has taken the ones before. What waits is the bytes of
 * the caller, without a copy.
 */
export class SlicedSink extends EventEmitter implements Sink {
  private readonly waiting: Uint8Array[] = [];
  private waitingBytes = 0;
  private isEnding = false;

  constructor(
    private readonly sink: Sink,
    guard: HandlerGuard,
    private readonly sliceWritten: () => void = () => undefined,
  ) {
    super();
    guard.on(sink, "drain", () => this.drained(), sink);
    guard.once(sink, "finish", () => this.emit("finish"), sink);
    guard.once(sink, "close", () => this.closed(), sink);
  }

  write(bytes: Uint8Array): boolean {
    if (this.waitingBytes === 0 && bytes.length <= sliceBytes) return this.sink.write(bytes);
    this.waiting.push(bytes);
    this.waitingBytes += bytes.length;
    return !this.sink.writableNeedDrain && this.writeOn();
  }

  /** Ends the response behind everything that waits. */
  end(): void {
    this.isEnding = true;
    if (this.waitingBytes === 0) this.sink.end();
  }

  destroy(): void {
    this.sink.destroy();
  }

  get writableLength(): number {
    return this.waitingBytes + this.sink.writableLength;
  }

  get writableNeedDrain(): boolean {
    return this.waitingBytes > 0 || this.sink.writableNeedDrain;
  }

  get destroyed(): boolean {
    return this.sink.destroyed;
  }

  get writableEnded(): boolean {
    return this.isEnding || this.sink.writableEnded;
  }

  private drained(): void {
    if (this.waitingBytes > 0 && !this.writeOn()) return;
    this.emit("drain");
  }

  private closed(): void {
    this.waiting.length = 0;
    this.waitingBytes = 0;
    this.emit("close");
  }

  /** Writes slices until the connection has enough; false when it has. */
  private writeOn(): boolean {
    let taken = true;
    while (taken && this.waitingBytes > 0) {
      const slice = this.nextSlice();
      this.waitingBytes -= slice.length;
      taken = this.sink.write(slice);
      this.sliceWritten();
      if (this.waitingBytes === 0 && this.isEnding) this.sink.end();
    }
    return taken;
  }

  private nextSlice(): Uint8Array {
    const first = this.waiting[0]!;
    if (first.length <= sliceBytes) return this.waiting.shift()!;
    this.waiting[0] = first.subarray(sliceBytes);
    return first.subarray(0, sliceBytes);
  }
}
