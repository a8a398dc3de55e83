import type { Attributes } from "../../authorization/authorizer.ts";
import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import type { AnnotationKeys } from "./annotation-keys.ts";
import type { AuditEvent } from "./event.ts";
import type { AuditTerms } from "./policy.ts";

/** Receives the events of a request's trail. */
export interface Recorder {
  readonly keys: AnnotationKeys;
  /** Microseconds since 1970-01-01T00:00:00Z. */
  now(): number;
  /** Returns the audit level and stages that the policy gives to a request. */
  termsFor(attributes: Attributes): AuditTerms;
  /**
   * Records the event of a received request, before the request is processed.
   *
   * @throws {StatusError} InternalError, also as a rejection: a strict backend could not record the event.
   */
  accept(event: AuditEvent | undefined): MaybePromise<void>;
  /** Records an event. */
  record(event: AuditEvent | undefined): void;
  /** Counts an object that was left out of an event because it is too large. */
  tooLarge(): void;
  /** Returns an object's JSON without line breaks. */
  oneLine(json: Buffer, omitManagedFields: boolean): string;
}
