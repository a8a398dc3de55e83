import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import type { Verb } from "../../schema/kind.ts";
import type { Engine, Target } from "../engine/engine.ts";

/** A request of an in-process client. */
export interface ClientRequest {
  readonly verb: Verb;
  /** The object or collection; the name is empty for a create. */
  readonly target: Target;
  /** Those of a list or watch. */
  readonly selectors: ClientSelectors;
}

/** The selectors of a list or watch; empty texts select everything. */
export interface ClientSelectors {
  readonly fieldSelector?: string | undefined;
  readonly labelSelector?: string | undefined;
}

/** Authorizes and observes the requests of an in-process client. */
export interface ClientGuard {
  /**
   * Runs a request. A watch counts as complete when it has started.
   *
   * @param engine the engine of the client.
   * @param call runs the request with this engine, or with a changed one.
   * @returns the result of `call`.
   * @throws {StatusError} Forbidden, without calling `call`; otherwise what `call` throws.
   */
  run<T>(request: ClientRequest, engine: Engine, call: (engine: Engine) => Promise<T>): Promise<T>;
  /**
   * Authorizes an update or apply to create its missing object.
   *
   * @throws {StatusError} Forbidden
   */
  mayCreate(target: Target): MaybePromise<void>;
}
