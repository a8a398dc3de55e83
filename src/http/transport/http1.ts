import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Readable } from "node:stream";
import type { ReadableConnection } from "../../flow/fair-turns.ts";
import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import { StatusError } from "../../base/status-error.ts";
import { asBuffer } from "../../resources/objects/stored.ts";
import { auditIdHeader, type HttpExchange, type UpgradeOffer, type HandlerGuard } from "./http-exchange.ts";
import { closedStream, type BodyStream } from "./body-stream.ts";
import type { Connection } from "./connection.ts";
import type { HeaderLines } from "./header-lines.ts";
import type { BodyAccount } from "./body-budget.ts";
import type { ChunkFraming } from "./chunk-framing.ts";
import type { ResponseBacklog } from "./response-backlog.ts";
import { SlicedSink, sliceBytes, type SliceRules } from "./sliced-sink.ts";
import { WritableBody } from "./writable-body.ts";
import type { ListenerContext } from "./listener-context.ts";

/** Bodies up to this size are copied and written together with the head. */
const onePieceBytes = 16 * 1024;

/** Size of the last part of a body sent in two parts; less than a socket buffers. */
const lastPieceBytes = 4096;

const noLines: HeaderLines = [];

/** An exchange over HTTP/1.1. */
export class Http1Exchange implements HttpExchange {
  answered = false;
  status = 0;
  sentBytes = 0;
  auditId = "";
  caller = "";
  exempt = false;
  onAnswer: ((status: number) => void) | undefined = undefined;
  expired = false;
  private further: HeaderLines = noLines;
  private ownBacklog: ResponseBacklog | undefined = undefined;

  constructor(
    protected readonly request: IncomingMessage,
    protected readonly response: ServerResponse,
    readonly connection: Connection,
    protected readonly context: ListenerContext,
  ) {}

  get guard(): HandlerGuard {
    return this.context.guard;
  }

  get method(): string {
    return this.request.method!;
  }

  get url(): string {
    return originForm(this.request.url!);
  }

  get rawHeaders(): readonly string[] {
    return this.request.rawHeaders;
  }

  addHeaders(lines: HeaderLines): void {
    this.further = this.further.length === 0 ? lines : [...this.further, ...lines];
  }

  header(name: string): string | undefined {
    const value = this.request.headers[name];
    return Array.isArray(value) ? value.join(", ") : value;
  }

  get body(): Readable | undefined {
    return hasBody(this.request) ? this.request : undefined;
  }

  get upgrade(): UpgradeOffer | undefined {
    return undefined;
  }

  get reader(): ReadableConnection | undefined {
    return this.request.socket;
  }

  readBody(maxBytes: number, account: BodyAccount): MaybePromise<Buffer> {
    const { request } = this;
    const declared = Number(request.headers["content-length"] ?? 0);
    if (declared > maxBytes) throw tooLarge(maxBytes);
    const rest = () => collect(request, { declared, maxBytes }, this.guard, account);
    if (!(declared > 0)) return rest();
    // Node parses a body that arrived with the head after this call, but before later events.
    return wholeBody(request, declared) ?? soon().then(() => wholeBody(request, declared) ?? rest());
  }

  send(status: number, headers: HeaderLines, body: Uint8Array): void {
    if (this.expired) return;
    this.onAnswer?.(status);
    const { request, response } = this;
    const lines = this.linesOf(headers);
    if (status !== 304) lines.push("Content-Length", String(body.length));
    if (!request.complete && hasBody(request)) {
      // The rest of the request body isn't read, so the connection can't be reused.
      lines.push("Connection", "close");
    }
    response.writeHead(status, lines);
    this.answered = true;
    this.status = status;
    this.sentBytes = body.length;
    // As a latin1 string, the body is written together with the head.
    if (body.length <= onePieceBytes) response.end(asBuffer(body).toString("latin1"), "latin1");
    else this.sendInTwo(body);
    const { socket } = response;
    if (body.length > onePieceBytes && socket !== null && socket.writableLength > 0) {
      const account = this.account(socket);
      account.hold(asBuffer(body));
      this.guard.once(response, "close", () => account.set(0), response);
    }
    if (response.socket !== null) this.context.slowReaders.sentTo(response.socket);
  }

