import { EventEmitter } from "node:events";
import { Rotation } from "../../flow/fair-turns.ts";
import type { BodyFraming } from "./chunk-framing.ts";
import type { HandlerGuard } from "./http-exchange.ts";

/** The writable members of a response. */
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
 * Largest write to a TLS connection in bytes. Node encrypts a write as a whole and keeps that much memory while the connection is open,
 * however fast its client reads: a response of 900 KB costs 700 KB for each connection that ever had one.
 */
export const sliceBytes = 64 * 1024;

/** When and how slices are written. */
export interface SliceRules {
  /** Calls a task when it is the response's turn to write a slice; the default is at once. */
  readonly pace?: (task: () => void) => void;
  /** Called after each slice. */
  readonly written?: () => void;
  /** The default is none: the sink frames what is written. */
  readonly framing?: BodyFraming | undefined;
}

const noBytes = new Uint8Array();
/** All chunks of a response are in one order. */
const oneFlow = "";

/**
 * Writes large chunks to a response in slices, each after the connection has sent the previous ones and in its turn among the responses
 * of the server. Waiting bytes aren't copied.
 */
export class SlicedSink extends EventEmitter implements Sink {
  /** The rest of the chunk that is being written, and the chunks behind it. */
  private current: Uint8Array = noBytes;
  private waiting: Rotation<Uint8Array> | undefined;
  private waitingBytes = 0;
  private isEnding = false;
  private turnIsComing = false;
  private isListening = false;

  constructor(
    private readonly sink: Sink,
    private readonly guard: HandlerGuard,
    private readonly rules: SliceRules = {},
  ) {
    super();
  }

  /**
   * Follows the events of the connection, from the first bytes on that it doesn't take at once: most watches never have any, and there
   * may be thousands.
   */
  private listen(): void {
    if (this.isListening) return;
    this.isListening = true;
    const { sink, guard } = this;
    guard.on(sink, "drain", () => this.drained(), sink);
    guard.once(sink, "finish", () => this.emit("finish"), sink);
    guard.once(sink, "close", () => this.closed(), sink);
  }

  write(bytes: Uint8Array): boolean {
    if (this.waitingBytes === 0 && this.fitsSlice(bytes)) {
      const accepts = this.writeFramed(bytes);
      if (!accepts) this.listen();
      return accepts;
    }
    this.listen();
    this.waiting ??= new Rotation();
    this.waiting.add(oneFlow, bytes);
    this.waitingBytes += bytes.length;
    return !this.turnIsComing && !this.sink.writableNeedDrain && this.writeOn();
  }

  /** Whether bytes, with those that the connection has not sent, are at most a slice. */
  private fitsSlice({ length }: Uint8Array): boolean {
    const { sink } = this;
    return length <= sliceBytes && (!sink.writableNeedDrain || sink.writableLength + length <= sliceBytes);
  }

  /** Ends the response after all waiting bytes and these. */
  end(bytes: Uint8Array = noBytes): void {
    if (bytes.length > 0) this.write(bytes);
    this.isEnding = true;
    if (this.waitingBytes === 0) this.endNow();
  }

  private endNow(): void {
    const { framing } = this.rules;
    if (framing !== undefined) this.sink.write(framing.end);
    this.sink.end();
  }

  private writeFramed(bytes: Uint8Array): boolean {
    const { framing } = this.rules;
    if (framing === undefined) return this.sink.write(bytes);
    let accepts = true;
    for (const part of framing.frame(bytes)) accepts = this.sink.write(part);
    return accepts;
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
    if (this.waitingBytes === 0) this.emit("drain");
    else if (this.rules.pace === undefined) this.takeTurn();
    else if (!this.turnIsComing) {
      this.turnIsComing = true;
      this.rules.pace(() => this.takeTurn());
    }
  }

  private takeTurn(): void {
    this.turnIsComing = false;
    // The connection may have closed.
    if (this.waitingBytes > 0 && this.writeOn()) this.emit("drain");
  }

  private closed(): void {
    this.current = noBytes;
    this.waiting = undefined;
    this.waitingBytes = 0;
    this.emit("close");
  }

  /** Writes slices until the connection buffers; returns false then. */
  private writeOn(): boolean {
    let accepts = true;
    while (accepts && this.waitingBytes > 0) {
      const slice = this.nextSlice();
      this.waitingBytes -= slice.length;
      accepts = this.writeFramed(slice);
      this.rules.written?.();
      if (this.waitingBytes === 0 && this.isEnding) this.endNow();
    }
    return accepts;
  }

  private nextSlice(): Uint8Array {
    const chunk = this.current.length > 0 ? this.current : this.waiting!.take();
    // An empty view would keep the memory of the whole chunk.
    this.current = chunk.length > sliceBytes ? chunk.subarray(sliceBytes) : noBytes;
    return chunk.subarray(0, sliceBytes);
  }
}
