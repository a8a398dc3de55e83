import { createGzip, gzip, type Gzip } from "node:zlib";
import type { MaybePromise } from "../../base/maybe-promise.ts";
import type { HandlerGuard } from "../transport/guard.ts";
import type { BodyStream } from "../transport/body-stream.ts";
import type { HttpExchange } from "../transport/http-exchange.ts";
import type { HeaderLines } from "../transport/header-lines.ts";
import { parseAccept } from "../request/negotiation.ts";

/** Smaller bodies cost more to compress than to send. */
const minBytes = 128 * 1024;
/** The fastest level: bodies of JSON shrink to a tenth with it already. */
const level = 1;

const gzipHeaders = ["Content-Encoding", "gzip", "Vary", "Accept-Encoding"] as const;

/**
 * Answers with a body, compressed where it is large and the client takes that. Compressing doesn't block the loop; a
 * promise resolves when it is done and the answer on its way.
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

/** Begins an answer of unknown length, compressed where the client takes that. */
export function streamCompressed(exchange: HttpExchange, status: number, headers: HeaderLines): BodyStream {
  if (!takesGzip(exchange)) return exchange.stream(status, headers);
  return new GzipBody(exchange.stream(status, [...headers, ...gzipHeaders]), exchange.guard);
}

function takesGzip(exchange: HttpExchange): boolean {
  const accepted = exchange.header("accept-encoding");
  if (accepted === undefined || !accepted.includes("gzip")) return false;
  return parseAccept(accepted).some(({ type, quality }) => type === "gzip" && quality > 0);
}

/** A body that is compressed on its way. */
class GzipBody implements BodyStream {
  private readonly gzip: Gzip;
  constructor(
    private readonly inner: BodyStream,
    private readonly guard: HandlerGuard,
  ) {
    this.gzip = createGzip({ level });
    const pass = async (bytes: Buffer) => {
      if (inner.write(bytes)) return;
      this.gzip.pause();
      await inner.drained();
      this.gzip.resume();
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

  drained(): Promise<void> {
    if (!this.gzip.writableNeedDrain) return this.inner.drained();
    return new Promise((resolve) => {
      const forget = this.guard.onceAny(this.gzip, ["drain"], () => resolve(), this);
      // A client that left takes nothing more.
      const leaves = async () => {
        await this.inner.drained();
        if (!this.inner.closed) return;
        forget();
        resolve();
      };
      this.guard.run("drain", leaves, this);
    });
  }

  end(trailers?: HeaderLines): MaybePromise<void> {
    this.guard.once(this.gzip, "end", () => this.inner.end(trailers), this);
    const done = new Promise<void>((resolve) => {
      this.guard.once(this.gzip, "close", resolve, this);
    });
    this.gzip.end();
    return done;
  }

  destroy(): void {
    this.gzip.destroy();
    this.inner.destroy();
  }
}
