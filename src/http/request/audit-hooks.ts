import type { Decision } from "../../authorization/authorizer.ts";
import type { JsonValue } from "../../base/json/value.ts";
import type { MaybePromise } from "../../base/maybe-promise.ts";

/**
 * What the stages and verbs report to the audit of a request, beside what stands in its context. Implemented by
 * `audit/trail.ts`; a request that isn't audited has no hooks.
 */
export interface AuditHooks {
  /**
   * The caller is known: the policy is asked, and the event that the request has come is written. A promise where that
   * takes time.
   *
   * @throws {StatusError} InternalError, also by the promise, where a strict backend couldn't write the event.
   */
  received(): MaybePromise<void>;
  /** The decision of the authorizers. */
  decided(decision: Decision): void;
  /** Adds an annotation to the events to come; one that is there already stays. */
  annotate(key: string, value: string): void;
  /** The requested version is deprecated. `removed`: the release without it, where that is known. */
  deprecated(removed: string | undefined): void;
  /** Whether the body of the request is recorded. */
  readonly wantsRequest: boolean;
  /** The object that the client sent. */
  requestObject(value: JsonValue): void;
  /** The patch that the client sent, or another body that is no object. */
  requestBody(value: JsonValue): void;
  /** Whether the object of the answer is recorded. */
  readonly wantsResponse: boolean;
  /** The answer's object in JSON, or the next part of it. */
  responseObject(json: Uint8Array): void;
  /** The request is answered with a Status. */
  responseStatus(code: number, status: object): void;
  /** An exception that is a defect of the server ended the request. */
  panicked(error: unknown): void;
  /** The pipeline has finished the request; a watch or upgraded connection ends later, with its stream. */
  ended(): void;
}
