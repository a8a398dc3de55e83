import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import type { Readable } from "node:stream";
import { asBuffer } from "../../resources/objects/stored.ts";
import { StatusError } from "../../base/status-error.ts";
import { auditIdHeader, type HttpExchange, type HandlerGuard } from "./http-exchange.ts";
import { closedStream, stallMs, type BodyStream } from "./body-stream.ts";
import type { Connection } from "./connection.ts";
import type { HeaderLines } from "./header-lines.ts";
import type { BodyAccount } from "./body-budget.ts";
import type { ListenerContext } from "./listener-context.ts";
import { collect, tooLarge } from "./http1.ts";
import type { ResponseBacklog } from "./response-backlog.ts";
import { SlicedSink, sliceBytes, type SliceRules } from "./sliced-sink.ts";
import { WritableBody } from "./writable-body.ts";

/** An exchange over one HTTP/2 stream. */
export class Http2Exchange implements HttpExchange {
  answered = false;
  status = 0;
  sentBytes = 0;
  auditId = "";
  caller = "";
  exempt = false;
  onAnswer: ((status: number) => void) | undefined = undefined;
  expired = false;
  private further: HeaderLines = [];
  private ownBacklog: ResponseBacklog | undefined = undefined;
  readonly method: string;
  readonly url: string;
  /** Undefined, because streams share the connection. */
  readonly upgrade = undefined;

  constructor(
    private readonly channel: ServerHttp2Stream,
    private readonly headers: IncomingHttpHeaders,
    readonly rawHeaders: readonly string[],
    readonly connection: Connection,
    private readonly bodyTimeoutMs: number,
    private readonly context: ListenerContext,
  ) {
    this.method = String(headers[":method"] ?? "");
    this.url = String(headers[":path"] ?? "");
  }

  get guard(): HandlerGuard {
    return this.context.guard;
  }

  addHeaders(lines: HeaderLines): void {
    this.further = [...this.further, ...lines];
  }

  header(name: string): string | undefined {
    const value = this.headers[name];
    return Array.isArray(value) ? value.join(", ") : value;
  }

  get body(): Readable | undefined {
    return this.channel.endAfterHeaders ? undefined : this.channel;
  }

