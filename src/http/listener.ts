import {
  createServer,
  type IncomingMessage,
  type Server as HttpServer,
  type ServerResponse,
} from "node:http";
import { createServer as createHttpsServer } from "node:https";
import {
  createSecureServer as createHttp2Server,
  type Http2SecureServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { AddressInfo, Server, Socket } from "node:net";
import { constants } from "node:crypto";
import type { Server as TlsServer, TLSSocket } from "node:tls";
import { stallMs, type Connection, type Exchange } from "./exchange.ts";
import { presentedBy } from "./client-certificates.ts";
import { Http1Exchange } from "./http1.ts";
import { Http2Exchange } from "./http2.ts";
import { SlowReaders } from "./slow-readers.ts";
import { messagesThatMayUpgrade, upgradeExchange, type UpgradeRule } from "./upgrade.ts";

/** How connections are accepted. */
export interface ListenOptions {
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  /** Certificates; without them the server speaks plain HTTP (for use behind a proxy on the same machine). */
  readonly tls: TlsMaterial | undefined;
  /** {@link connectionLimits} unless given. */
  readonly limits?: ConnectionLimits;
  /** Connections that may be open at a time; one more is closed before a byte of it is read. Unless given: any number. */
  readonly maxConnections?: number;
  readonly observer?: ConnectionObserver;
}

/** Told of client connections. */
export interface ConnectionObserver {
  opened(): void;
  closed(): void;
  /** One beyond the limit was closed at once. */
  refused(): void;
}

/** With what a server shows itself, and whose clients' certificates it verifies; in PEM. */
export interface TlsMaterial {
  readonly cert: string;
  readonly key: string;
  /** Authorities of client certificates, of whatever sort of clients. */
  readonly clientAuthorities: readonly string[];
  /** The oldest version that clients may speak; TLS 1.2 unless given. */
  readonly minVersion?: "TLSv1" | "TLSv1.1" | "TLSv1.2" | "TLSv1.3" | undefined;
  /** What clients may choose from, as OpenSSL names it; Node's choice unless given. */
  readonly ciphers?: string | undefined;
}

/** Limits on what a connection may take. */
export interface ConnectionLimits {
  /** A TLS handshake must be done by then. */
  readonly handshakeTimeoutMs: number;
  /** The headers of a request must be there by then. */
  readonly headersTimeoutMs: number;
  /** A whole request, with its body, must be there by then. */
  readonly requestTimeoutMs: number;
  /** An answer over HTTP/1.1 must be taken in this time; looked at now and then, see `checkIntervalMs`. */
  readonly answerTimeoutMs: number;
  /** An idle connection is closed after this time. */
  readonly keepAliveTimeoutMs: number;
  /** How often HTTP/1.1 connections are held against the two times of a request, and clients looked for that don't read. */
  readonly checkIntervalMs: number;
  /** Bytes of headers. */
  readonly maxHeaderBytes: number;
  /** Requests that one HTTP/2 connection may have under way. */
  readonly maxStreams: number;
}

/** The limits of a server. */
export const connectionLimits: ConnectionLimits = {
  handshakeTimeoutMs: 10_000,
  headersTimeoutMs: 20_000,
  requestTimeoutMs: 60_000,
  answerTimeoutMs: stallMs,
  keepAliveTimeoutMs: 120_000,
  checkIntervalMs: 5000,
  maxHeaderBytes: 32 * 1024,
  maxStreams: 250,
};

export interface HttpListener {
  readonly host: string;
  readonly port: number;
  readonly secure: boolean;
  /** Shows itself to new connections with another certificate, or verifies theirs by other authorities. */
  renew(tls: TlsMaterial): void;
  /** Takes no new connections, ends idle ones, and lets requests under way finish until `graceMs` is over. */
  close(graceMs: number): Promise<void>;
}

/**
 * Opens a socket and hands each request to `handle`. A client's wish to upgrade its connection is only offered where
 * `mayUpgrade` says so; elsewhere it is ignored, and the request served plainly.
 */
export async function listen(
  options: ListenOptions,
  handle: (exchange: Exchange) => void,
  mayUpgrade: UpgradeRule = () => false,
): Promise<HttpListener> {
  const sockets = new Set<Socket>();
  const sessions = new Set<ServerHttp2Session>();
  const { tls, limits = connectionLimits } = options;
  const slowReaders = new SlowReaders(limits.answerTimeoutMs, limits.checkIntervalMs);
  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    handle(new Http1Exchange(request, response, connectionOf(request.socket), slowReaders));
  };
  const server =
    tls === undefined
      ? createServer(http1Options(limits, mayUpgrade), onRequest)
      : secureServer(tls, http1Options(limits, mayUpgrade), limits, onRequest, handle, sessions);
  server.on("upgrade", (request: IncomingMessage, socket: Socket, head: Buffer) => {
    const exchange = upgradeExchange(request, socket, head, connectionOf(socket), slowReaders);
    if (exchange !== undefined) handle(exchange);
  });
  // Their size is bounded. Beyond a number Node would leave the last headers out, which may say as whom a request is done.
  (server as HttpServer).maxHeadersCount = 0;
  const { observer, maxConnections } = options;
  if (maxConnections !== undefined) server.maxConnections = maxConnections;
  server.on("drop", () => observer?.refused());
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    observer?.opened();
    socket.once("close", () => {
      sockets.delete(socket);
      observer?.closed();
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, options.host, resolve);
  });
  const looks = setInterval(() => slowReaders.look(), limits.checkIntervalMs).unref();
  server.once("close", () => clearInterval(looks));
  const { port } = server.address() as AddressInfo;
  return {
    host: options.host,
    port,
    secure: options.tls !== undefined,
    renew: (material) => (server as TlsServer).setSecureContext(contextOf(material)),
    close: (graceMs) => closeAll(server, sockets, sessions, graceMs),
  };
}

