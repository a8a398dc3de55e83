import {
  request as httpRequest,
  type ClientRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
} from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP, type Socket } from "node:net";
import type { Readable } from "node:stream";
import type { Clock } from "../../base/time/clock.ts";
import { peerTrust } from "../../base/certificates/peer-trust.ts";
import { StatusError } from "../../base/status-error.ts";
import type { Spender } from "../../flow/shared-budget.ts";
import type { HandlerGuard } from "../transport/http-exchange.ts";
import { connectionLimits } from "../transport/connection-limits.ts";
import { exhaustionCodes, type ConnectionObserver } from "../transport/connection.ts";
import { addressRefused, guardedLookup, RefusedAddress, type TargetRules } from "./addresses.ts";
import type { BackendSockets } from "./backend-sockets.ts";
import { hostAndPort, type ConnectionRules, type Destination } from "./rules.ts";

/** A request to a backend. */
export interface BackendRequest {
  readonly method: string;
  /** Path and query to send. */
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
}

/** The result of a request to a backend. */
export type BackendAnswer =
  | { readonly kind: "answer"; readonly answer: IncomingMessage }
  /** The backend has switched protocols; `head` contains the first bytes that it sent in the new one. */
  | {
      readonly kind: "upgraded";
      readonly answer: IncomingMessage;
      readonly socket: Socket;
      readonly head: Buffer;
    };

/** Dependencies of connections to backends. */
export interface BackendServices {
  readonly clock: Clock;
  readonly guard: HandlerGuard;
  /** Rules of the connections. */
  readonly connections: ConnectionRules;
  /** Limits their number. */
  readonly backends: BackendSockets;
  /** Called if no file descriptor is available. */
  readonly clients: ConnectionObserver;
}

/** Time limit of the backend's decision to switch protocols; a disconnect of the client isn't noticed before. */
const upgradeTimeoutMs = 30_000;

/** A request to a backend, on its own connection. */
export class Backend {
  private readonly request: ClientRequest;
  private readonly guard: HandlerGuard;
  /** The result; rejects with a StatusError that names the destination. */
  readonly answer: Promise<BackendAnswer>;

  /**
   * Starts the request; the body must still be sent.
   *
   * @throws {StatusError} BadRequest for a path or header that can't be sent; TooManyRequests if the user, or all
   *   users together, have too many sockets.
   */
  constructor(
    private readonly destination: Destination,
    question: BackendRequest,
    private readonly service: BackendServices,
    spender: Spender,
  ) {
    const { clock, connections, guard, backends } = service;
    this.guard = guard;
    const giveBack = backends.take(spender);
    try {
      this.request = open(destination, question, connections.targets);
    } catch (error) {
      giveBack();
      throw error;
    }
    this.countSocket(giveBack);
    const upgrading = question.headers["upgrade"] !== undefined;
    this.answer = this.settle(clock, upgrading);
    // A caller that gives up early doesn't await the result; `destroy` has ended the request.
    this.answer.catch((error: unknown) => void error);
  }

  /** Sends a body as fast as the backend reads it; without a body, ends the request. */
  send(body: Readable | undefined): void {
    const { request, guard } = this;
    if (body === undefined) {
      request.end();
      return;
    }
    const letPass = () => {
      // The backend reads no more. The rest of the body is discarded, so that the client reads the response.
      body.unpipe(request);
      body.resume();
    };
    guard.on(body, "error", () => request.destroy(), body);
    guard.once(request, "close", letPass, body);
    body.pipe(request);
  }

  /** Returns true if the request was sent over a reused connection, which the backend may have closed just before. */
  get reused(): boolean {
    return this.request.reusedSocket;
  }

  /** Aborts the request in any state. */
  destroy(): void {
    this.request.destroy();
  }

  /** Counts the socket until it is closed, including after a protocol switch; without a socket, until the request ends. */
  private countSocket(giveBack: () => void): void {
    const { request, guard, destination } = this;
    // A pooled connection is counted while the request uses it.
    if (destination.agent !== undefined) return guard.once(request, "close", giveBack, request);
    let hasSocket = false;
    const opened = (socket: Socket) => {
      hasSocket = true;
      guard.once(socket, "close", giveBack, socket);
      if (socket.destroyed) giveBack();
    };
    const ended = () => {
      if (!hasSocket) giveBack();
    };
    guard.once(request, "socket", opened, request);
    guard.once(request, "close", ended, request);
  }