  async readBody(maxBytes: number, account: BodyAccount): Promise<Buffer> {
    const declared = Number(this.headers["content-length"] ?? 0);
    if (declared > maxBytes) throw tooLarge(maxBytes);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => reject(new StatusError("Timeout", "the request's body did not end in time")),
        this.bodyTimeoutMs,
      );
    });
    try {
      const size = { declared, maxBytes };
      return await Promise.race([collect(this.channel, size, this.guard, account), late]);
    } finally {
      clearTimeout(timer);
    }
  }

  send(status: number, headers: HeaderLines, body: Uint8Array): void {
    if (this.expired) return;
    this.onAnswer?.(status);
    const { channel } = this;
    const closed = channel.destroyed || channel.closed;
    if (!closed) channel.respond(this.head(status, headers, status === 304 ? undefined : body.length));
    this.answered = true;
    this.status = status;
    this.sentBytes = body.length;
    if (closed) return;
    // A response without a body (304, or to HEAD) ends with its headers.
    const shared = this.context.backlog.shared(asBuffer(body));
    const sink = shared.length > sliceBytes ? new SlicedSink(channel, this.guard, this.slices()) : channel;
    if (!channel.writableEnded) sink.end(shared);
    this.leaveRestUnread();
    // The response is aborted if the client doesn't read it in time.
    if (sink.writableLength === 0) return;
    const account = this.account();
    account.hold(shared);
    this.guard.once(channel, "close", () => account.set(0), channel);
    channel.setTimeout(
      stallMs,
      this.guard.wrap("timeout", () => channel.close(), channel),
    );
  }

  /** Discards the rest of an unread request body until the response is sent; then asks the client to stop. */
  private leaveRestUnread(): void {
    const { channel } = this;
    if (channel.readableEnded) return;
    channel.resume();
    if (channel.endAfterHeaders) return;
    this.guard.once(channel, "finish", () => channel.close(constants.NGHTTP2_NO_ERROR), channel);
  }

  stream(status: number, headers: HeaderLines, trailing = false): BodyStream {
    if (this.expired) return closedStream;
    this.onAnswer?.(status);
    const { channel, guard } = this;
    let trailers: HeaderLines = [];
    if (!channel.destroyed && !channel.closed) {
      const sent = this.head(status, headers, undefined);
      channel.respond(sent, trailing ? { waitForTrailers: true } : undefined);
      const trail = () => channel.sendTrailers(withLines(trailers, {}));
      if (trailing) guard.once(channel, "wantTrailers", trail, channel);
    }
    this.answered = true;
    this.status = status;
    return new WritableBody(this, new SlicedSink(channel, guard, this.slices()), {
      guard,
      account: () => this.account(),
      breakOff: () => channel.close(constants.NGHTTP2_INTERNAL_ERROR),
      trail: trailing ? (lines) => (trailers = lines) : undefined,
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
  private account(): ResponseBacklog {
    const { channel, connection, context } = this;
    const { session } = channel;
    connection.backlog ??= context.backlog.connection(() => {
      // Sends the reason to the client before the connection closes.
      if (session?.destroyed === false) session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM);
      session?.destroy();
    });
    return (this.ownBacklog ??= connection.backlog.answer(this));
  }

  private head(status: number, lines: HeaderLines, length: number | undefined): Http2Headers {
    const headers = asHttp2Headers(status, [...lines, ...this.further], length);
    if (this.auditId !== "") headers[auditIdHeader.toLowerCase()] = this.auditId;
    return headers;
  }

  endConnection(): void {
    const { session } = this.channel;
    if (session?.destroyed === false && !session.closed) session.close();
  }

  onClose(listener: () => void): void {
    if (this.channel.closed) queueMicrotask(listener);
    else this.guard.once(this.channel, "close", listener, this.channel);
  }

  breakOff(): void {
    if (!this.channel.writableEnded) this.channel.close(constants.NGHTTP2_INTERNAL_ERROR);
  }
}

/** Headers that Node allows only once over HTTP/2. */
const singleValued: ReadonlySet<string> = new Set([
  "access-control-allow-credentials",
  "access-control-max-age",
  "access-control-request-method",
  "age",
  "authorization",
  "content-encoding",
  "content-language",
  "content-length",
  "content-location",
  "content-md5",
  "content-range",
  "content-type",
  "date",
  "dnt",
  "etag",
  "expires",
  "from",
  "host",
  "if-match",
  "if-modified-since",
  "if-none-match",
  "if-range",
  "if-unmodified-since",
  "last-modified",
  "location",
  "max-forwards",
  "proxy-authorization",
  "range",
  "referer",
  "retry-after",
  "tk",
  "upgrade-insecure-requests",
  "user-agent",
  "x-content-type-options",
]);

type Http2Headers = Record<string, string | number | string[]>;

function asHttp2Headers(status: number, lines: HeaderLines, length: number | undefined): Http2Headers {
  const headers = withLines(lines, { ":status": status });
  if (length !== undefined) headers["content-length"] = length;
  return headers;
}

/**
 * Adds lines to headers; a repeated header becomes a list. For a header that Node allows only once, the first line is
 * used.
 */
function withLines(lines: HeaderLines, headers: Http2Headers): Http2Headers {
  for (let i = 0; i < lines.length; i += 2) {
    const name = lines[i]!.toLowerCase();
    const value = lines[i + 1]!;
    const before = headers[name];
    if (before !== undefined && singleValued.has(name)) continue;
    headers[name] =
      before === undefined ? value : [...(Array.isArray(before) ? before : [String(before)]), value];
  }
  return headers;
}
