import { createGzip, gzip, type Gzip } from "node:zlib";
import { detach, type MaybePromise } from "../base/maybe-promise.ts";
import type { BodyStream, Exchange, HeaderLines } from "./exchange.ts";
import { parseAccept } from "./negotiation.ts";

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
  exchange: Exchange,
  status: number,
  headers: HeaderLines,
  body: Uint8Array,
): MaybePromise<void> {
  if (body.length < minBytes || !takesGzip(exchange)) return exchange.send(status, headers, body);
  return new Promise((resolve) => {
    gzip(body, { level }, (error, packed) => {
      if (error === null) exchange.send(status, [...headers, ...gzipHeaders], packed);
      else exchange.send(status, headers, body);
      resolve();
    });
  });
}

/** Begins an answer of unknown length, compressed where the client takes that. */
export function streamCompressed(exchange: Exchange, status: number, headers: HeaderLines): BodyStream {
  if (!takesGzip(exchange)) return exchange.stream(status, headers);
  return new GzipBody(exchange.stream(status, [...headers, ...gzipHeaders]));
}

function takesGzip(exchange: Exchange): boolean {
  const accepted = exchange.header("accept-encoding");
  if (accepted === undefined || !accepted.includes("gzip")) return false;
  return parseAccept(accepted).some(({ type, quality }) => type === "gzip" && quality > 0);
}

/** A body that is compressed on its way. */
class GzipBody implements BodyStream {
  private readonly gzip: Gzip;
  constructor(private readonly inner: BodyStream) {
    this.gzip = createGzip({ level });
    this.gzip.on("data", (bytes: Buffer) => {
      if (inner.write(bytes)) return;
      this.gzip.pause();
      inner.drained().then(
        () => this.gzip.resume(),
        () => this.destroy(),
      );
    });
    this.gzip.once("error", () => inner.destroy());
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
      const done = () => {
        this.gzip.off("drain", done);
        resolve();
      };
      this.gzip.once("drain", done);
      // A client that left takes nothing more.
      this.inner.drained().then(() => (this.inner.closed ? done() : undefined), done);
    });
  }

  end(trailers?: HeaderLines): MaybePromise<void> {
    this.gzip.once("end", () => detach(this.inner.end(trailers), () => this.inner.destroy()));
    const done = new Promise<void>((resolve) => {
      this.gzip.once("close", resolve);
    });
    this.gzip.end();
    return done;
  }

  destroy(): void {
    this.gzip.destroy();
    this.inner.destroy();
  }
}