  /**
   * Sends a large body in two parts, so that the client has all of it only when the socket's buffer is drained.
   * Otherwise Node resets the connection if the body of the client's next request arrives in several TLS records
   * before.
   */
  private sendInTwo(body: Uint8Array): void {
    const { response, guard } = this;
    const last = body.length - lastPieceBytes;
    const end = () => response.end(body.subarray(last));
    if (last <= sliceBytes) {
      response.write(body.subarray(0, last), guard.wrap("write", end, response));
      return;
    }
    const written = () => {
      if (response.socket !== null) this.context.slowReaders.sentTo(response.socket);
    };
    const sink = new SlicedSink(response, guard, { ...this.slices(), written });
    if (sink.write(body.subarray(0, last))) end();
    else guard.once(sink, "drain", end, response);
  }

  stream(status: number, headers: HeaderLines, trailing = false): BodyStream {
    if (this.expired) return closedStream;
    this.onAnswer?.(status);
    // Only chunked bodies can have trailers; HTTP/1.0 has neither.
    const trails = trailing && this.response.useChunkedEncodingByDefault;
    this.response.writeHead(
      status,
      this.linesOf(trailing && !trails ? without(headers, "trailer") : headers),
    );
    this.answered = true;
    this.status = status;
    this.response.flushHeaders();
    const { response } = this;
    if (response.socket !== null) this.context.slowReaders.streamsTo(response.socket);
    const breakOff = () => response.socket?.destroy();
    const account = response.socket === null ? undefined : () => this.account(response.socket!);
    const trail = (lines: HeaderLines) => response.addTrailers(pairsOf(lines));
    const framing = trails ? undefined : this.frameChunks();
    return new WritableBody(this, new SlicedSink(response, this.guard, { ...this.slices(), framing }), {
      guard: this.guard,
      account,
      breakOff,
      trail: trails ? trail : undefined,
    });
  }

  /** Frames the chunks of the body in place of Node; undefined if the body has none. */
  private frameChunks(): ChunkFraming | undefined {
    const { response } = this;
    if (!response.chunkedEncoding) return undefined;
    // The head has been sent, with Transfer-Encoding. From now on Node writes bytes as they are.
    response.chunkedEncoding = false;
    return this.context.chunks;
  }

  /** A body that is written to the socket as it is, after the head of the response. */
  protected bodyOver(socket: Socket): BodyStream {
    return new WritableBody(this, new SlicedSink(socket, this.guard, this.slices()), {
      guard: this.guard,
      account: () => this.account(socket),
      breakOff: () => socket.destroy(),
      trail: undefined,
    });
  }

  /** Slices of this response are written in the turns of its user. */
  private slices(): SliceRules {
    return { pace: (task) => this.context.nextSlice(this.caller, task) };
  }

  get backlog(): ResponseBacklog | undefined {
    return this.ownBacklog !== undefined && this.ownBacklog.bytes > 0 ? this.ownBacklog : undefined;
  }

  /** The account of this response's unread bytes. */
  private account(socket: Socket): ResponseBacklog {
    const { connection, context } = this;
    connection.backlog ??= context.backlog.connection(() => socket.destroy());
    return (this.ownBacklog ??= connection.backlog.answer(this));
  }

  /** Returns a copy of the header lines with those of every response, and the audit ID. */
  protected linesOf(headers: HeaderLines): string[] {
    const lines = [...headers, ...this.further];
    if (this.auditId !== "") lines.push(auditIdHeader, this.auditId);
    if (this.context.draining) this.response.shouldKeepAlive = false;
    return lines;
  }

  onClose(listener: () => void): void {
    if (this.response.closed) queueMicrotask(listener);
    else this.guard.once(this.response, "close", listener, this.response);
  }

  breakOff(): void {
    if (!this.response.writableEnded) this.response.destroy();
  }
}

function without(lines: HeaderLines, unwanted: string): string[] {
  return pairsOf(lines)
    .filter(([name]) => name !== unwanted)
    .flat();
}

function pairsOf(lines: HeaderLines): [string, string][] {
  return Array.from({ length: lines.length / 2 }, (_, i) => [lines[2 * i]!, lines[2 * i + 1]!]);
}

