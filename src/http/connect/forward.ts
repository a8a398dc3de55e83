import type { OutgoingHttpHeaders, IncomingMessage } from "node:http";
import { StatusError } from "../../base/status-error.ts";
import type { BodyStream } from "../transport/body-stream.ts";
import type { HttpExchange } from "../transport/http-exchange.ts";
import type { HeaderLines } from "../transport/header-lines.ts";
import type { HttpService } from "../service.ts";
import type { RequestContext } from "../request/context.ts";
import { Backend, type BackendAnswer } from "../backends/backend.ts";
import {
  answerHeaders,
  requestHeaders,
  announcedTrailers,
  mayTrail,
  trailersOf,
} from "../backends/headers.ts";
import type { Destination } from "../backends/rules.ts";
import type { Duplex } from "node:stream";
import type { Timer } from "../../base/time/clock.ts";

/** Target and options of a forwarded request. */
export interface Forward {
  readonly destination: Destination;
  /** Path and query for the backend. */
  readonly path: string;
  /** Changes the header lines of a response, also of one with protocol switch. */
  readonly rewriteHeaders?: (lines: string[]) => HeaderLines;
  /** Headers that replace those of the client. */
  readonly added?: AddedHeaders | undefined;
  /** Whether redirects are refused also for requests without protocol switch. */
  readonly refusesRedirects?: boolean;
  /** Whether the response is endless, like a watch, so that a stopping server doesn't wait for it. */
  readonly endless?: boolean;
}

/** Headers that the server adds to a forwarded request. */
export interface AddedHeaders {
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** Returns true if the client's header with this name (in lower case) is removed. */
  readonly replaces: (name: string) => boolean;
}

/**
 * Forwards a request with its body and sends the response. Resolves when the response has started; it continues in the
 * background until either side ends it. Protocol switches are forwarded too.
 *
 * @throws {StatusError} the request failed before the response started.
 */
export async function forwardRequest(
  service: HttpService,
  request: RequestContext,
  forward: Forward,
): Promise<void> {
  const { exchange } = request;
  const {
    destination,
    path,
    rewriteHeaders = (lines) => lines,
    refusesRedirects = false,
    endless = false,
  } = forward;
  const { upgrade } = exchange;
  const outgoing = { method: exchange.method, path, headers: headersOf(service, request, forward) };
  let backend = new Backend(destination, outgoing, service, exchange);
  let upgraded = false;
  let clientLeft = false;
  exchange.onClose(() => {
    clientLeft = true;
    if (!upgraded) backend.destroy();
  });
  backend.send(exchange.body);
  const received = await backend.answer.catch((error: unknown) => {
    const mayBeStale =
      backend.reused && error instanceof StatusError && error.reason === "ServiceUnavailable";
    if (!mayBeStale || clientLeft) throw error;
    const { agent: _pooled, ...unpooled } = destination;
    backend = new Backend(unpooled, outgoing, service, exchange);
    backend.send(undefined);
    return backend.answer;
  });
  if (upgrade !== undefined || refusesRedirects) refuseRedirect(received, backend);
  if (received.kind === "answer") {
    const status = statusOf(received, backend);
    const stream = relayAnswer(
      exchange,
      received.answer,
      status,
      rewriteHeaders(answerHeaders(received.answer)),
    );
    if (endless) endWithServer(service, exchange, stream, backend);
    return;
  }
  upgraded = true;
  const { answer, socket, head } = received;
  if (head.length > 0) socket.unshift(head);
  const protocol = answer.headers.upgrade ?? upgrade!.protocol;
  const lines = ["Connection", "Upgrade", "Upgrade", protocol, ...rewriteHeaders(answerHeaders(answer))];
  relayBytes(service, upgrade!.accept(lines), socket);
}

function headersOf(
  service: HttpService,
  { exchange }: RequestContext,
  { added }: Forward,
): OutgoingHttpHeaders {
  const { isIdentityHeader } = service.connections;
  const isReplaced = (name: string) => isIdentityHeader(name) || added?.replaces(name) === true;
  const plain = requestHeaders(exchange, service.engine.vocabulary, isReplaced);
  const { upgrade } = exchange;
  const upgrading = upgrade === undefined ? {} : { connection: "Upgrade", upgrade: upgrade.protocol };
  return { ...plain, ...upgrading, ...(added?.headers as OutgoingHttpHeaders | undefined) };
}

