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
import { createSecureContext, type SecureContext, type Server as TlsServer, type TLSSocket } from "node:tls";
import { FairTurns } from "../../flow/fair-turns.ts";
import { peerTrust } from "../../base/certificates/peer-trust.ts";
import { type Connection, exhaustionCodes, type ConnectionObserver } from "./connection.ts";
import type { HttpExchange, HandlerGuard } from "./http-exchange.ts";
import { ChunkFraming } from "./chunk-framing.ts";
import { connectionLimits, type ConnectionLimits } from "./connection-limits.ts";
import { announceEnd, drain } from "./drain.ts";
import { HandshakePace } from "./handshake-pace.ts";
import { Http1Exchange } from "./http1.ts";
import { Http2Exchange } from "./http2.ts";
import type { ListenerContext } from "./listener-context.ts";
import { SlowReaders } from "./slow-readers.ts";
import type { ResponseBacklogs } from "./response-backlog.ts";
import { messagesThatMayUpgrade, upgradeExchange, type UpgradeRule } from "./upgrade.ts";

const text = "This port speaks HTTPS only: begin the URL with https://\n";
const answer = [
  "HTTP/1.0 400 Bad Request",
  "Content-Type: text/plain; charset=utf-8",
  `Content-Length: ${Buffer.byteLength(text)}`,
  "Connection: close",
  "",
  text,
].join("\r\n");

/**
 * Answers plain HTTP on a TLS port with a text that explains the error, instead of closing the connection silently.
 *
 * @param sockets the open connections, as accepted.
 */
function answerPlainRequests(server: Server, sockets: ReadonlySet<Socket>, guard: HandlerGuard): void {
  guard.on(
    server,
    "tlsClientError",
    (error: NodeJS.ErrnoException, { remoteAddress, remotePort }: TLSSocket) => {
      if (error.code !== "ERR_SSL_HTTP_REQUEST" || remotePort === undefined) return;
      for (const socket of sockets) {
        if (socket.remotePort !== remotePort || socket.remoteAddress !== remoteAddress) continue;
        socket.end(answer);
        return;
      }
    },
  );
}

/** Maximum number of certificates of a client's chain. */
const maxChain = 10;

/** The members of {@link Connection} about the client certificate. */
type Presented = Pick<Connection, "certificate" | "certificateChain" | "certificateError">;

const nothing: Presented = { certificate: undefined, certificateChain: [], certificateError: undefined };

/** A certificate as Node represents it; a root is its own issuer. */
interface ShownCertificate {
  readonly raw?: Buffer;
  readonly issuerCertificate?: ShownCertificate;
}

/** The client certificate if the handshake verified its chain; otherwise the error, if there was a certificate. */
function presentedBy(socket: TLSSocket): Presented {
  // Bun's sockets have no such method. The socket of an HTTP/2 session is a proxy, so `in` would not find it.
  if (socket.encrypted !== true || typeof socket.getPeerCertificate !== "function") return nothing;
  const { raw } = socket.getPeerCertificate() as ShownCertificate;
  if (raw === undefined) return nothing;
  if (!socket.authorized) {
    return { ...nothing, certificateError: String(socket.authorizationError ?? "not verified") };
  }
  return { certificate: raw, certificateChain: issuersOf(socket), certificateError: undefined };
}

function issuersOf(socket: TLSSocket): Buffer[] {
  const chain: Buffer[] = [];
  let at = socket.getPeerCertificate(true) as ShownCertificate;
  while (chain.length < maxChain) {
    const { issuerCertificate: above } = at;
    if (above?.raw === undefined || above === at) break;
    chain.push(above.raw);
    at = above;
  }
  return chain;
}

/** Options of {@link listen}. */
export interface ListenOptions {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** Certificates; without them the server speaks plain HTTP (for use behind a proxy on the same machine). */
  readonly tls: TlsMaterial | undefined;
  /** The default is {@link connectionLimits}. */
  readonly limits?: ConnectionLimits;
  /** Maximum number of open connections; further ones are closed before reading. The default is no limit. */
  readonly maxConnections?: number;
  readonly observer?: ConnectionObserver;
  /** Guards the event handlers of connections, requests and responses. */
  readonly guard: HandlerGuard;
  /** Limits unread response bytes. */
  readonly backlog: ResponseBacklogs;
  /** Shares the thread between users; the default is one of the listener's own. */
  readonly turns?: FairTurns;
}

