import { createSecureContext, type SecureContext } from "node:tls";
import type { Agent, buildConnector } from "undici";
import type { Clock } from "../base/time/clock.ts";
import { peerTrust } from "../base/certificates/peer-trust.ts";
import { AnswerReader, urlWithoutQuery, RemoteFault, type RemoteAnswer } from "./answer-reader.ts";
import { readFile } from "node:fs/promises";

/** TLS settings of a remote service: CA certificates and client certificate. */
export interface RemoteTls {
  /** Trusted CA certificates (PEM); undefined: the system's. */
  readonly ca?: readonly string[] | undefined;
  /** Client certificate with its chain, and its key, PEM; both or neither. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** Server name to verify, if it isn't the URL's host. */
  readonly serverName?: string | undefined;
  /** Whether the certificate is verified; default true. */
  readonly verify?: boolean | undefined;
}

/** Limits of one exchange with an external service. */
export interface RemoteLimits {
  /** Timeout of the whole exchange. */
  readonly timeoutMs: number;
  readonly maxAnswerBytes: number;
}

/** Maximum number of connections to one service; further requests wait. */
const maxConnections = 100;

/** One request to a service. */
export interface RemoteRequest {
  readonly method: "DELETE" | "GET" | "PATCH" | "POST";
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string;
  /** Overrides the timeout of the limits. */
  readonly timeoutMs?: number;
}

/** A host and port to connect to. */
export interface RemoteAddress {
  readonly host: string;
  readonly port: number;
}

/** Returns the address for a new connection. Rejects with an error whose message says why there is none. */
export type Dial = () => Promise<RemoteAddress>;

/**
 * HTTP client for remote services, with keep-alive connections and limits of time and size. It doesn't follow redirects, so
 * that requests only reach the configured service.
 */
export class RemoteClient {
  private agent: Promise<Agent> | undefined;
  private closed = false;
  private underWay = 0;
  private readonly pending = new Set<AnswerReader>();
  private idle = (): void => undefined;

  constructor(
    private readonly tls: RemoteTls,
    private readonly limits: RemoteLimits,
    private readonly clock: Clock,
    /** Resolves the address of connections; default: host and port of the URL. */
    private readonly dial?: Dial,
  ) {}

  /**
   * Sends a request and reads the whole response, of any status.
   *
   * @throws {RemoteFault} The message never includes headers or bodies, which may be secret.
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

  /** Closes all connections after pending requests have ended. No further request may be sent. */
  async retire(): Promise<void> {
    if (this.underWay > 0) await new Promise<void>((resolve) => (this.idle = resolve));
    await this.close();
  }

  private async exchange(url: URL, request: RemoteRequest): Promise<RemoteAnswer> {
    const { method, headers = {}, body, timeoutMs = this.limits.timeoutMs } = request;
    const agent = await this.connected().catch((error: Error) => {
      throw new RemoteFault(`${urlWithoutQuery(url)} can't be asked: ${error.message}`, false);
    });
    if (this.closed) throw stopped(url);
    return await new Promise<RemoteAnswer>((resolve, reject) => {
      const answer = new AnswerReader(url, this.limits.maxAnswerBytes, {
        resolve: (whole) => {
          ended();
          resolve(whole);
        },
        reject: (fault) => {
          ended();
          reject(fault);
        },
      });
      const ended = () => {
        timer.cancel();
        this.pending.delete(answer);
      };
      const timer = this.clock.setTimer(() => {
        answer.abort(new RemoteFault(`${urlWithoutQuery(url)} did not answer within ${timeoutMs} ms`, true));
      }, timeoutMs);
      this.pending.add(answer);
      const path = url.pathname + url.search;
      agent.dispatch({ origin: url.origin, path, method, headers, body: body ?? null }, answer);
    });
  }

  /** Ends pending requests with a failure, and closes all connections. */
  async close(): Promise<void> {
    this.closed = true;
    // The library's agent doesn't end a request whose connection it no longer lists.
    for (const answer of this.pending) answer.abort(stopped(answer.url));
    // The caller of the request has already received the error.
    await this.agent?.then(
      (agent) => agent.destroy(),
      (failure: unknown) => void failure,
    );
  }

  private connected(): Promise<Agent> {
    return (this.agent ??= this.connect());
  }

  private async connect(): Promise<Agent> {
    const { ca, cert, key, serverName, verify = true } = this.tls;
    const { Agent, buildConnector } = await library();
    const options = {
      timeout: this.limits.timeoutMs,
      rejectUnauthorized: verify,
      secureContext: await secureContext({ ca, cert, key }),
      ...(serverName === undefined ? {} : { servername: serverName }),
    };
    const { dial } = this;
    return new Agent({
      connections: maxConnections,
      // The timeout of the whole exchange applies.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: dial === undefined ? options : dialled(dial, buildConnector(options)),
    });
  }
}

function stopped(url: URL): RemoteFault {
  return new RemoteFault(`${urlWithoutQuery(url)} gets no more requests: the server stops`, false);
}

/** Creates the TLS context that all connections of a client share: creating one per connection would cost as much as the handshake. */
async function secureContext({
  ca,
  cert,
  key,
}: Pick<RemoteTls, "ca" | "cert" | "key">): Promise<SecureContext> {
  if (ca === undefined && cert === undefined) return hostTrust();
  const authorities = ca ?? (await hostAuthorities(process.env));
  return createSecureContext({
    ...peerTrust(authorities),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  });
}

/** The library is loaded when the first request is sent. */
const library = () => import("./undici.ts");

/** Returns a connector that connects to the address from `dial`, with the TLS options of another connector. */
function dialled(dial: Dial, connect: buildConnector.connector): buildConnector.connector {
  return (options, callback) => {
    const connectTo = ({ host, port }: RemoteAddress) =>
      connect({ ...options, hostname: host, port: String(port) }, callback);
    dial().then(connectTo, (error: Error) => callback(error, null));
  };
}

/** Paths of the system's CA bundle on Debian, Fedora, SUSE, Alpine and others. */
const usualFiles: readonly string[] = [
  "/etc/ssl/certs/ca-certificates.crt",
  "/etc/pki/tls/certs/ca-bundle.crt",
  "/etc/ssl/ca-bundle.pem",
  "/etc/pki/tls/cacert.pem",
  "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
  "/etc/ssl/cert.pem",
];

/**
 * Returns the system's CA certificates (PEM): the file of `SSL_CERT_FILE`, else the system's usual file, plus the file of
 * `NODE_EXTRA_CA_CERTS`. Undefined if there are none; Node then uses its own (spec: conventions 5.6).
 */
async function hostAuthorities(
  environment: Readonly<Record<string, string | undefined>>,
  files: readonly string[] = usualFiles,
): Promise<string | undefined> {
  const { SSL_CERT_FILE: named, NODE_EXTRA_CA_CERTS: extra } = environment;
  const texts = await Promise.all((named ? [named] : files).map(readIfThere));
  const bundle = texts.find((text) => text.includes("-----BEGIN CERTIFICATE-----"));
  if (bundle === undefined) return undefined;
  return extra ? `${bundle}\n${await readIfThere(extra)}` : bundle;
}

/** Reads a file; returns an empty string if it can't be read. */
async function readIfThere(file: string): Promise<string> {
  return readFile(file, "latin1").catch(() => "");
}

let trusted: Promise<SecureContext> | undefined;

/** TLS context with the system's CA certificates. Created once, because there are many. */
function hostTrust(): Promise<SecureContext> {
  return (trusted ??= hostAuthorities(process.env).then((ca) => createSecureContext(peerTrust(ca))));
}
