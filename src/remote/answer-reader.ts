import type { Dispatcher } from "undici";

/** The response of a service. */
export interface RemoteAnswer {
  readonly status: number;
  /** Returns the first value of a header; the name is in lower case. */
  header(name: string): string | undefined;
  readonly bytes: Buffer;
}

/** An external service is unreachable, too slow, or sends an invalid response. */
export class RemoteFault extends Error {
  override name = "RemoteFault";
  constructor(
    message: string,
    /** Whether a retry may succeed soon. */
    readonly retryable: boolean,
    /** Delay from the Retry-After header in milliseconds; undefined without it. */
    readonly retryAfterMs: number | undefined = undefined,
  ) {
    super(message);
  }
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** Initial size of the buffer; sufficient for most responses. */
const firstAnswerBytes = 4096;

/** Receives the outcome of an exchange; only the first call counts. */
export interface AnswerEnd {
  resolve(answer: RemoteAnswer): void;
  reject(fault: RemoteFault): void;
}

/** Reads the response to one request, up to a maximum size. */
export class AnswerReader implements Dispatcher.DispatchHandler {
  private controller: Dispatcher.DispatchController | undefined;
  private status = 0;
  private headers: Headers = {};
  // One growing buffer: a service that responds byte by byte would otherwise create millions of small ones.
  private bytes: Buffer | undefined;
  private size = 0;
  /** The error with which the response was aborted. */
  private fault: RemoteFault | undefined;

  constructor(
    readonly url: URL,
    private readonly maxBytes: number,
    private readonly end: AnswerEnd,
  ) {}

  /** Ends the exchange. Later calls do nothing. */
  abort(fault: RemoteFault): void {
    if (this.fault !== undefined) return;
    this.fault = fault;
    this.bytes = undefined;
    this.end.reject(fault);
    this.controller?.abort(fault);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.fault !== undefined) controller.abort(this.fault);
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: Headers): void {
    this.status = status;
    this.headers = headers;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.fault !== undefined) return;
    const end = this.size + chunk.length;
    if (end > this.maxBytes) {
      this.abort(
        new RemoteFault(`${urlWithoutQuery(this.url)} answers more than ${this.maxBytes} bytes`, false),
      );
      return;
    }
    const { bytes } = this;
    if (bytes === undefined || end > bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(end, 2 * (bytes?.length ?? 0), firstAnswerBytes));
      bytes?.copy(larger, 0, 0, this.size);
      this.bytes = larger;
    }
    chunk.copy(this.bytes!, this.size);
    this.size = end;
  }

  onResponseEnd(): void {
    if (this.fault !== undefined) return;
    const { status, headers, bytes = Buffer.alloc(0), size } = this;
    const header = (name: string) => {
      const value = headers[name];
      return Array.isArray(value) ? value[0] : value;
    };
    this.end.resolve({ status, header, bytes: bytes.subarray(0, size) });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.end.reject(
      new RemoteFault(`${urlWithoutQuery(this.url)} can't be reached: ${messageOf(error)}`, isPassing(error)),
    );
  }
}

/** Returns a URL for messages, without parts that may be secret. */
export function urlWithoutQuery({ origin, pathname }: URL): string {
  return `${origin}${pathname}`;
}

const passingCodes = new Set([
  "ECONNRESET",
  "ECONNREFUSED",
  "EPIPE",
  "ETIMEDOUT",
  "UND_ERR_SOCKET",
  "UND_ERR_CONNECT_TIMEOUT",
]);

function isPassing(error: Error): boolean {
  return passingCodes.has((error as { code?: string }).code ?? "");
}

function messageOf(error: Error): string {
  const { code } = error as NodeJS.ErrnoException;
  return error.message === "" && code !== undefined ? code : error.message;
}