/** Returns the path and query of a request target, which may be in absolute form (RFC 9112 section 3.2.2). */
export function originForm(target: string): string {
  if (target.startsWith("/")) return target;
  const host = /^https?:\/\/[^/?#]*/i.exec(target);
  if (host === null) return target;
  const rest = target.slice(host[0].length);
  return rest.startsWith("/") ? rest : `/${rest}`;
}

/** Whether a request has a body. */
export function hasBody(request: IncomingMessage): boolean {
  return (
    request.headers["transfer-encoding"] !== undefined || Number(request.headers["content-length"] ?? 0) > 0
  );
}

/** Returns the error of a body that is too large. */
export function tooLarge(maxBytes: number): StatusError {
  return new StatusError("RequestEntityTooLarge", `the request's body is larger than ${maxBytes} bytes`);
}

/** Returns a body that has arrived completely; otherwise undefined. */
function wholeBody(request: IncomingMessage, length: number): Buffer | undefined {
  if (!request.complete || request.destroyed || request.readableLength !== length) return undefined;
  return (request.read() as Buffer | null) ?? undefined;
}

async function soon(): Promise<void> {}

/** A readable of buffers, of either version of HTTP. */
type Body = Readable & {
  readonly destroyed?: boolean;
  readonly readableEnded?: boolean;
  /** Whether the client aborted it; an HTTP/2 stream ends nevertheless. */
  readonly aborted?: boolean;
};

/** The size of a body in bytes. */
interface BodySize {
  /** Its Content-Length; 0 without one. */
  readonly declared: number;
  readonly maxBytes: number;
}

/** Reads a whole body, up to a limit and while its account accepts the bytes. Further bytes are not read. */
export function collect(
  body: Body,
  { declared, maxBytes }: BodySize,
  guard: HandlerGuard,
  account: BodyAccount,
): Promise<Buffer> {
  // Over HTTP/2 an empty body may have ended, or its stream been reset, before anybody reads it.
  if (body.aborted === true) return Promise.reject(aborted());
  if (body.readableEnded === true) return Promise.resolve(Buffer.alloc(0));
  if (body.destroyed === true) return Promise.reject(aborted());
  return new Promise((resolve, reject) => {
    const whole = new GrowingBody(declared);
    let size = 0;
    let settled = false;
    const take = (chunk: Buffer) => {
      size += chunk.length;
      try {
        if (size > maxBytes) throw tooLarge(maxBytes);
        if (declared > 0 && size > declared) throw longerThanDeclared();
        account.arrived(chunk.length);
        whole.add(chunk);
      } catch (error) {
        settled = true;
        body.removeAllListeners("data");
        body.pause();
        reject(error as Error);
      }
    };
    const finish = () => {
      settled = true;
      if (body.aborted === true) reject(aborted());
      else resolve(whole.bytes());
    };
    const breakOff = () => {
      if (!settled) reject(aborted());
      settled = true;
    };
    guard.on(body, "data", take, body);
    guard.once(body, "end", finish, body);
    guard.once(body, "error", breakOff, body);
    guard.once(body, "close", breakOff, body);
  });
}

/** A body that arrives in chunks. */
class GrowingBody {
  private readonly chunks: Buffer[] = [];
  private whole: Buffer | undefined;
  private size = 0;

  /** @param declared its Content-Length; 0 without one. */
  constructor(private readonly declared: number) {}

  add(chunk: Buffer): void {
    // A large body is assembled as it arrives, because kept chunks would take its memory twice.
    if (this.declared >= largeBody) {
      this.whole ??= Buffer.allocUnsafeSlow(this.declared);
      chunk.copy(this.whole, this.size);
    } else this.chunks.push(chunk);
    this.size += chunk.length;
  }

  bytes(): Buffer {
    const { whole, chunks, size } = this;
    if (whole !== undefined) return whole.subarray(0, size);
    return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size);
  }
}

/** Bytes from which a body is assembled as it arrives. */
const largeBody = 256 * 1024;

/** The error of a body that both parsers should have rejected: it would be cut. */
function longerThanDeclared(): StatusError {
  return new StatusError("BadRequest", "the request's body is longer than its Content-Length");
}

function aborted(): StatusError {
  return new StatusError("BadRequest", "the request's body ended before it was complete");
}
