import type { BodyStream } from "../../http/transport/body-stream.ts";
import type { Connection } from "../../http/transport/connection.ts";
import type { HandlerGuard, HttpExchange } from "../../http/transport/http-exchange.ts";
import type { HeaderLines } from "../../http/transport/header-lines.ts";
import type { JsonDocument } from "../../base/json/exact.ts";
import { StatusError } from "../../base/status-error.ts";
import { warningTexts } from "../../http/answers/warning-texts.ts";

/** A request that is sent to the pipeline without a socket. */
export interface LocalRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  /** Names in lower case and values: name, value, name, value, … */
  readonly headers: readonly string[];
  readonly body?: Buffer | undefined;
  /** The decoded body, which the server doesn't change; by default it decodes the body. */
  readonly document?: JsonDocument | undefined;
}

/** The answer to a {@link LocalRequest}. */
export interface LocalAnswer {
  readonly status: number;
  readonly body: Buffer;
  /** Texts of the Warning headers. */
  readonly warnings: readonly string[];
}

/** A request and its answer within the process. */
export class LocalExchange implements HttpExchange {
  readonly body = undefined;
  readonly upgrade = undefined;
  readonly backlog = undefined;
  auditId = "";
  caller = "";
  exempt = false;
  answered = false;
  status = 0;
  sentBytes = 0;
  expired = false;
  onAnswer: ((status: number) => void) | undefined = undefined;
  private readonly answerHeaders: string[] = [];
  private readonly chunks: Buffer[] = [];
  private isComplete = false;

  /** @param done called once, with the answer or the error that broke it off. */
  constructor(
    private readonly request: LocalRequest,
    readonly connection: Connection,
    readonly guard: HandlerGuard,
    private readonly done: (answer: LocalAnswer | Error) => void,
  ) {}

  get method(): string {
    return this.request.method;
  }

  get url(): string {
    return this.request.url;
  }

  get rawHeaders(): readonly string[] {
    return this.request.headers;
  }

  get document(): JsonDocument | undefined {
    return this.request.document;
  }

  addHeaders(lines: HeaderLines): void {
    this.answerHeaders.push(...lines);
  }

  header(name: string): string | undefined {
    const { headers } = this.request;
    for (let at = 0; at + 1 < headers.length; at += 2) if (headers[at] === name) return headers[at + 1];
    return undefined;
  }

  readBody(maxBytes: number): Buffer {
    const { body = Buffer.alloc(0) } = this.request;
    if (body.length <= maxBytes) return body;
    throw new StatusError("RequestEntityTooLarge", `the object is larger than ${maxBytes} bytes`);
  }

  send(status: number, headers: HeaderLines, body: Uint8Array): void {
    if (this.expired) return;
    this.start(status, headers);
    this.add(body);
    this.complete();
  }

  stream(status: number, headers: HeaderLines): BodyStream {
    this.start(status, headers);
    const isComplete = (): boolean => this.isComplete;
    return {
      write: (bytes) => {
        this.add(bytes);
        return !this.isComplete;
      },
      needsDrain: false,
      onDrain: (listener) => listener(),
      backlogBytes: 0,
      get closed() {
        return isComplete();
      },
      end: () => this.complete(),
      destroy: () => this.breakOff(),
    };
  }

  onClose(): void {
    // The exchange has no connection that could be closed early.
  }

  breakOff(): void {
    if (this.isComplete) return;
    this.isComplete = true;
    this.done(new Error(`${this.method} ${this.url}: the server broke the answer off`));
  }

  private start(status: number, headers: HeaderLines): void {
    this.onAnswer?.(status);
    this.answered = true;
    this.status = status;
    this.answerHeaders.push(...headers);
  }

  private add(bytes: Uint8Array): void {
    this.sentBytes += bytes.length;
    this.chunks.push(Buffer.from(bytes));
  }

  private complete(): void {
    if (this.isComplete) return;
    this.isComplete = true;
    const warnings = warningTexts(this.answerHeaders);
    this.done({ status: this.status, body: Buffer.concat(this.chunks), warnings });
  }
}
