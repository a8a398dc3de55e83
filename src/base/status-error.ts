/**
 * All error reasons that a client can receive (spec: conventions 7). `docs/errors.md` documents each; a test compares the two.
 */
export const reasons = {
  BadRequest: { code: 400, when: "the request can't be understood: malformed body, parameter or selector" },
  Unauthorized: { code: 401, when: "no or wrong credentials" },
  Forbidden: { code: 403, when: "the caller may not do this, or an admission rule forbids it" },
  NotFound: { code: 404, when: "no such path, resource type or object" },
  MethodNotAllowed: { code: 405, when: "the resource doesn't support the verb" },
  NotAcceptable: { code: 406, when: "none of the accepted media types can be produced" },
  AlreadyExists: { code: 409, when: "an object of that name exists" },
  Conflict: {
    code: 409,
    when: "the object was changed since it was read, or is in a state that forbids the change",
  },
  Gone: { code: 410, when: "the resource version is too old to serve" },
  Expired: { code: 410, when: "the continue token or resource version is no longer retained" },
  RequestEntityTooLarge: { code: 413, when: "the body is over the limit" },
  UnsupportedMediaType: { code: 415, when: "the body's media type isn't supported here" },
  Invalid: { code: 422, when: "a field's value breaks a rule; the causes name fields and reasons" },
  TooManyRequests: { code: 429, when: "a limit is reached; retry after the given time" },
  StorageReadError: {
    code: 500,
    when: "objects of a list can't be read from the store; the causes name them",
  },
  InternalError: { code: 500, when: "a bug in the server, or storage that failed" },
  BadGateway: {
    code: 502,
    when: "a backend redirects a request to upgrade the connection, or an extension server redirects any",
  },
  ServiceUnavailable: {
    code: 503,
    when: "the server is starting or stopping, or its store, or what a connection is for, can't be reached",
  },
  Timeout: { code: 504, when: "something the request waited for didn't come in time" },
  StoreFull: {
    code: 507,
    when: "the store's disk or quota has no room for the write; nothing was written",
  },
} as const;

/** Reason of an error. */
export type Reason = keyof typeof reasons;

/** An error of one field (`StatusCause`). */
export interface Cause {
  readonly reason:
    | "FieldValueRequired"
    | "FieldValueInvalid"
    | "FieldValueNotSupported"
    | "FieldValueDuplicate"
    | "FieldValueNotFound"
    | "FieldValueForbidden"
    | "FieldValueTooLong"
    | "FieldValueTooMany"
    | "FieldValueTypeInvalid"
    | "FieldManagerConflict"
    | "NamespaceTerminating"
    | "ResourceVersionTooLarge"
    | "DisruptionBudget"
    | "UnexpectedServerResponse"
    | "";
  readonly message: string;
  /** Path of the field, for example `rules[0].verbs`; empty if the error isn't about a field. */
  readonly field: string;
}

/**
 * Group of DeleteOptions and other options in `Status.details`, without the vocabulary's suffix. The response adds it
 * (`meta.platform.io`).
 */
export const optionsGroup = "meta";

/** The object in `Status.details`. */
export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly Cause[];
  readonly retryAfterSeconds?: number;
}

/** An error that the client receives as a Status. Any other exception is a bug (500). */
export class StatusError extends Error {
  override name = "StatusError";
  /** HTTP status of the reason. */
  readonly code: number;
  constructor(
    readonly reason: Reason,
    message: string,
    readonly details?: StatusDetails,
    /** The cause, for the log; it is not sent to clients. */
    options?: { readonly cause: unknown },
  ) {
    super(message, options);
    this.code = reasons[reason].code;
  }
}

/** The error response of an external service that this server relays. */
export interface RelayedStatus {
  /** HTTP status from 400 to 599. */
  readonly code: number;
  /** Empty if the response has none. */
  readonly reason: string;
  /** `details` of the response, unchanged. */
  readonly details: object | undefined;
}

/** A failure with the code and reason of an external service, which may be missing in {@link reasons}. */
export class RelayedStatusError extends StatusError {
  override name = "RelayedStatusError";
  override readonly code: number;
  constructor(
    message: string,
    readonly relayed: RelayedStatus,
  ) {
    super("Forbidden", message);
    this.code = relayed.code;
  }
}

/** The resource version of a list's continue token is no longer retained. */
export class ExpiredListError extends StatusError {
  override name = "ExpiredListError";
  constructor(
    message: string,
    /** `metadata.continue` of the Status: a token for the rest of the list at the latest revision. */
    readonly continueToken: string,
  ) {
    super("Expired", message);
  }
}
