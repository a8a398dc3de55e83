import { constants, type Http2Session, type ServerHttp2Session } from "node:http2";
import type { Server, Socket } from "node:net";
import type { ListenerContext } from "./listener-context.ts";

/** What of a listener has to be brought to an end. */
export interface Draining {
  readonly server: Server;
  readonly sockets: ReadonlySet<Socket>;
  readonly sessions: ReadonlySet<ServerHttp2Session>;
  readonly context: ListenerContext;
}

/**
 * How long a listener that closes goes on accepting connections and keeps idle ones open. A client that doesn't know yet
 * sends its next request in this time, and learns from the answer that the connection ends. To close an idle connection
 * at once would break off the request that is on its way.
 */
const noticeMs = 1000;

/** How often a server that stops looks for connections that have nothing more to do. */
const sweepMs = 50;

/** The largest id of a stream: a GOAWAY with it announces the end of a connection, and refuses no stream. */
const everyStream = 2 ** 31 - 1;

/**
 * Ends a listener. First it only announces the end: an answer over HTTP/1.1 closes its connection, and HTTP/2 clients get
 * a GOAWAY that refuses nothing; new connections and requests are served. After {@link noticeMs}, or when no connection is
 * left, it stops listening and closes idle connections. What is under way may finish until `graceMs` is over.
 */
export async function drain(draining: Draining, graceMs: number): Promise<void> {
  const { server, sockets, sessions, context } = draining;
  context.draining = true;
  const timer = setTimeout(() => {
    for (const socket of sockets) socket.destroy();
  }, graceMs);
  for (const session of sessions) announceEnd(session);
  await noticeGiven(sockets, Math.min(noticeMs, graceMs));
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const closeIdle = () => (server as Server & { closeIdleConnections?: () => void }).closeIdleConnections?.();
  closeIdle();
  for (const session of sessions) session.close();
  // A connection whose last answer ends now would else wait for a next request.
  const sweep = setInterval(closeIdle, sweepMs);
  await closed;
  clearInterval(sweep);
  clearTimeout(timer);
}

/** Tells a client of HTTP/2 that its connection will end; requests that it sends before it notices are served. */
export function announceEnd(session: Http2Session): void {
  if (!session.closed && !session.destroyed) session.goaway(constants.NGHTTP2_NO_ERROR, everyStream);
}

/** A turn of the event loop that is shorter did nothing: all connections that had come are accepted. */
const idleTurnMs = 0.3;
/** So long an idle turn is waited for. */
const idleWaitMs = 500;

/**
 * Waits until clients had the time to notice, and then for a turn of the event loop in which nothing comes: connections
 * that are not accepted yet are reset when their listening socket is closed.
 */
async function noticeGiven(sockets: ReadonlySet<Socket>, ms: number): Promise<void> {
  const endMs = performance.now() + ms;
  while (sockets.size > 0 && performance.now() < endMs) {
    await new Promise((resolve) => setTimeout(resolve, Math.min(sweepMs, ms)));
  }
  const lastMs = performance.now() + idleWaitMs;
  for (let startMs = -Infinity, now = 0; ; startMs = now) {
    await new Promise((resolve) => setImmediate(resolve));
    now = performance.now();
    if (now - startMs < idleTurnMs || now > lastMs) return;
  }
}
