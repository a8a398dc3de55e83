import type { Decision } from "../../authorization/authorizer.ts";
import type { JsonValue } from "../../base/json/value.ts";
import type { MaybePromise } from "../../base/turns/maybe-promise.ts";

/**
 * Receives the reports of stages and verbs about a request, for audit; further data is read from the request's context. Implemented by
 * `audit/trail.ts`. Requests have no hooks if there is no audit policy.
 */
export interface AuditHooks {
  /**
   * Called when the caller is authenticated: evaluates the policy and records the event RequestReceived. Returns a promise only if that
   * isn't done at once.
   *
   * @throws {StatusError} InternalError, also as a rejection: a strict backend couldn't record the event.
   */
  received(): MaybePromise<void>;
  /** Called if the credentials were rejected. @param error has the reason, which the response doesn't contain. */
  unauthenticated(error: Error): void;
  /** The decision of the authorizers. */
  decided(decision: Decision): void;
  /** Called if a list is limited to a view. @param view value of the parameter. */
  viewed(view: string): void;
  /** Adds an annotation to later events; an existing value isn't replaced. */
  annotate(key: string, value: string): void;
  /** Called if the requested version is deprecated. @param removed the first release without it; undefined if unknown. */
  deprecated(removed: string | undefined): void;
  /** Whether the body of the request is recorded. */
  readonly wantsRequest: boolean;
  /** The object that the client sent. */
  requestObject(value: JsonValue): void;
  /** The patch that the client sent, or another body that isn't an object. */
  requestBody(value: JsonValue): void;
  /** Whether the object of the response is recorded. */
  readonly wantsResponse: boolean;
  /** The object of the response in JSON, or the next part of it. */
  responseObject(json: Uint8Array): void;
  /** Called if the response is a Status. */
  responseStatus(code: number, status: object): void;
  /** Called if an unexpected exception, a bug of the server, ended the request. */
  panicked(error: unknown): void;
  /** Called when the pipeline has completed the request; a watch or upgraded connection ends later, with its stream. */
  ended(): void;
}
