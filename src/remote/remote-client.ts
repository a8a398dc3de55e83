import type { Agent, buildConnector } from "undici";
import type { Clock } from "../base/clock.ts";

/** How a service of others is known, and how the server shows itself to it. */
export interface RemoteTls {
  /** PEM certificates of the authorities that are believed; undefined for those that Node comes with. */
  readonly ca?: readonly string[] | undefined;
  /** PEM of the client's certificate with its chain, and its key; both or neither. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** Name that the service's certificate must be for, if it isn't the URL's host. */
  readonly serverName?: string | undefined;
  /** Whether the certificate is verified; true unless somebody says that it isn't to be. */
  readonly verify?: boolean | undefined;
}

/** Bounds of one exchange with a service of others. */
export interface RemoteLimits {
  /** The whole exchange must be over by then. */
  readonly timeoutMs: number;
  readonly maxAnswerBytes: number;
}

/** Most answers are no larger. */
const firstAnswerBytes = 4096;

/** The most open connections to one service; further requests wait. */
const maxConnections = 100;

/** One request to a service. */
export interface RemoteRequest {
  readonly method: "GET" | "POST";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The exchange must be over by then, where that is another time than the limits say. */
  readonly timeoutMs?: number;
}

/** A host and port to connect to. */
export interface RemoteAddress {
  readonly host: string;
  readonly port: number;
}

/** Finds where a connection goes; asked for each new one. Rejects with an error whose message says why there is no place. */
export type Dial = () => Promise<RemoteAddress>;

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
    readonly passing: boolean,
    /** After which time the service wants to be asked again, in milliseconds; undefined unless it said so. */
    readonly retryAfterMs: number | undefined = undefined,
  ) {
    super(message);
  }
}

/**
 * Speaks HTTP with services of others: over connections that stay open, within bounds of time and size. Redirections are
 * not followed, so that what is sent stays with whom the operator named.
 */
export class RemoteClient {
  private agent: Promise<Agent> | undefined;
  private closed = false;
  private underWay = 0;
  private idle = (): void => undefined;

  constructor(
    private readonly tls: RemoteTls,
    private readonly limits: RemoteLimits,
    private readonly clock: Clock,
    /** Where connections go, unless to the host and port of the URL. */
    private readonly dial?: Dial,
  ) {}

  /**
   * Sends a request and reads the whole answer, whatever its status.
   *
   * @throws {RemoteFault} which never shows headers or bodies: they may be secret.
   */
  async send(url: URL, request: RemoteRequest): Promise<RemoteAnswer> {
    this.underWay++;
    try {
      return await this.exchange(url, request);
    } finally {
      this.underWay--;
      if (this.underWay === 0) this.idle();
    }
  }

  /** Ends all connections when nothing is under way any more, and resolves then. No further request may be sent. */
  async retire(): Promise<void> {
    if (this.underWay > 0) await new Promise<void>((resolve) => (this.idle = resolve));
    await this.close();
  }

  private async exchange(url: URL, asked: RemoteRequest): Promise<RemoteAnswer> {
    const { method, headers = {}, body, timeoutMs = this.limits.timeoutMs } = asked;
    const { request } = await library();
    if (this.closed) throw new RemoteFault(`${place(url)} is no longer asked: the server stops`, false);
    const agent = await (this.agent ??= this.connect());
    const abort = new AbortController();
    let late = false;
    const timer = this.clock.setTimer(() => {
      late = true;
      abort.abort();
    }, timeoutMs);
    try {
      const answer = await request(url, {
        method,
        headers,
        body: body ?? null,
        dispatcher: agent,
        signal: abort.signal,
      });
      const bytes = await this.read(answer.body, url);
      const header = (name: string) => {
        const value = answer.headers[name];
        return Array.isArray(value) ? value[0] : value;
      };
      return { status: answer.statusCode, header, bytes };
    } catch (error) {
      if (error instanceof RemoteFault) throw error;
      if (late) throw new RemoteFault(`${place(url)} did not answer within ${timeoutMs} ms`, true);
      throw new RemoteFault(`${place(url)} can't be reached: ${messageOf(error)}`, isPassing(error));
    } finally {
      timer.cancel();
    }
  }

  /** Ends all connections. */
  async close(): Promise<void> {
    this.closed = true;
    const { agent } = this;
    await (await agent)?.destroy();
  }

  private async connect(): Promise<Agent> {
    const { ca, cert, key, serverName, verify = true } = this.tls;
    const { Agent, buildConnector } = await library();
    const options = {
      timeout: this.limits.timeoutMs,
      rejectUnauthorized: verify,
      ...(ca === undefined ? {} : { ca: [...ca] }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
      ...(serverName === undefined ? {} : { servername: serverName }),
    };
    const { dial } = this;
    return new Agent({
      connections: maxConnections,
      // Time is bounded by the limit of the whole exchange.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: dial === undefined ? options : dialled(dial, buildConnector(options)),
    });
  }

  private async read(
    body: AsyncIterable<Buffer> & { destroy(): unknown; on(event: "error", listener: () => void): unknown },
    url: URL,
  ): Promise<Buffer> {
    // One buffer that grows: a service that answers byte by byte would make millions of small ones.
    let bytes = Buffer.allocUnsafe(firstAnswerBytes);
    let size = 0;
    for await (const chunk of body) {
      const end = size + chunk.length;
      if (end > this.limits.maxAnswerBytes) {
        throw new RemoteFault(`${place(url)} answers more than ${this.limits.maxAnswerBytes} bytes`, false);
      }
      if (end > bytes.length) {
        const larger = Buffer.allocUnsafe(Math.max(end, 2 * bytes.length));
        bytes.copy(larger, 0, 0, size);
        bytes = larger;
      }
      chunk.copy(bytes, size);
      size = end;
    }
    return bytes.subarray(0, size);
  }
}

/** The library is loaded when the first request is sent. */
const library = () => import("undici");

/** A connector that connects to where a dial says, with the TLS options of another one. */
function dialled(dial: Dial, connect: buildConnector.connector): buildConnector.connector {
  return (options, callback) => {
    const connectTo = ({ host, port }: RemoteAddress) =>
      connect({ ...options, hostname: host, port: String(port) }, callback);
    dial().then(connectTo, (error: Error) => callback(error, null));
  };
}

/** A URL for messages, without what may be secret in it. */
function place({ origin, pathname }: URL): string {
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

function isPassing(error: unknown): boolean {
  return passingCodes.has((error as { code?: string }).code ?? "");
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as NodeJS.ErrnoException;
  return error.message === "" && code !== undefined ? code : error.message;
}
