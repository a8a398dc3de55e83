import type { BodyStream } from "./body-stream.ts";
import type { HeaderLines } from "./header-lines.ts";
import type { HandlerGuard } from "./http-exchange.ts";
import type { Sink } from "./sliced-sink.ts";
import type { ResponseBacklog } from "./response-backlog.ts";

/** Dependencies of {@link WritableBody}. */
export interface BodyParts {
  readonly guard: HandlerGuard;
  /** Account of the unread bytes; undefined without a connection. */
  readonly account: (() => ResponseBacklog) | undefined;
  readonly breakOff: () => void;
  /** Sends trailers before the end of the body; undefined if the protocol has none. */
  readonly trail: ((lines: HeaderLines) => void) | undefined;
}

/** Events after which no written bytes are buffered. */
const takenEvents = ["drain", "finish", "close"] as const;

/** A response body over a Node stream. */
export class WritableBody implements BodyStream {
  private backlog: ResponseBacklog | undefined;

  constructor(
    private readonly counted: { sentBytes: number },
    private readonly sink: Sink,
    private readonly parts: BodyParts,
  ) {}

  write(bytes: Uint8Array): boolean {
    if (this.closed) return false;
    this.counted.sentBytes += bytes.length;
    const accepts = this.sink.write(bytes);
    if (!accepts) this.charge();
    return accepts;
  }

  /** Charges unread bytes until the client has read them or has disconnected. */
  private charge(): void {
    const { account, guard } = this.parts;
    if (account === undefined) return;
    this.backlog ??= account();
    const { backlog, sink } = this;
    const isFirst = backlog.bytes === 0;
    backlog.set(sink.writableLength);
    if (!isFirst) return;
    guard.onceAny(sink, takenEvents, () => backlog.set(0), sink);
  }

  get needsDrain(): boolean {
    return !this.closed && this.sink.writableNeedDrain;
  }

  onDrain(listener: () => void): void {
    if (this.needsDrain) this.parts.guard.onceAny(this.sink, ["drain", "close"], listener, this.sink);
    else listener();
  }

  get backlogBytes(): number {
    return this.sink.writableLength;
  }

  get closed(): boolean {
    return this.sink.destroyed || this.sink.writableEnded;
  }

  /** Waits until the socket has room again, for the same reason as `sendInTwo` of HTTP/1.1. */
  end(trailers: HeaderLines = []): void {
    this.onDrain(() => this.endNow(trailers));
  }

  private endNow(trailers: HeaderLines): void {
    if (this.closed) return;
    if (trailers.length > 0) this.parts.trail?.(trailers);
    this.sink.end();
  }

  destroy(): void {
    this.parts.breakOff();
  }
}
