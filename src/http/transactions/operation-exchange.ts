import type { HeaderLines } from "../transport/header-lines.ts";
import type { HttpExchange } from "../transport/http-exchange.ts";
import { warningTexts } from "../answers/warning-texts.ts";
import type { BodyStream } from "../transport/body-stream.ts";
import { StatusError } from "../../base/status-error.ts";
import type { OperationRequest } from "./operation-request.ts";

/** Headers of the transaction's request that its operations have too. */
const sharedHeaders: ReadonlySet<string> = new Set(["user-agent"]);

/** The answer to an operation. */
export interface OperationAnswer {
  readonly code: number;
  /** The object or Status in JSON. */
  readonly body: Uint8Array;
  readonly warnings: readonly string[];
}

/**
 * The exchange of an operation within that of its transaction: the stages and verbs of the pipeline process the operation as a request
 * of its own, whose answer goes into the result of the transaction.
 */
export class OperationExchange implements HttpExchange {
  readonly method: string;
  readonly url: string;
  readonly rawHeaders: readonly string[] = [];
  readonly body = undefined;
  readonly upgrade = undefined;
  readonly backlog = undefined;
  readonly connection: HttpExchange["connection"];
  readonly guard: HttpExchange["guard"];
  auditId: string;
  caller: string;
  exempt: boolean;
  onAnswer: ((status: number) => void) | undefined = undefined;
  answer: OperationAnswer | undefined;
  private readonly headers: string[] = [];

  constructor(
    private readonly outer: HttpExchange,
    private readonly request: OperationRequest,
  ) {
    this.method = request.method;
    this.url = request.url;
    this.connection = outer.connection;
    this.guard = outer.guard;
    this.auditId = outer.auditId;
    this.caller = outer.caller;
    this.exempt = outer.exempt;
  }

  addHeaders(lines: HeaderLines): void {
    this.headers.push(...lines);
  }

  header(name: string): string | undefined {
    if (name === "content-type") return this.request.contentType;
    if (name === "accept") return "application/json";
    return sharedHeaders.has(name) ? this.outer.header(name) : undefined;
  }

  /** The body has arrived with the transaction, and is charged there. */
  readBody(maxBytes: number): Buffer {
    const { body } = this.request;
    if (body.length <= maxBytes) return body;
    throw new StatusError("RequestEntityTooLarge", `the object is larger than ${maxBytes} bytes`);
  }

  send(status: number, headers: HeaderLines, body: Uint8Array): void {
    this.answer = { code: status, body, warnings: warningTexts([...this.headers, ...headers]) };
  }

  stream(): BodyStream {
    throw new TypeError("an operation of a transaction has no streamed answer");
  }

  get answered(): boolean {
    return this.answer !== undefined;
  }

  get status(): number {
    return this.answer?.code ?? 0;
  }

  get sentBytes(): number {
    return this.answer?.body.length ?? 0;
  }

  get expired(): boolean {
    return this.outer.expired;
  }

  onClose(listener: () => void): void {
    this.outer.onClose(listener);
  }

  breakOff(): void {
    this.outer.breakOff();
  }
}
