import type { Dispatcher } from "undici";

/** What a service answered. */
export interface RemoteAnswer {
  readonly status: number;
  /** The value of a header, by its name in lower case; the first of several. */
  header(name: string): string | undefined;
  readonly bytes: Buffer;
}

/** A service of others that can't be reached, is too slow, or doesn't answer as it should. */
export class RemoteFault extends Error {
  override name = "RemoteFault";
  constructor(
    message: string,
    /** Whether the same request may go well in a moment. */
    readonly retryable: boolean,
    /** After which time the service wants to be asked again, in milliseconds; undefined unless it said so. */
    readonly retryAfterMs: number | undefined = undefined,
  ) {
    super(message);
  }
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** Most answers are no larger. */
const firstAnswerBytes = 4096;

/** Told how an exchange ended, at least once; only the first call counts. */
export interface AnswerEnd {
  resolve(answer: RemoteAnswer): void;
  reject(fault: RemoteFault): void;
}

/** Reads the answer to one request as it comes, within a bound of its size. */
export class AnswerReader implements Dispatcher.DispatchHandler {
  private controller: Dispatcher.DispatchController | undefined;
  private status = 0;
  private headers: Headers = {};
  // One buffer that grows: a service that answers byte by byte would make millions of small ones.
  private bytes: Buffer | undefined;
  private size = 0;
  /** Why the rest isn't wanted. */
  private fault: RemoteFault | undefined;

  constructor(
    private readonly url: URL,
    private readonly maxBytes: number,
    private readonly end: AnswerEnd,
  ) {}

  /** Ends the exchange, at whatever point it is. Later calls do nothing. */
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

/** A URL for messages, without what may be secret in it. */
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