/** The server's certificate and key, and the CA certificates for client certificates, in PEM. */
export interface TlsMaterial {
  readonly cert: string;
  readonly key: string;
  /** CA certificates for client certificates of all types. */
  readonly clientAuthorities: readonly string[];
  /** Minimum TLS version; the default is TLS 1.2. */
  readonly minVersion?: "TLSv1" | "TLSv1.1" | "TLSv1.2" | "TLSv1.3" | undefined;
  /** Allowed ciphers in OpenSSL's form; the default is Node's. */
  readonly ciphers?: string | undefined;
}

export interface HttpListener {
  readonly host: string;
  readonly port: number;
  readonly secure: boolean;
  /** Reserves connections for other sockets; lowers the maximum for clients. */
  leaveOut(sockets: number): void;
  /** Changes the certificate and client CA certificates for new connections. */
  renew(tls: TlsMaterial): void;
  /** Stops gracefully: see {@link drain}. Requests that still run after `graceMs` are aborted. */
  close(graceMs: number): Promise<void>;
}

/**
 * Opens a socket and calls `handle` for each request. An upgrade is offered only if `mayUpgrade` returns true;
 * otherwise the request is served without it.
 */
export async function listen(
  options: ListenOptions,
  handle: (exchange: HttpExchange) => void,
  mayUpgrade: UpgradeRule = () => false,
): Promise<HttpListener> {
  const sockets = new Set<Socket>();
  const sessions = new Set<ServerHttp2Session>();
  const { tls, guard, backlog, limits = connectionLimits, turns = new FairTurns() } = options;
  const slowReaders = new SlowReaders(limits.answerTimeoutMs, limits.checkIntervalMs);
  const nextSlice = (user: string, task: () => void) =>
    guard.run("write", () => turns.longStep(user).then(task), undefined);
  const chunks = new ChunkFraming();
  const context: ListenerContext = { slowReaders, guard, backlog, chunks, nextSlice, draining: false };
  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    const serve = () => handle(new Http1Exchange(request, response, connectionOf(request.socket), context));
    guard.run("request", serve, response);
  };
  const server =
    tls === undefined
      ? createServer(http1Options(limits, mayUpgrade), onRequest)
      : secureServer(tls, http1Options(limits, mayUpgrade), { limits, context, handle, sessions }, onRequest);
  guard.on(server, "upgrade", (request: IncomingMessage, socket: Socket, head: Buffer) => {
    const exchange = upgradeExchange(request, socket, head, connectionOf(socket), context);
    if (exchange !== undefined) handle(exchange);
  });
  // No limit: their size is limited, and Node would drop the last headers, which may be those of impersonation.
  (server as HttpServer).maxHeadersCount = 0;
  const { observer, maxConnections } = options;
  if (maxConnections !== undefined) server.maxConnections = maxConnections;
  observe(server, sockets, options);
  answerPlainRequests(server, sockets, guard);
  await new Promise<void>((resolve, reject) => {
    // Without a handler Node ends the process when accepting fails.
    const failed = (error: NodeJS.ErrnoException) => {
      if (exhaustionCodes.has(error.code ?? "")) observer?.exhausted("accept");
      reject(error);
    };
    guard.on(server, "error", failed);
    server.listen(options.port, options.host, resolve);
  });
  const looks = setInterval(() => {
    slowReaders.look();
    guard.run("look", () => observer?.look(), undefined);
  }, limits.checkIntervalMs).unref();
  guard.once(server, "close", () => clearInterval(looks));
  const { port } = server.address() as AddressInfo;
  return {
    host: options.host,
    port,
    secure: options.tls !== undefined,
    leaveOut: (others) => {
      if (maxConnections !== undefined) server.maxConnections = Math.max(1, maxConnections - others);
    },
    renew: (material) => useContext(server as TlsServer, material),
    close: (graceMs) => drain({ server, sockets, sessions, context }, graceMs),
  };
}