/** Ends an endless response when the server stops. */
export function endWithServer(
  { streams }: HttpService,
  exchange: HttpExchange,
  stream: BodyStream,
  backend: Backend,
): void {
  const open = {
    close: () => {
      stream.end();
      backend.destroy();
    },
  };
  streams.add(open);
  exchange.onClose(() => streams.delete(open));
}

/**
 * Refuses redirects of requests with protocol switch, whose input would go to a target chosen by the backend, and all
 * redirects of extension servers.
 */
function refuseRedirect({ answer }: BackendAnswer, backend: Backend): void {
  const status = answer.statusCode ?? 0;
  if (status < 300 || status > 399 || (answer.headers.location === undefined && status !== 300)) return;
  backend.destroy();
  const message = "the backend attempted to redirect this request, which is not permitted";
  throw new StatusError("BadGateway", message);
}

/** Returns the status of a response; an invalid one isn't forwarded. */
function statusOf({ answer }: BackendAnswer, backend: Backend): number {
  const status = answer.statusCode ?? 0;
  if (status >= 200 && status <= 599) return status;
  backend.destroy();
  throw new StatusError("ServiceUnavailable", `the backend answered with the status ${status}`);
}

/** Time for which the other direction continues after one side has ended. */
const halfOpenMs = 10_000;
/** Interval of TCP keep-alive probes for silent peers. */
const keepAliveMs = 30_000;

/**
 * Relays the bytes of an upgraded connection in both directions, until either side ends it or the server stops. Each
 * side is read only as fast as the other one accepts data. Idle connections are allowed.
 */
function relayBytes({ clock, streams, guard }: HttpService, client: Duplex, backend: Duplex): void {
  const open = { close: () => end() };
  let halfOpen: Timer | undefined;
  const endSoon = () => (halfOpen ??= clock.setTimer(end, halfOpenMs));
  const end = () => {
    halfOpen?.cancel();
    streams.delete(open);
    client.destroy();
    backend.destroy();
  };
  const both = { destroy: end };
  const join = (side: Duplex, other: Duplex) => {
    const leaves = () => {
      if (other.destroyed || other.writableLength === 0) return end();
      // Data that this side sent before is still delivered.
      endSoon();
      other.end(guard.wrap("finish", end, both));
    };
    keepAlive(side);
    guard.once(side, "error", end, both);
    guard.once(side, "end", endSoon, both);
    guard.once(side, "close", leaves, both);
    side.pipe(other);
  };
  join(client, backend);
  join(backend, client);
  streams.add(open);
  if (client.destroyed || backend.destroyed) end();
}

function keepAlive(side: Duplex): void {
  const { setKeepAlive } = side as { setKeepAlive?: (on: boolean, afterMs: number) => void };
  setKeepAlive?.call(side, true, keepAliveMs);
}

/**
 * Streams a backend's response with its trailers, as fast as the client reads it. If the response is cut off, the
 * client's connection is too, so that the client can't take it for complete.
 */
export function relayAnswer(
  exchange: HttpExchange,
  answer: IncomingMessage,
  status: number,
  headers: HeaderLines,
): BodyStream {
  const trailing = mayTrail(answer, exchange.method);
  // Announced trailers are announced to the client too.
  const announced = trailing ? announcedTrailers(answer) : "";
  const lines = announced === "" ? headers : [...headers, "trailer", announced];
  const stream = exchange.stream(status, lines, trailing);
  const { guard } = exchange;
  const both = {
    destroy: () => {
      stream.destroy();
      answer.destroy();
    },
  };
  const pass = (chunk: Buffer) => {
    if (stream.write(chunk) || stream.closed) return;
    answer.pause();
    stream.onDrain(() => answer.resume());
  };
  const breakOff = () => {
    if (!answer.complete && !stream.closed) stream.destroy();
  };
  guard.on(answer, "data", pass, both);
  guard.once(answer, "end", () => stream.end(trailersOf(answer)), both);
  guard.on(answer, "error", breakOff, both);
  guard.once(answer, "close", breakOff, both);
  return stream;
}