type RequestListener = (request: IncomingMessage, response: ServerResponse) => void;

function http1Options(limits: ConnectionLimits, mayUpgrade: UpgradeRule) {
  return {
    IncomingMessage: messagesThatMayUpgrade(mayUpgrade),
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: limits.checkIntervalMs,
    maxHeaderSize: limits.maxHeaderBytes,
    noDelay: true,
  };
}

/**
 * What may change while a server runs. Sessions are not resumed: a certificate is verified at every handshake, with the
 * authorities of that moment, and the certificates between come along each time.
 */
function contextOf({ cert, key, clientAuthorities, minVersion = "TLSv1.2", ciphers }: TlsMaterial) {
  return {
    cert,
    key,
    ca: [...clientAuthorities],
    minVersion,
    ...(ciphers === undefined ? {} : { ciphers }),
    secureOptions: constants.SSL_OP_NO_TICKET,
  };
}

/** One TLS server: the protocol that the client chose (ALPN) decides who reads the connection. */
function secureServer(
  tls: TlsMaterial,
  http1: ReturnType<typeof http1Options>,
  limits: ConnectionLimits,
  onRequest: RequestListener,
  handle: (exchange: Exchange) => void,
  sessions: Set<ServerHttp2Session>,
): Server {
  const secureOptions = {
    ...contextOf(tls),
    requestCert: true,
    rejectUnauthorized: false,
    handshakeTimeout: limits.handshakeTimeoutMs,
    ALPNProtocols: ["h2", "http/1.1"],
  };
  const server = createHttpsServer({ ...secureOptions, ...http1 }, onRequest);
  const http2 = createHttp2Server({
    ...secureOptions,
    settings: { maxConcurrentStreams: limits.maxStreams },
    maxHeaderListPairs: 128,
  });
  serveHttp2(http2, limits, handle, sessions);
  const readHttp1 = server.listeners("secureConnection") as ((socket: TLSSocket) => void)[];
  server.removeAllListeners("secureConnection");
  server.on("secureConnection", (socket: TLSSocket) => {
    if (socket.alpnProtocol === "h2") http2.emit("secureConnection", socket);
    else for (const listener of readHttp1) listener.call(server, socket);
  });
  return server;
}

function serveHttp2(
  http2: Http2SecureServer,
  limits: ConnectionLimits,
  handle: (exchange: Exchange) => void,
  sessions: Set<ServerHttp2Session>,
): void {
  http2.on("session", (session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
    session.on("error", () => session.destroy());
    endWhenIdle(session, limits.keepAliveTimeoutMs);
  });
  const onStream = (
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    _flags: number,
    rawHeaders: readonly string[],
  ) => {
    stream.on("error", () => stream.destroy());
    const socket = stream.session?.socket;
    if (socket === undefined) return;
    const connection = connectionOf(socket as Socket);
    handle(new Http2Exchange(stream, headers, rawHeaders, connection, limits.requestTimeoutMs));
  };
  http2.on("stream", onStream);
  http2.on("sessionError", (_error, session) => session.destroy());
}

/** Ends a session that had no stream and no traffic for a time. A watch on which nothing happens is a stream. */
function endWhenIdle(session: ServerHttp2Session, timeoutMs: number): void {
  let streams = 0;
  session.on("stream", (stream) => {
    streams++;
    stream.once("close", () => streams--);
  });
  session.setTimeout(timeoutMs, () => {
    if (streams === 0) session.close();
  });
}

const connections = new WeakMap<object, Connection>();

/** What is known of a socket; read once. */
function connectionOf(socket: Socket): Connection {
  let connection = connections.get(socket);
  if (connection === undefined) {
    connection = {
      remoteAddress: socket.remoteAddress ?? "",
      secure: (socket as TLSSocket).encrypted === true,
      ...presentedBy(socket as TLSSocket),
      identity: undefined,
    };
    connections.set(socket, connection);
  }
  return connection;
}

/** How often a server that stops looks for connections that have nothing more to do. */
const sweepMs = 50;

async function closeAll(
  server: Server,
  sockets: ReadonlySet<Socket>,
  sessions: ReadonlySet<ServerHttp2Session>,
  graceMs: number,
): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const closeIdle = () => (server as Server & { closeIdleConnections?: () => void }).closeIdleConnections?.();
  closeIdle();
  for (const session of sessions) session.close();
  // A connection whose last answer ends now would else wait for a next request.
  const sweep = setInterval(closeIdle, sweepMs);
  const timer = setTimeout(() => {
    for (const socket of sockets) socket.destroy();
  }, graceMs);
  await closed;
  clearInterval(sweep);
  clearTimeout(timer);
}
