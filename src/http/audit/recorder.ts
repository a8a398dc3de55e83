import type { Attributes } from "../../authorization/authorizer.ts";
import type { MaybePromise } from "../../base/maybe-promise.ts";
import type { AnnotationKeys } from "./annotation-keys.ts";
import type { AuditEvent } from "./event.ts";
import type { AuditTerms } from "./policy.ts";

/** What a request's trail gives its events to. */
export interface Recorder {
  readonly keys: AnnotationKeys;
  /** Microseconds since 1970-01-01T00:00:00Z. */
  now(): number;
  /** What the policy says of a request. */
  termsFor(attributes: Attributes): AuditTerms;
  /**
   * Records the event of a request that has come, before anything else is done for it.
   *
   * @throws {StatusError} InternalError, also by the promise: a backend that must not miss it couldn't take it.
   */
  accept(event: AuditEvent | undefined): MaybePromise<void>;
  /** Records an event. */
  record(event: AuditEvent | undefined): void;
  /** An object was left out of an event, because it is too large. */
  tooLarge(): void;
  /** An object's JSON as it may stand in a line. */
  oneLine(json: Buffer, omitManagedFields: boolean): string;
}
