import type { StatusError } from "../../base/status-error.ts";
import type { HttpExchange, HandlerGuard } from "../transport/http-exchange.ts";
import type { HeaderLines } from "../transport/header-lines.ts";
import { cborCodec } from "../../base/cbor/codec.ts";
import { encodePretty } from "../../base/json/encode.ts";
import type { JsonValue } from "../../base/json/value.ts";
import { plainYaml } from "../encodings/plain-yaml.ts";
import { binaryStatus } from "../encodings/protobuf.ts";
import type { RequestContext } from "../request/context.ts";
import { negotiate, type Format, wantsPretty, parseAccept } from "../request/negotiation.ts";
import { failureStatus } from "./status.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { createGzip, gzip, type Gzip, gzipSync } from "node:zlib";
import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import type { BodyStream } from "../transport/body-stream.ts";

/** Responses depend on the caller and must not be cached. */
const privateNow = ["Cache-Control", "no-cache, private"] as const;

const jsonHeaders: HeaderLines = ["Content-Type", "application/json", ...privateNow];

/** Returns the headers of a response with this content type. */
export function headersFor(contentType: string, warnings: Iterable<string> = noWarnings): HeaderLines {
  const texts = [...warnings];
  if (contentType === "application/json" && texts.length === 0) return jsonHeaders;
  const lines: string[] = ["Content-Type", contentType, ...privateNow];
  return texts.length === 0 ? lines : [...lines, ...warningLines(texts)];
}

/**
 * Returns the headers of warnings, limited to what clients accept as header size. Warnings are truncated only if their
 * total is too long.
 */
export function warningLines(warnings: readonly string[]): string[] {
  const lines: string[] = [];
  const total = warnings.reduce((sum, warning) => sum + warning.length, 0);
  const longest = total > maxWarningsLength ? maxWarningLength : maxWarningsLength;
  let length = 0;
  for (const [index, warning] of warnings.entries()) {
    const text = quoted(warning.slice(0, longest));
    length += text.length;
    if (index === maxWarnings || length > maxWarningsLength) {
      lines.push("Warning", `299 - "${warnings.length - index} more warnings are left out"`);
      break;
    }
    lines.push("Warning", `299 - ${text}`);
  }
  return lines;
}

const noWarnings: readonly string[] = [];

/** Maximum number of warnings of a response, and maximum total number of characters. */
const maxWarnings = 100;
const maxWarningsLength = 4096;
/** Maximum length of a warning if the total is too long. */
const maxWarningLength = 256;

/** Returns a warning's text as a quoted string for a header (RFC 7234 section 5.5). */
function quoted(text: string): string {
  const plain = text.replaceAll(/[^\x20-\x7e]/g, "?");
  return `"${plain.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}

/** Sends a JSON value. */
export function sendJson(
  exchange: HttpExchange,
  status: number,
  value: object,
  warnings?: readonly string[],
): void {
  exchange.send(status, headersFor("application/json", warnings), Buffer.from(`${JSON.stringify(value)}\n`));
}

/** Sends a small document in YAML. */
export function sendYaml(exchange: HttpExchange, value: object): void {
  exchange.send(200, headersFor("application/yaml"), Buffer.from(plainYaml(value as JsonValue)));
}

/** Sends plain text. */
export function sendText(exchange: HttpExchange, status: number, text: string): void {
  const headers = [
    "Content-Type",
    "text/plain; charset=utf-8",
    "X-Content-Type-Options",
    "nosniff",
    ...privateNow,
  ];
  exchange.send(status, headers, Buffer.from(text));
}

/** A document that a failure is answered with instead of a Status. */
export interface FailurePage {
  readonly contentType: string;
  readonly bytes: Buffer;
}

/** Sends a Status, in protobuf or YAML if the client prefers that. */
export function sendStatus(
  request: RequestContext,
  vocabulary: Vocabulary,
  code: number,
  status: object,
  further: HeaderLines = [],
  page?: FailurePage,
): void {
  const { exchange } = request;
  request.audit?.responseStatus(code, status);
  const { contentType, bytes } = page ?? formed(request, vocabulary, status);
  exchange.send(code, [...headersFor(contentType, request.warnings), ...further], bytes);
}

/** Returns a Status in the preferred format of the client; JSON if none of its formats is available. */
function formed({ exchange, facts }: RequestContext, vocabulary: Vocabulary, status: object): FailurePage {
  switch (preferredFormat(exchange, vocabulary)) {
    case "protobuf":
      return { contentType: vocabulary.protobufMediaType, bytes: binaryStatus(status) };
    case "cbor":
      return { contentType: "application/cbor", bytes: cborCodec().encodeCbor(status as JsonValue) };
    case "yaml":
      return { contentType: "application/yaml", bytes: Buffer.from(plainYaml(status as JsonValue)) };
    case "json": {
      const text = wantsPretty(exchange, facts.query)
        ? encodePretty(status as JsonValue)
        : `${JSON.stringify(status)}\n`;
      return { contentType: "application/json", bytes: Buffer.from(text) };
    }
  }
}

/** Sends the Status of a failure with its headers. @param page is sent instead of the Status. */
export function sendFailure(
  request: RequestContext,
  vocabulary: Vocabulary,
  error: StatusError,
  page?: FailurePage,
): void {
  const further: string[] = [];
  const retry = error.details?.retryAfterSeconds;
  if (retry !== undefined && retry > 0) further.push("Retry-After", String(retry));
  if (error.code === 401) further.push("WWW-Authenticate", 'Bearer realm="api"');
  sendStatus(request, vocabulary, error.code, failureStatus(error, vocabulary), further, page);
}

/** Returns the preferred format of a Status; JSON for an Accept header that can't be satisfied. */
function preferredFormat(exchange: HttpExchange, vocabulary: Vocabulary): Format {
  const accept = exchange.header("accept");
  if (accept === undefined || accept === "" || accept === "application/json") return "json";
  try {
    return negotiate(accept, vocabulary).format;
  } catch {
    return "json";
  }
}

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
