import {
  request as httpRequest,
  type ClientRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
} from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP, type Socket } from "node:net";
import type { Readable } from "node:stream";
import type { Clock } from "../../base/clock.ts";
import { peerTrust } from "../../base/peer-trust.ts";
import { StatusError } from "../../base/status-error.ts";
import type { Spender } from "../../flow/shared-budget.ts";
import type { HandlerGuard } from "../transport/guard.ts";
import { connectionLimits } from "../transport/connection-limits.ts";
import { exhaustionCodes, type ConnectionObserver } from "../transport/connection-observer.ts";
import { addressRefused, guardedLookup, RefusedAddress, type TargetRules } from "./addresses.ts";
import type { BackendSockets } from "./backend-sockets.ts";
import { hostAndPort, type ConnectionRules, type Destination } from "./rules.ts";

/** What a backend is asked. */
export interface BackendQuestion {
  readonly method: string;
  /** Path and query, as they go out. */
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
}

/** What came of a request to a backend. */
export type BackendAnswer =
  | { readonly kind: "answer"; readonly answer: IncomingMessage }
  /** The backend goes on in another protocol; `head` is what it already said in it. */
  | {
      readonly kind: "upgraded";
      readonly answer: IncomingMessage;
      readonly socket: Socket;
      readonly head: Buffer;
    };

/** What connections to backends are made with. */
export interface BackendServices {
  readonly clock: Clock;
  readonly guard: HandlerGuard;
  /** How they are made. */
  readonly connections: ConnectionRules;
  /** Counts their sockets. */
  readonly backends: BackendSockets;
  /** Called when no file descriptor is left for one. */
  readonly clients: ConnectionObserver;
}

/** A backend says by then whether it changes the protocol; the client's leaving isn't noticed before. */
const upgradeTimeoutMs = 30_000;

/** One request to a backend, on a connection of its own. */
export class Backend {
  private readonly request: ClientRequest;
  private readonly guard: HandlerGuard;
  /** What came; rejects with a StatusError that names the destination. */
  readonly answer: Promise<BackendAnswer>;

  /**
   * Begins the request; its body is still to be sent.
   *
   * @throws {StatusError} BadRequest for a path or header that can't be sent; TooManyRequests when the user, or all users
   * together, have too many of them.
   */
  constructor(
    private readonly destination: Destination,
    question: BackendQuestion,
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
    // Whoever gives up before the answer has come doesn't wait for it; `destroy` has ended the request.
    this.answer.catch((error: unknown) => void error);
  }

  /** Sends a body as it comes, no faster than the backend takes it; without one, ends the request. */
  send(body: Readable | undefined): void {
    const { request, guard } = this;
    if (body === undefined) {
      request.end();
      return;
    }
    const letPass = () => {
      // The backend wants no more of it. The rest is let pass, so that the client gets to reading the answer.
      body.unpipe(request);
      body.resume();
    };
    guard.on(body, "error", () => request.destroy(), body);
    guard.once(request, "close", letPass, body);
    body.pipe(request);
  }

  /**
   * Whether the request was sent over a connection that had stood before: then the backend may have closed that just before the
   * request came.
   */
  get reused(): boolean {
    return this.request.reusedSocket;
  }

  /** Ends the request, whatever its state. */
  destroy(): void {
    this.request.destroy();
  }

  /** The socket counts until it is closed, also when it leaves HTTP; or until the request ends without one. */
  private countSocket(giveBack: () => void): void {
    const { request, guard, destination } = this;
    // A connection that stands counts for as long as the request has it.
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
      // On a connection that stands an answer may take its time, but not one about the protocol.
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
      const given = (socket: Socket) => {
        if (request.reusedSocket) connected();
        else guard.once(socket, ready, connected, socket);
      };
      guard.once(request, "socket", given, request);
      guard.on(request, "error", fail, request);
      guard.once(request, "close", closed, request);
      guard.once(request, "response", answered, request);
      guard.once(request, "upgrade", upgraded, request);
    });
  }
}

function open(destination: Destination, question: BackendQuestion, targets: TargetRules): ClientRequest {
  const { scheme, host, port, tls } = destination;
  const options = {
    ...question,
    host,
    port,
    // Unless a destination has some: none is handed from one user's request to another's.
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
      // Else it would be taken from the Host header, which is the client's.
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
  const why = known.get(code ?? "") ?? reasonOf(error);
  return new StatusError("ServiceUnavailable", `error trying to reach ${urlOf(destination)}: ${why}`);
}

/** What goes wrong every day, in words. */
const known: ReadonlyMap<string, string> = new Map([
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

/** An error's message, or (for several attempts at one name) that of the first. */
function reasonOf(error: Error): string {
  const first = error instanceof AggregateError ? (error.errors[0] as unknown) : error;
  return first instanceof Error && first.message !== "" ? first.message : String(error);
}
