import { constants, type Http2Session, type ServerHttp2Session } from "node:http2";
import type { Server, Socket } from "node:net";
import type { ListenerContext } from "./listener-context.ts";

/** The parts of a listener that are closed. */
export interface Draining {
  readonly server: Server;
  readonly sockets: ReadonlySet<Socket>;
  readonly sessions: ReadonlySet<ServerHttp2Session>;
  readonly context: ListenerContext;
}

/**
 * Time for which a closing listener accepts connections and keeps idle ones open. A client that sends its next
 * request in this time learns from the response that the connection closes. Closing idle connections at once would
 * abort requests that are on their way.
 */
const noticeMs = 1000;

/** Interval at which a stopping server looks for idle connections. */
const sweepMs = 50;

/** The largest stream id: a GOAWAY with it announces the end of the connection but refuses no stream. */
const everyStream = 2 ** 31 - 1;

/**
 * Closes a listener gracefully. First it announces the end: HTTP/1.1 responses close their connection, and HTTP/2
 * clients get a GOAWAY that refuses nothing; new connections and requests are still served. After {@link noticeMs},
 * or when no connection is open, it stops listening and closes idle connections. Running requests may finish within
 * `graceMs`.
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
  // Also closes connections that become idle while the server stops.
  const sweep = setInterval(closeIdle, sweepMs);
  await closed;
  clearInterval(sweep);
  clearTimeout(timer);
}

/** Announces to an HTTP/2 client that the connection will close; requests that it still sends are served. */
export function announceEnd(session: Http2Session): void {
  if (!session.closed && !session.destroyed) session.goaway(constants.NGHTTP2_NO_ERROR, everyStream);
}

/** A shorter event loop turn had no work: all pending connections are accepted. */
const idleTurnMs = 0.3;
/** Maximum wait for an idle turn. */
const idleWaitMs = 500;

/**
 * Waits for the notice period, then for an idle event loop turn: connections that aren't accepted yet are reset when
 * the listening socket closes.
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
