import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import type { Subscription } from "../../storage/store.ts";
import type { WatchObserver } from "../registry/watch-change.ts";
import type { Engine } from "./engine.ts";

/** A request that faults may affect. */
export interface FaultyRequest {
  readonly user: string;
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  /** Empty for collections and creates. */
  readonly name: string;
  /** The oldest revision that the answer may show. */
  readonly notBefore: number;
  /**
   * How often the user's controller had crashed when the client in the process was made; undefined over HTTP. A client from before
   * a crash gets no more answers.
   */
  readonly life: number | undefined;
}

/**
 * Wraps a watch.
 *
 * @param observer the receiver of the events.
 * @param start starts the watch with another receiver.
 */
export type WatchInterceptor = (
  observer: WatchObserver,
  start: (observer: WatchObserver) => Subscription,
) => Subscription;

/** The engine of a request to watch that faults may affect. */
export interface InterceptedEngine extends Engine {
  readonly interceptWatch: WatchInterceptor;
}

/** Returns what wraps the watches of an engine; undefined for an engine without faults. */
export function watchInterceptorOf(engine: Engine): WatchInterceptor | undefined {
  return (engine as Partial<InterceptedEngine>).interceptWatch;
}

/** Injects faults into requests (`server.faults`). */
export interface RequestFaults {
  /**
   * Runs an authorized request, or fails instead of it or after it.
   *
   * @param call runs the request with an engine. Its second argument is true if the answer will be lost, so that it must not be sent.
   * @returns the result of `call`; the promise stays pending for a client from before a crash.
   * @throws {StatusError} the error of a fault, or what `call` throws.
   * @throws {ConnectionLostError} the connection ends without an answer.
   */
  run<T>(
    request: FaultyRequest,
    engine: Engine,
    call: (engine: Engine, isLost: boolean) => MaybePromise<T>,
  ): MaybePromise<T>;
  /** Returns how often the controller of a user has crashed. */
  lifeOf(user: string): number;
}

/** The faults of a server; none until a test uses `server.faults`. */
export class FaultSwitch {
  /** The faults that are injected into requests. */
  current: RequestFaults | undefined;
}

/**
 * A fault of `server.faults` ended a request without an answer, or a watch. Over HTTP the connection ends instead. `code` is that of
 * Node for a connection that was reset, so that programs which retry such errors do so.
 *
 * @example
 * await client.create(object).catch((error) => {
 *   if (error.code !== "ECONNRESET") throw error; // Otherwise the object may exist or not.
 * });
 */
export class ConnectionLostError extends Error {
  override name = "ConnectionLostError";
  readonly code = "ECONNRESET";
  constructor(
    message: string,
    /** Whether the server completed the response, as at the normal end of a watch. */
    readonly isComplete = false,
  ) {
    super(message);
  }
}