  private settle(clock: Clock, upgrading: boolean): Promise<BackendAnswer> {
    const { request, destination, guard } = this;
    return new Promise((resolve, reject) => {
      const after = (ms: number) =>
        clock.setTimer(() => {
          reject(notInTime(destination, ms));
          request.destroy();
        }, ms);
      let deadline = after(destination.timeoutMs);
      const fail = (error: Error) => {
        deadline.cancel();
        const { code = "" } = error as NodeJS.ErrnoException;
        if (exhaustionCodes.has(code)) this.service.clients.exhausted("dial");
        reject(failureOf(error, destination));
      };
      // On a pooled connection the response has no time limit, but a protocol switch has.
      const ready = destination.scheme === "https" ? "secureConnect" : "connect";
      const connected = () => {
        deadline.cancel();
        const { answerTimeoutMs } = destination;
        if (upgrading) deadline = after(upgradeTimeoutMs);
        else if (answerTimeoutMs !== undefined) deadline = after(answerTimeoutMs);
      };
      const answered = (answer: IncomingMessage) => {
        deadline.cancel();
        resolve({ kind: "answer", answer });
      };
      const upgraded = (answer: IncomingMessage, socket: Socket, head: Buffer) => {
        deadline.cancel();
        guard.on(socket, "error", () => socket.destroy(), socket);
        if (upgrading) resolve({ kind: "upgraded", answer, socket, head });
        else {
          socket.destroy();
          fail(new Error("it changes the protocol without being asked to"));
        }
      };
      const closed = () => fail(new Error("the connection was closed before an answer came"));
      const onSocket = (socket: Socket) => {
        if (request.reusedSocket) connected();
        else guard.once(socket, ready, connected, socket);
      };
      guard.once(request, "socket", onSocket, request);
      guard.on(request, "error", fail, request);
      guard.once(request, "close", closed, request);
      guard.once(request, "response", answered, request);
      guard.once(request, "upgrade", upgraded, request);
    });
  }
}

function open(destination: Destination, question: BackendRequest, targets: TargetRules): ClientRequest {
  const { scheme, host, port, tls } = destination;
  const options = {
    ...question,
    host,
    port,
    // Without an agent, a connection is never reused for another user's request.
    agent: destination.agent ?? (false as const),
    lookup: guardedLookup(targets),
    maxHeaderSize: connectionLimits.maxHeaderBytes,
  };
  try {
    if (scheme === "http") return httpRequest(options);
    const { ca, cert, key, verify = ca !== undefined, serverName = isIP(host) === 0 ? host : "" } = tls;
    return httpsRequest({
      ...options,
      ...peerTrust(ca),
      ...(cert === undefined ? {} : { cert, key }),
      rejectUnauthorized: verify,
      // Otherwise it would be taken from the Host header, which the client controls.
      servername: serverName,
    });
  } catch (error) {
    if (error instanceof TypeError) {
      throw new StatusError("BadRequest", `the request can't be forwarded: ${error.message}`);
    }
    throw error;
  }
}

function notInTime(destination: Destination, ms: number): StatusError {
  return new StatusError(
    "Timeout",
    `error trying to reach ${urlOf(destination)}: no answer within ${ms / 1000} s`,
  );
}

function urlOf(destination: Destination): string {
  return `${destination.scheme}://${hostAndPort(destination)}`;
}

function failureOf(error: Error, destination: Destination): StatusError {
  if (error instanceof RefusedAddress) return addressRefused(error.address);
  const { code } = error as NodeJS.ErrnoException;
  const reason = descriptions.get(code ?? "") ?? reasonOf(error);
  return new StatusError("ServiceUnavailable", `error trying to reach ${urlOf(destination)}: ${reason}`);
}

/** Descriptions of common errors. */
const descriptions: ReadonlyMap<string, string> = new Map([
  ["EMFILE", "the server has no file descriptor left"],
  ["ENFILE", "the machine has no file descriptor left"],
  ["ECONNREFUSED", "connection refused"],
  ["ECONNRESET", "the connection was reset"],
  ["ENOTFOUND", "no such host"],
  ["EAI_AGAIN", "the host's name can't be looked up now"],
  ["EHOSTUNREACH", "no route to the host"],
  ["ENETUNREACH", "no route to its network"],
  ["ETIMEDOUT", "the connection timed out"],
]);

/** Returns an error's message; for several attempts, that of the first. */
function reasonOf(error: Error): string {
  const first = error instanceof AggregateError ? (error.errors[0] as unknown) : error;
  return first instanceof Error && first.message !== "" ? first.message : String(error);
}
