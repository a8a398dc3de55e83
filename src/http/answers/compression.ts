import { createGzip, gzip, type Gzip, gzipSync } from "node:zlib";
import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import type { HandlerGuard } from "../transport/guard.ts";
import type { BodyStream } from "../transport/body-stream.ts";
import type { HttpExchange } from "../transport/http-exchange.ts";
import type { HeaderLines } from "../transport/header-lines.ts";
import { parseAccept } from "../request/negotiation.ts";

/** Compressing smaller bodies takes longer than sending them. */
const minBytes = 128 * 1024;
/** The fastest level; it already reduces JSON to about a tenth. */
const level = 1;

const gzipHeaders = ["Content-Encoding", "gzip", "Vary", "Accept-Encoding"] as const;

/**
 * Sends a response with a body. A large body is compressed if the client accepts that; compression doesn't block the
 * event loop.
 *
 * @returns a promise that resolves when the response has been handed to the exchange.
 */
export function sendCompressed(
  exchange: HttpExchange,
  status: number,
  headers: HeaderLines,
  body: Uint8Array,
): MaybePromise<void> {
  if (body.length < minBytes || !takesGzip(exchange)) return exchange.send(status, headers, body);
  return new Promise<Buffer | undefined>((resolve) => {
    gzip(body, { level }, (error, packed) => resolve(error === null ? packed : undefined));
  }).then((packed) => {
    if (packed === undefined) exchange.send(status, headers, body);
    else exchange.send(status, [...headers, ...gzipHeaders], packed);
  });
}

/** Starts a response of unknown length, compressed if the client accepts that. */
export function streamCompressed(exchange: HttpExchange, status: number, headers: HeaderLines): BodyStream {
  if (!takesGzip(exchange)) return exchange.stream(status, headers);
  return new GzipBody(exchange.stream(status, [...headers, ...gzipHeaders]), exchange.guard);
}

/** Starts a response that is written piece by piece, such as a watch; each piece is compressed by itself if the client accepts that. */
export function streamInMembers(exchange: HttpExchange, status: number, headers: HeaderLines): BodyStream {
  if (!takesGzip(exchange)) return exchange.stream(status, headers);
  return new GzipMembers(exchange.stream(status, [...headers, ...gzipHeaders]), exchange.guard);
}

function takesGzip(exchange: HttpExchange): boolean {
  const accepted = exchange.header("accept-encoding");
  if (accepted === undefined || !accepted.includes("gzip")) return false;
  return parseAccept(accepted).some(({ type, quality }) => type === "gzip" && quality > 0);
}

/** A body that is compressed while it is sent. */
class GzipBody implements BodyStream {
  private readonly gzip: Gzip;
  constructor(
    private readonly inner: BodyStream,
    private readonly guard: HandlerGuard,
  ) {
    this.gzip = createGzip({ level });
    const pass = (bytes: Buffer) => {
      if (inner.write(bytes)) return;
      this.gzip.pause();
      inner.onDrain(() => this.gzip.resume());
    };
    guard.on(this.gzip, "data", pass, this);
    guard.once(this.gzip, "error", () => inner.destroy(), this);
  }

  get backlogBytes(): number {
    return this.gzip.writableLength + this.inner.backlogBytes;
  }

  get closed(): boolean {
    return this.inner.closed;
  }

  write(bytes: Uint8Array): boolean {
    return this.gzip.write(bytes);
  }

  get needsDrain(): boolean {
    if (this.gzip.writableEnded) return !this.gzip.closed;
    return !this.closed && (this.gzip.writableNeedDrain || this.inner.needsDrain);
  }

  onDrain(listener: () => void): void {
    if (!this.needsDrain) listener();
    else if (this.gzip.writableEnded) this.guard.once(this.gzip, "close", listener, this);
    else if (this.gzip.writableNeedDrain) this.onCompressed(listener);
    else this.inner.onDrain(listener);
  }