/** Maintains the set of open sockets and notifies the observer. */
function observe(server: Server, sockets: Set<Socket>, { guard, observer }: ListenOptions): void {
  guard.on(server, "drop", () => observer?.refused());
  guard.on(server, "connection", (socket: Socket) => {
    const closed = () => {
      sockets.delete(socket);
      observer?.closed();
    };
    sockets.add(socket);
    observer?.opened();
    guard.once(socket, "close", closed, socket);
  });
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
 * Returns the TLS settings that may change at run time. Session resumption is off, so that every handshake verifies
 * the client certificate with the current CA certificates and receives the intermediate ones.
 */
function contextOf({ cert, key, clientAuthorities, minVersion = "TLSv1.2", ciphers }: TlsMaterial) {
  return {
    cert,
    key,
    ...peerTrust(clientAuthorities),
    minVersion,
    ...(ciphers === undefined ? {} : { ciphers }),
    secureOptions: constants.SSL_OP_NO_TICKET,
  };
}

/**
 * Uses TLS material for new connections. Node's servers build their context from a list of options that lacks
 * `allowPartialTrustChain`, so the context is set directly.
 */
function useContext(server: TlsServer, material: TlsMaterial): void {
  const holder = server as unknown as { _sharedCreds: SecureContext };
  holder._sharedCreds = createSecureContext(contextOf(material));
}

/** Creates one TLS server; the negotiated protocol (ALPN) decides which HTTP server handles a connection. */
function secureServer(
  tls: TlsMaterial,
  http1: ReturnType<typeof http1Options>,
  over2: Http2Serving,
  onRequest: RequestListener,
): Server {
  const { limits, context } = over2;
  const secureOptions = {
    // On Node the context is set below, and creating one here would take a millisecond. Bun doesn't support that.
    ...("bun" in process.versions ? contextOf(tls) : peerTrust([])),
    requestCert: true,
    rejectUnauthorized: false,
    handshakeTimeout: limits.handshakeTimeoutMs,
    ALPNProtocols: ["h2", "http/1.1"],
  };
  const server = createHttpsServer({ ...secureOptions, ...http1 }, onRequest);
  useContext(server, tls);
  paceHandshakes(server, context.guard);
  const http2 = createHttp2Server({
    ...secureOptions,
    settings: { maxConcurrentStreams: limits.maxStreams },
    maxHeaderListPairs: 128,
  });
  serveHttp2(http2, over2);
  const readHttp1 = server.listeners("secureConnection") as ((socket: TLSSocket) => void)[];
  server.removeAllListeners("secureConnection");
  context.guard.on(server, "secureConnection", (socket: TLSSocket) => {
    if (socket.alpnProtocol === "h2") http2.emit("secureConnection", socket);
    else for (const listener of readHttp1) listener.call(server, socket);
  });
  return server;
}

function paceHandshakes(server: Server, guard: HandlerGuard): void {
  const pace = new HandshakePace(guard);
  const beginTls = server.listeners("connection") as ((socket: Socket) => void)[];
  server.removeAllListeners("connection");
  const begin = (socket: Socket) => {
    for (const listener of beginTls) listener.call(server, socket);
  };
  guard.on(server, "connection", (socket: Socket) => pace.add(socket, () => begin(socket)));
}

/** Dependencies of HTTP/2 connections. */
interface Http2Serving {
  readonly limits: ConnectionLimits;
  readonly context: ListenerContext;
  readonly handle: (exchange: HttpExchange) => void;
  readonly sessions: Set<ServerHttp2Session>;
}

function serveHttp2(http2: Http2SecureServer, { limits, context, handle, sessions }: Http2Serving): void {
  const { guard } = context;
  guard.on(http2, "session", (session: ServerHttp2Session) => {
    sessions.add(session);
    guard.once(session, "close", () => sessions.delete(session), session);
    guard.on(session, "error", () => session.destroy(), session);
    endWhenIdle(session, limits.keepAliveTimeoutMs, guard);
  });
  const onStream = (
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    _flags: number,
    rawHeaders: readonly string[],
  ) => {
    guard.on(stream, "error", () => stream.destroy(), stream);
    const socket = stream.session?.socket;
    if (socket === undefined) return;
    if (context.draining) announceEnd(stream.session!);
    const connection = connectionOf(socket as Socket);
    handle(new Http2Exchange(stream, headers, rawHeaders, connection, limits.requestTimeoutMs, context));
  };
  guard.on(http2, "stream", onStream);
  guard.on(http2, "sessionError", (_error: Error, session: ServerHttp2Session) => session.destroy());
}

/** Closes a session without streams and traffic for the time-out. A watch without events is a stream. */
function endWhenIdle(session: ServerHttp2Session, timeoutMs: number, guard: HandlerGuard): void {
  let streams = 0;
  const begins = (stream: ServerHttp2Stream) => {
    streams++;
    guard.once(stream, "close", () => streams--, stream);
  };
  const idles = () => {
    if (streams === 0) session.close();
  };
  guard.on(session, "stream", begins, session);
  session.setTimeout(timeoutMs, guard.wrap("timeout", idles, session));
}

const connections = new WeakMap<object, Connection>();

/** Returns the connection state of a socket; created once. */
function connectionOf(socket: Socket): Connection {
  let connection = connections.get(socket);
  if (connection === undefined) {
    connection = {
      remoteAddress: socket.remoteAddress ?? "",
      secure: (socket as TLSSocket).encrypted === true,
      ...presentedBy(socket as TLSSocket),
      identity: undefined,
      backlog: undefined,
    };
    connections.set(socket, connection);
  }
  return connection;
}