  /** Calls the listener when the compressor takes bytes again, or when the client has disconnected and reads nothing more. */
  private onCompressed(listener: () => void): void {
    const forget = this.guard.onceAny(this.gzip, ["drain", "close"], listener, this);
    this.inner.onDrain(() => {
      if (!this.inner.closed) return;
      forget();
      listener();
    });
  }

  end(trailers?: HeaderLines): void {
    this.guard.once(this.gzip, "end", () => this.inner.end(trailers), this);
    this.gzip.end();
  }

  destroy(): void {
    this.gzip.destroy();
    this.inner.destroy();
  }
}

/** Writes up to this size are compressed at once, in less than 0.2 ms; larger ones on another thread. */
const maxBytesAtOnce = 8 * 1024;
const options = { level: 1 };

/** Compressed forms of writes, which watches with the same events share. */
const members = new WeakMap<Uint8Array, Buffer | Promise<Buffer | Error>>();

/** Returns the gzip member of bytes that don't change. */
function memberOf(bytes: Uint8Array): Buffer | Promise<Buffer | Error> {
  let member = members.get(bytes);
  if (member === undefined) {
    member = bytes.length <= maxBytesAtOnce ? gzipSync(bytes, options) : compress(bytes);
    members.set(bytes, member);
  }
  return member;
}

/** Resolves with an error instead of rejecting: a write that waits for others looks at its form later. */
function compress(bytes: Uint8Array): Promise<Buffer | Error> {
  return new Promise((resolve) => {
    gzip(bytes, options, (error, packed) => {
      if (error === null) members.set(bytes, packed);
      else members.delete(bytes);
      resolve(error ?? packed);
    });
  });
}

/**
 * A body of gzip members, one for each write, which clients read as one compressed stream. Unlike a stream with one member, it needs no
 * memory between writes, and bodies with the same writes share the work. Written bytes must not change.
 */
export class GzipMembers implements BodyStream {
  /** Resolves when the writes that wait for their compression are passed on; undefined if none waits. It never rejects. */
  private waiting: Promise<void> | undefined;
  private waitingBytes = 0;

  constructor(
    private readonly inner: BodyStream,
    private readonly guard: HandlerGuard,
  ) {}

  get backlogBytes(): number {
    return this.waitingBytes + this.inner.backlogBytes;
  }

  get closed(): boolean {
    return this.inner.closed;
  }

  get needsDrain(): boolean {
    return this.waiting !== undefined || this.inner.needsDrain;
  }

  write(bytes: Uint8Array): boolean {
    if (bytes.length === 0) return !this.needsDrain;
    const member = memberOf(bytes);
    if (this.waiting === undefined && !(member instanceof Promise)) return this.inner.write(member);
    this.waitingBytes += bytes.length;
    this.afterWaiting(async () => {
      const packed = await member;
      if (packed instanceof Error) throw packed;
      this.waitingBytes -= bytes.length;
      if (!this.inner.closed) this.inner.write(packed);
    });
    return false;
  }

  onDrain(listener: () => void): void {
    if (this.waiting === undefined) return this.inner.onDrain(listener);
    const drained = () => this.guard.run("drain", () => this.onDrain(listener), this.inner);
    this.waiting.then(drained, drained);
  }

  end(trailers?: HeaderLines): void {
    if (this.waiting === undefined) this.inner.end(trailers);
    else this.afterWaiting(() => this.inner.end(trailers));
  }

  destroy(): void {
    this.inner.destroy();
  }

  /** Runs a step after the writes that wait; a failure closes the connection. */
  private afterWaiting(step: () => void | Promise<void>): void {
    const before = this.waiting;
    const run = async (resolve: () => void): Promise<void> => {
      try {
        await before;
        await step();
      } finally {
        resolve();
      }
    };
    const waiting = new Promise<void>((resolve) =>
      this.guard.run("compressed", () => run(resolve), this.inner),
    ).then(() => {
      if (this.waiting === waiting) this.waiting = undefined;
    });
    this.waiting = waiting;
  }
}
