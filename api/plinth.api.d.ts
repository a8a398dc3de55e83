// Made by `npm run api` from the types of the package's entries; not to be edited.

// plinth: AcceptanceMatchers, AccessAnswer, AccessOptions, AdmissionEffects, AdmissionPlugin,
//   AdmissionRequest, AggregationOptions, ApiObject, ApplyOptions, Attributes, AuditLogOptions, AuditOptions,
//   AuditWebhookOptions, AuthenticationOptions, AuthenticationResult, AuthorizationMode,
//   AuthorizationWebhookOptions, Cause, ChangeSet, Client, Clock, ClusterSigningOptions, CollectionReference,
//   ConnectionLostError, ConnectionOptions, Controller, ControllerContext, ControllerStart, ControllerUser,
//   CreateServerOptions, Credentials, Decision, DefinitionManifest, DefinitionOptions, DefinitionVersion,
//   Exploration, ExplorationSettleOptions, ExploreError, ExploreOptions, ExploreReport, Extensions, FaultEffect,
//   FaultHandle, FaultMatch, FaultRandom, FaultRule, Faults, Finding, FiredFault, FlowOptions, HistoryOptions,
//   Kind, KubeconfigOptions, Logger, ManualClock, MatcherFunctions, MatcherResult, NamedAuthenticator,
//   NamedAuthorizer, NewObject, ObjectFor, ObjectInformer, ObjectList, ObjectMetaValue, ObjectReference,
//   OidcOptions, OptionsError, PodSecurityLevel, PreviewOptions, PreviewResult, ProxyOptions, Reason,
//   RecordedRequest, ReferenceMode, RequestFilter, RequestLog, RuleList, RunningController, Server, ServerClient,
//   ServiceAccountOptions, SettleOptions, Snapshot, StatusDetails, StatusError, StorageOptions, Store,
//   TestCertificate, TestWorkspace, Timer, TlsOptions, TokenWebhookOptions, TransactionClient, TransactionOptions,
//   TypedClient, UndoOptions, UndoResult, ValidateOptions, ValidatedObject, ValidationInput, ValidationLocation,
//   ValidationProblem, ValidationReport, ValidationRule, ValidationSource, VersionOf, WaitOptions, WatchEvent,
//   WorkQueue, WorkspaceClient, WorkspaceDiffOptions, WorkspaceDiffResult, WorkspaceMergeOptions,
//   WorkspaceMergeResult, WorkspaceRebaseOptions, WorkspaceSource, createServer, createTestCertificate,
//   declareGroup, definitionOf, explore, manifestMatchers, manualClock, validate
// plinth/kinds: see the end of this file
// plinth/storage: Change, CommitResult, Deferral, Draft, Entry, Listener, Origin, RangeOptions, RangePage,
//   Revision, RevisionCompactedError, RevisionTooNewError, Store, StoreClosedError, StoreDamagedError, StoreError,
//   StoreEvent, StoreFullError, StoreHistory, StoreTimeoutError, StoreUnavailableError, StoreUsage,
//   StoreValueError, SubscribeOptions, Subscription, TransactionLimitError, TransactionLimits, TransactionResult,
//   Write, WriteCondition
// plinth/storage-conformance: ConformanceCase, StoreUnderTest, storeConformance

// ---- admission/admission-chain

/** An admission plugin (spec: conventions 4.13). It rejects a request by throwing a StatusError. */
export interface AdmissionPlugin {
  readonly name: string;
  /**
   * Whether the plugin has side effects outside of the written object. A dry run that such a plugin would handle is rejected
   * (spec: conventions 4.9). All other plugins must not have side effects in a dry run.
   */
  readonly sideEffects?: boolean;
  /**
   * Whether the plugin handles an operation on a resource type or subresource. The result is cached for the operation and the
   * type, so it must depend on nothing else.
   */
  concerns(operation: AdmissionRequest["operation"], target: AdmittedType): boolean;
  /**
   * Whether the plugin has nothing to do for a request; it is then neither called nor measured. For plugins that handle every
   * resource type but rarely have anything to do. Must return without waiting; may be called again.
   */
  skips?(request: SkippedRequest): boolean;
  /** May change `request.object` in place. Called before validation, in the order of the chain. */
  mutate?(request: AdmissionRequest): MaybePromise<void>;
  /** Checks the object as it would be stored. */
  validate?(request: AdmissionRequest): MaybePromise<void>;
}

/** The attributes of a request by which a plugin decides whether it skips it. */
export type SkippedRequest = Pick<AdmissionRequest, "operation" | "target" | "requestResource">;

/** The resource type and the subresource of a write. */
export type AdmittedType = Pick<Target, "resource" | "subresource">;

// ---- authentication/authenticator

/** The credentials of a request. */
export interface Credentials {
  /** The `Authorization` header, if present. */
  readonly authorization: string | undefined;
  /**
   * The client certificate in DER. Set only if the TLS handshake verified it against the client CAs. All requests of a
   * connection have the same object.
   */
  readonly certificate: Buffer | undefined;
  /** The intermediate certificates that the client sent, in DER, from leaf to root. */
  readonly certificateChain?: readonly Buffer[] | undefined;
  /** Why the TLS handshake didn't verify the client certificate; such a request is never anonymous. */
  readonly certificateError?: string | undefined;
  /** All headers as in `IncomingMessage.rawHeaders`: name, value, name, value, …; undefined without a request. */
  readonly rawHeaders?: readonly string[] | undefined;
  /** Path of the request, without the query; undefined without a request. */
  readonly path?: string | undefined;
  /** Address of the peer, for messages and fair queuing. */
  readonly remoteAddress: string;
  /** Identifies the connection of the request; undefined without one. */
  readonly connection?: object | undefined;
  /**
   * The audiences of a TokenReview (spec: conventions 5.7): a token must be valid for one of them. Undefined for ordinary
   * requests, which require one of the server's own audiences.
   */
  readonly audiences?: readonly string[] | undefined;
}

/** The authenticated user of a request. */
export interface AuthenticationResult {
  readonly user: UserInfo;
  /** Name of the authentication method, for audit and metrics: `client-certificate`, `token-file`, `anonymous`, … */
  readonly method: string;
  /**
   * Whether the same credentials have this result until the server stops, because they neither expire nor can be revoked.
   * The result is then cached per connection.
   */
  readonly cacheable: boolean;
  /**
   * The requested audiences for which the credentials are valid; undefined for methods without audiences, whose credentials
   * are valid for this server.
   */
  readonly audiences?: readonly string[] | undefined;
}

/** An authentication method (spec: conventions 5). */
export interface Authenticator {
  /**
   * Returns the user if the credentials are valid; undefined if there are no credentials of its kind, or another method may accept
   * them. The user has the groups of the credentials; the chain adds `system:authenticated`.
   *
   * @throws {StatusError} reason Unauthorized: the credentials are of its kind and invalid. Other methods are still called, but the
   *   request can't be anonymous any more.
   */
  authenticate(credentials: Credentials): MaybePromise<AuthenticationResult | undefined>;
}

// ---- authentication/guarded-authenticator

/** An authenticator of the embedding program, with its name in logs and metrics. */
export interface NamedAuthenticator extends Authenticator {
  readonly name: string;
}

// ---- authorization/authorizer-chain

/** The authorization modes, in the spelling of `--authorization-mode`. */
export declare const authorizationModes: readonly [
  "Node",
  "RBAC",
  "ABAC",
  "Webhook",
  "AlwaysAllow",
  "AlwaysDeny",
];

/** An authorization mode; `authorizationModes` of `createServer` also accepts names of the program's authorizers. */
export type AuthorizationMode = (typeof authorizationModes)[number];

// ---- authorization/authorizer

/** The attributes of a request that authorization depends on. */
export type Attributes = ResourceAttributes | NonResourceAttributes;

/** A request for a resource. */
export interface ResourceAttributes {
  readonly kind: "resource";
  readonly user: UserInfo;
  /** API verb: get, list, watch, create, update, patch, delete, deletecollection, proxy, bind, escalate, … */
  readonly verb: string;
  /** Full group name; the core group is the empty string. */
  readonly group: string;
  readonly version: string;
  /** Resource type, for example `roles`. */
  readonly resource: string;
  /** Empty for the resource itself. */
  readonly subresource: string;
  /** Empty: cluster scope, or all namespaces. */
  readonly namespace: string;
  /** Empty: all names. */
  readonly name: string;
  /** Undefined without selectors, and if the feature gate AuthorizeWithSelectors is off. */
  readonly selectors?: RequestSelectors | undefined;
}

/** A request for a path that isn't a resource. */
export interface NonResourceAttributes {
  readonly kind: "nonResource";
  readonly user: UserInfo;
  /** HTTP method in lower case. */
  readonly verb: string;
  readonly path: string;
}

/** Result of an authorizer. Any verdict may have an `evaluationError` (spec: access review 2.2). */
export interface Decision {
  /** `noOpinion` passes the request to the next authorizer; if all have no opinion, the request is denied. */
  readonly verdict: "allow" | "deny" | "noOpinion";
  /** Reason of the verdict, may be empty. If RBAC allows the request, it names binding, role and subject. */
  readonly reason: string;
  /** Errors during evaluation, for example a roleRef to a missing role; empty if there were none. */
  readonly evaluationError: string;
}

/** Decides requests. Implementations must not throw for invalid data; they set `evaluationError`. */
export interface Authorizer {
  /** Returns a decision that reflects every write acknowledged before the call. */
  authorize(attributes: Attributes): MaybePromise<Decision>;
}

/** A rule in the status of a SelfSubjectRulesReview (spec: access review 2.2). */
export interface ResourceRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames: readonly string[];
}

/** A rule for paths. */
export interface NonResourceRule {
  readonly verbs: readonly string[];
  readonly nonResourceURLs: readonly string[];
}

/** The rules of an authorizer for a user. */
export interface RuleList {
  readonly resourceRules: readonly ResourceRule[];
  readonly nonResourceRules: readonly NonResourceRule[];
  /** True if rules may be missing, for example because an authorizer can't enumerate its rules. */
  readonly incomplete: boolean;
  readonly evaluationError: string;
}

/** Lists the rules that apply to a user in a namespace. */
export interface RuleResolver {
  /** Returns the rules, for SelfSubjectRulesReviews. */
  rulesFor(user: UserInfo, namespace: string): MaybePromise<RuleList>;
}

// ---- authorization/guarded-authorizer

/** An authorizer of the embedding program, with its name in messages. */
export interface NamedAuthorizer extends Authorizer, Partial<RuleResolver> {
  readonly name: string;
}

// ---- authorization/insight/insight

/** Reference to a binding in a response. */
export interface BindingReference {
  readonly kind: "ClusterRoleBinding" | "RoleBinding";
  /** Absent for a ClusterRoleBinding. */
  readonly namespace?: string;
  readonly name: string;
}

/** Reference to a role in a response. */
export interface RoleReference {
  readonly kind: string;
  /** Absent for a ClusterRole. */
  readonly namespace?: string;
  readonly name: string;
}

/** A user, group or service account. */
export interface ShownSubject {
  readonly kind: string;
  /** Set for a service account only. */
  readonly namespace?: string;
  readonly name: string;
}

/** A role's rule without its empty lists. */
export interface ShownRule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
  /** Number of omitted entries of long lists. */
  readonly entriesLeftOut?: number;
}

/** A rule that applies to a subject, with its role and the binding. */
export interface Grant {
  readonly binding: BindingReference;
  readonly role: RoleReference;
  readonly subject: ShownSubject;
  readonly rule: ShownRule;
  /** Index of the rule in the rules of the role. */
  readonly ruleIndex: number;
  /** If the role has an aggregation rule: names of the cluster roles from which it has the rule. */
  readonly aggregatedFrom?: readonly string[];
}

/** The attributes of a request in which a grant may differ. */
export type Part = "verb" | "apiGroup" | "resource" | "resourceName" | "nonResourceURL" | "namespace";

/** An attribute that the grant doesn't allow. */
export interface MissingPart {
  readonly part: Part;
  /** Value of the request. */
  readonly wanted: string;
  /** Values of the grant; the first entries of a long list. */
  readonly given: readonly string[];
  /** Message for users with both values. */
  readonly message: string;
}

/** A grant that differs from the request in few attributes. */
export interface NearMiss extends Grant {
  readonly missing: readonly MissingPart[];
}

/** A binding of the subject that has no effect, or only for some of its subjects. */
export interface BindingFault {
  readonly binding: BindingReference;
  /** Absent if the kind of the roleRef is unknown. */
  readonly role?: RoleReference;
  readonly fault: "RoleNotFound" | "Invalid";
  readonly message: string;
}

/** Explanation of a decision. Lists have a maximum length; a count or flag shows that entries are omitted. */
export interface Explanation {
  /** Empty unless the request is allowed. */
  readonly grants: readonly Grant[];
  /** Whether grants are omitted. */
  readonly moreGrants: boolean;
  /** Closest first. Empty if the request is allowed. */
  readonly nearMisses: readonly NearMiss[];
  /** Number of omitted near misses. */
  readonly nearMissesLeftOut: number;
  /** Bindings of the subject that have no effect. */
  readonly faults: readonly BindingFault[];
  /** Number of omitted faults. */
  readonly faultsLeftOut: number;
  /** Number of other namespaces with bindings of the subject that were not searched for near misses. */
  readonly namespacesLeftOut: number;
}

/** A subject that is allowed the action. */
export interface AllowedSubject extends ShownSubject {
  /** The first bindings and rules that allow the action. */
  readonly grants: readonly Omit<Grant, "subject">[];
  /** Whether grants are omitted. */
  readonly moreGrants?: boolean;
}

// ---- authorization/request-selectors

/** One condition of a selector. A requirement of a field has the operator `In` or `NotIn`, with one value. */
export interface SelectorRequirement {
  /** Path of the field, or key of the label. */
  readonly key: string;
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
  /** Empty for `Exists` and `DoesNotExist`. */
  readonly values: readonly string[];
}

/**
 * Limits a request to the objects that meet all requirements. Requirements that can't be read are dropped: the decision is then about
 * more objects than the client asks for.
 */
export interface RequestSelectors {
  readonly fieldSelector: readonly SelectorRequirement[];
  readonly labelSelector: readonly SelectorRequirement[];
  /** What was dropped, for example `fieldSelector ignored due to parse error`. */
  readonly faults: readonly string[];
}

// ---- authorization/reviews/access

/** Status of an access review; false flags except `allowed` and empty texts are omitted (spec: access review 2.2). */
export interface AccessStatus {
  allowed: boolean;
  denied?: boolean;
  reason?: string;
  evaluationError?: string;
}

// ---- authorization/reviews/explanation

/** The decision of one authorizer in the response. */
export interface ShownOpinion {
  readonly name: string;
  readonly opinion: "Allow" | "Deny" | "NoOpinion";
  readonly reason?: string;
}

/** Status of an AccessExplanation; empty fields are omitted. */
export interface ExplanationStatus extends AccessStatus, Partial<Explanation> {
  /** Name of the authorizer that allowed or denied the request; absent if none did. */
  readonly decidedBy?: string;
  /** The authorizers that were called, in order. */
  readonly authorizers: readonly ShownOpinion[];
  /** If the spec has no groups of the user: the first groups whose members are allowed the action. */
  readonly allowedGroups?: readonly AllowedGroup[];
  /** Whether groups are omitted. */
  readonly moreAllowedGroups?: boolean;
  /** Notes on the request, for example about an unknown resource. */
  readonly notes?: readonly string[];
}

// ---- authorization/reviews/user-groups

/** A group whose members are allowed an action that is denied to the user. */
export interface AllowedGroup {
  readonly name: string;
  readonly grants: AllowedSubject["grants"];
  readonly moreGrants?: boolean;
}

// ---- base/logger

/** Receives the log of the server: each method gets a message and its fields. Messages contain no secrets. */
export interface Logger {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

// ---- base/release-rows

/**
 * Differences between releases. What differs is declared as rows: values with the releases, and the feature gate, to which they belong.
 * The same rows serve for fields, columns, subresources, rules, warnings, roles, checks and the behavior of plugins.
 *
 * - A value without a row belongs to every release. `since("1.28", value)` belongs to 1.28 and later releases, `until("1.34", value)` to
 *   those before 1.34, `gate("Name", value)` to servers on which the feature gate is enabled. They nest:
 *   `since("1.28", until("1.34", value))`.
 * - A list of rows means all of them ({@link rowsIn}, {@link allByRelease}: columns, rules, roles) or the last one ({@link byRelease}: a
 *   value that has another form in some releases). A condition without a value is {@link applies}.
 * - The release is compared once: when the copy of a kind, a plugin or a stage of a release is made, or at the first call of a
 *   function of `byRelease`, `allByRelease` or `applies`, which keeps the rows of each release. Gates belong to a server: they are read at
 *   each call.
 * - No release is special: rows of the default release are resolved as all others. The plain fields of a struct are those of the oldest
 *   release: when it is dropped, the rows of the next one become plain values.
 */
export declare class Row<T> {
  readonly value: T;
  /** The first release; undefined for all before `until`. */
  readonly since: Release | undefined;
  /** The first release without the value; undefined if there is none. */
  readonly until: Release | undefined;
  /** The feature gate; undefined for none. */
  readonly gate: string | undefined;
  constructor(
    value: T,
    /** The first release; undefined for all before `until`. */
    since: Release | undefined,
    /** The first release without the value; undefined if there is none. */
    until: Release | undefined,
    /** The feature gate; undefined for none. */
    gate: string | undefined,
  );
}

/** A value of all releases, or one of some. */
export type Released<T> = T | Row<T>;

/** Declares a value of a release and later ones. */
export declare function since(release: Release): Row<true>;

export declare function since<T>(release: Release, value: Released<T>): Row<T>;

/** Declares a value of the releases before one. */
export declare function until(release: Release): Row<true>;

export declare function until<T>(release: Release, value: Released<T>): Row<T>;

/** Declares a value of servers with a feature gate. */
export declare function gate(name: string): Row<true>;

export declare function gate<T>(name: string, value: Released<T>): Row<T>;

// ---- base/releases

/** The API releases that a server can follow, oldest first. */
export declare const releases: readonly [
  "1.26",
  "1.27",
  "1.28",
  "1.29",
  "1.30",
  "1.31",
  "1.32",
  "1.33",
  "1.34",
  "1.35",
  "1.36",
  "1.37",
];

/** An API release, such as `1.26`. */
export type Release = (typeof releases)[number];

// ---- base/status-error

/**
 * All error reasons that a client can receive (spec: conventions 7). `docs/errors.md` documents each; a test compares the two.
 */
export declare const reasons: {
  readonly BadRequest: {
    readonly code: 400;
    readonly when: "the request can't be understood: malformed body, parameter or selector";
  };
  readonly Unauthorized: {
    readonly code: 401;
    readonly when: "no or wrong credentials";
  };
  readonly Forbidden: {
    readonly code: 403;
    readonly when: "the caller may not do this, or an admission rule forbids it";
  };
  readonly NotFound: {
    readonly code: 404;
    readonly when: "no such path, resource type or object";
  };
  readonly MethodNotAllowed: {
    readonly code: 405;
    readonly when: "the resource doesn't support the verb";
  };
  readonly NotAcceptable: {
    readonly code: 406;
    readonly when: "none of the accepted media types can be produced";
  };
  readonly AlreadyExists: {
    readonly code: 409;
    readonly when: "an object of that name exists";
  };
  readonly Conflict: {
    readonly code: 409;
    readonly when: "the object was changed since it was read, or is in a state that forbids the change";
  };
  readonly Gone: {
    readonly code: 410;
    readonly when: "the resource version is too old to serve";
  };
  readonly Expired: {
    readonly code: 410;
    readonly when: "the continue token or resource version is no longer retained";
  };
  readonly RequestEntityTooLarge: {
    readonly code: 413;
    readonly when: "the body is over the limit";
  };
  readonly UnsupportedMediaType: {
    readonly code: 415;
    readonly when: "the body's media type isn't supported here";
  };
  readonly Invalid: {
    readonly code: 422;
    readonly when: "a field's value breaks a rule; the causes name fields and reasons";
  };
  readonly TooManyRequests: {
    readonly code: 429;
    readonly when: "a limit is reached; retry after the given time";
  };
  readonly StorageReadError: {
    readonly code: 500;
    readonly when: "objects of a list can't be read from the store; the causes name them";
  };
  readonly InternalError: {
    readonly code: 500;
    readonly when: "a bug in the server, or storage that failed";
  };
  readonly BadGateway: {
    readonly code: 502;
    readonly when: "a backend redirects a request to upgrade the connection, or an extension server redirects any";
  };
  readonly ServiceUnavailable: {
    readonly code: 503;
    readonly when: "the server is starting or stopping, or its store, or what a connection is for, can't be reached";
  };
  readonly Timeout: {
    readonly code: 504;
    readonly when: "something the request waited for didn't come in time";
  };
  readonly StoreFull: {
    readonly code: 507;
    readonly when: "the store's disk or quota has no room for the write; nothing was written";
  };
};

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
export declare class StatusError extends Error {
  readonly reason: Reason;
  readonly details?: StatusDetails | undefined;
  name: string;
  /** HTTP status of the reason. */
  readonly code: number;
  constructor(
    reason: Reason,
    message: string,
    details?: StatusDetails | undefined,
    /** The cause, for the log; it is not sent to clients. */
    options?: {
      readonly cause: unknown;
    },
  );
}

// ---- base/time/clock

/** The source of time. It is passed in so that tests control it. */
export interface Clock {
  /**
   * Milliseconds since 1970-01-01T00:00:00Z, for times that are stored, sent or compared with such times. It can be set forward or
   * back at any moment; durations and deadlines in memory are by {@link monotonicNow}.
   */
  now(): number;
  /**
   * Milliseconds since an arbitrary point, for measuring durations: never set back or forward with the wall clock. It may
   * stop while the machine sleeps.
   */
  monotonicNow(): number;
  /** Calls `task` once after `delayMs`, however long that is; the timer doesn't keep the process alive. */
  setTimer(task: () => void, delayMs: number): Timer;
}

/** A timer that can be cancelled. */
export interface Timer {
  cancel(): void;
}

// ---- base/time/manual-clock

/** A clock that only the program moves, for tests; {@link manualClock} creates it. */
export interface ManualClock extends Clock {
  /**
   * Moves the time forward, runs the timers that become due, in the order of their times, and lets the work that each of them starts run.
   * Calls run one after the other.
   *
   * It doesn't wait for the disk, the network or other processes; wait for their effects, for example with `waitFor`.
   *
   * @param ms milliseconds, at least 0.
   * @throws {RangeError} if `ms` isn't a number of at least 0; or the error of a timer, and the time stays at that timer.
   *
   * @example
   * await server.clock.advance(3_600_000);
   */
  advance(ms: number): Promise<void>;
}

/**
 * Creates a clock for `createServer({ clock })` whose time changes only with `advance`. Everything in the server that expires or
 * recurs follows it: leases, tokens, events, history, the time limits of watches. Durations in metrics and logs are real.
 *
 * @param startMs the time in milliseconds since 1970-01-01T00:00:00Z; by default that of the machine. A server with a socket issues its
 *   certificates at this time, and clients compare them with the time of their own machine.
 *
 * @example
 * const server = await createServer({ port: false, clock: manualClock(Date.parse("2030-01-01T00:00:00Z")) });
 * await server.clock.advance(60_000);
 */
export declare function manualClock(startMs?: number): ManualClock;

// ---- base/turns/maybe-promise

/** A value if it is available synchronously, for example from memory; otherwise a promise of it. */
export type MaybePromise<T> = T | Promise<T>;

// ---- base/turns/work-pace

/** Paces the work on one request by the size of its data, so that large requests neither block the server nor exhaust its memory. */
export interface WorkPace {
  /**
   * Must be awaited before bytes are decoded. Waits while large requests of the user use too much memory.
   *
   * @param bytes an encoded body or object.
   */
  decodes(bytes: Uint8Array): MaybePromise<void>;
  /** Whether the request has decoded a large body or object. */
  readonly isLarge: boolean;
  /** Must be awaited between two steps of the work. In a large request it yields to requests of other users. */
  step(): MaybePromise<void>;
}

// ---- base/user-info

/**
 * The authenticated user of a request (spec: conventions 5).
 */
export interface UserInfo {
  readonly name: string;
  /** Identifies the user across renames; empty if the authenticator has none. */
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

// ---- controllers/controller

/** Dependencies that the server provides to every controller. */
export interface ControllerContext {
  /** Client whose requests are not authorized. */
  readonly client: Client;
  /** The served resource types: `informer(registry.require(Kind))`. */
  readonly registry: Registry;
  /** For reads only; controllers write through the client. */
  readonly store: Store;
  readonly clock: Clock;
  /** Returns the informer of a resource type. It is started and shared by all controllers. */
  informer(resource: Resource): ObjectInformer;
  /** Reports work that failed and will be retried. */
  failed(controller: string, key: string, error: unknown): void;
  /** Returns the observer that counts the work of a controller's queue; absent without metrics. */
  queueObserver?(controller: string): QueueObserver;
}

/** A controller that has been started. */
export interface RunningController {
  /**
   * Returns true while a subscription of the controller is broken; `/readyz` reports this. Informers of the context are checked
   * in any case.
   */
  failing?(): boolean;
  /** Resolves when the controller has received every write that was acknowledged before. Informers of the context needn't be waited for. */
  synced?(): Promise<void>;
  close(): Promise<void>;
}

/**
 * A controller: it watches objects and brings others to the state that they describe.
 *
 * @typeParam Dependencies what `start` uses; a controller of an embedding program gets the {@link ControllerContext}.
 */
export interface Controller<Dependencies = ControllerContext> {
  /** Name for `--controllers`; the name of the reference's controller if there is one. */
  readonly name: string;
  /** Runs only if it is named; `*` doesn't include it. */
  readonly onlyByName?: boolean;
  /** Runs on each server over a store; other controllers run on the leader only. */
  readonly onEveryServer?: boolean;
  /** Starts the controller with its dependencies. */
  readonly start: (dependencies: Dependencies) => RunningController;
}

// ---- controllers/work-queue

/** Receives the events of a queue, for metrics. Times are in seconds. */
export interface QueueObserver {
  /** A key was added that wasn't waiting. */
  added(): void;
  /** The work on a key starts. */
  started(waitedSeconds: number): void;
  /** The work on a key has ended, with or without success. */
  done(workedSeconds: number): void;
  /** A key will be retried because its work failed. */
  retried(): void;
  /** The queue was closed with this number of waiting keys. */
  dropped(count: number): void;
}

/**
 * A queue of keys with a number of concurrent workers; a key is worked on by one worker at a time. A key that is added
 * while it waits is worked on once; a key that is added while it is worked on is worked on again afterwards. A failed
 * key is retried with growing delays.
 */
export declare class WorkQueue {
  /** The waiting keys with the monotonic time at which they were added, in milliseconds. */
  /** The next scheduled addition of each key. */
  /** Number of running workers. */
  /** Keys that are being worked on. */
  /** Called when no worker runs any more; set while `close` waits for that. */
  /**
   * @param clock measures the delays of retries.
   * @param work brings one key to its desired state; if it throws, it is retried. Long work should stop early when
   *   the signal is aborted, which means that the queue is being closed.
   * @param failed called with each failure.
   * @param observer receives the events of the queue.
   * @param workers number of keys that are worked on concurrently; 1 by default. With more than one, their writes share the syncs
   *   of the store, and a slow key doesn't delay the others.
   */
  constructor(
    clock: Clock,
    work: (key: string, closing: AbortSignal) => Promise<void>,
    failed: (key: string, error: unknown) => void,
    observer?: QueueObserver | undefined,
    workers?: number,
  );
  /** Adds a key, unless it waits already. */
  add(key: string): void;
  /** Adds a key after a delay. Of several pending additions of a key only the earliest remains. */
  addLater(key: string, delayMs: number): void;
  /** Drops all waiting keys. Resolves when no work is running. */
  close(): Promise<void>;
  /** Works until no key waits that isn't being worked on, and yields to the event loop between keys. */
  /** Removes and returns the key that has waited longest and isn't being worked on. */
}

// ---- http/metrics/request-log

/** A request that a server has answered. */
export interface RecordedRequest {
  /** HTTP method. A request of a client in the process has that of the same request over HTTP. */
  readonly method: string;
  /** Path as sent, without the query. */
  readonly path: string;
  /** Query as sent, without the question mark; empty for none and for a client in the process. */
  readonly query: string;
  /** API verb, for example `list` or `deletecollection`; for a non-resource path the method in lower case. */
  readonly verb: string;
  /** Full name of the API group; empty for the core group and for a non-resource path. */
  readonly group: string;
  /** Resource type, for example `pods`; empty for a non-resource path. */
  readonly resource: string;
  /** Empty for the resource itself. */
  readonly subresource: string;
  /** Empty for cluster scope and all namespaces. */
  readonly namespace: string;
  /** Empty for a collection. */
  readonly name: string;
  /** Name of the effective user, after impersonation; empty if the request was rejected before. */
  readonly user: string;
  readonly groups: readonly string[];
  /** HTTP status; 0 if the connection was closed before the response. */
  readonly status: number;
  /** Milliseconds until the response was complete; for a watch, until it started. */
  readonly durationMs: number;
  /** Empty if the request has none. */
  readonly userAgent: string;
  /** Whether it is a request of a client in the process, of `server.as()`. */
  readonly inProcess: boolean;
}

/** The fields that recorded requests are compared with; see {@link RequestLog.filter}. */
export type RequestFilter = Partial<Omit<RecordedRequest, "groups" | "durationMs">>;

/**
 * The newest 10,000 requests that a server has answered, in the order in which they were complete.
 *
 * @example
 * const deleted = server.requests.filter({ verb: "delete", user: "system:serviceaccount:shop:operator" });
 * for (const { path, status } of server.requests) console.log(path, status);
 */
export declare class RequestLog implements Iterable<RecordedRequest> {
  /** Number of requests. */
  get length(): number;
  /** Iterates over the requests, the oldest first. Later requests don't change an iteration. */
  [Symbol.iterator](): Iterator<RecordedRequest>;
  /**
   * Returns the requests with the values of a filter, the oldest first.
   *
   * @throws {TypeError} if a request has no such field.
   */
  filter(values: RequestFilter): RecordedRequest[];
  /** Removes all requests. */
  clear(): void;
}

// ---- index

/**
 * Starts a server in this process. It is ready when the promise resolves.
 *
 * @throws {OptionsError} a wrong value or an unknown option, which it names; nothing is left open.
 *
 * @example
 * const server = await createServer();
 * await server.client.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "team-a" } });
 * console.log(server.url, server.kubeconfig());
 * await server.close();
 */
export declare function createServer<const Kinds extends readonly Kind[] = readonly []>(
  options?: CreateServerOptions<Kinds>,
): Promise<Server<KnownObjects & ObjectsOf<Kinds>>>;

// ---- kinds/declare-group

/** Members of the result of {@link declareGroup} that don't depend on the group: types of fields, and shared structs and columns. */
declare const words: {
  field: typeof field;
  list: typeof list;
  map: typeof map;
  string: ScalarType<string>;
  bool: ScalarType<boolean>;
  int32: ScalarType<number>;
  int64: ScalarType<number | bigint>;
  double: ScalarType<number | bigint>;
  bytes: ScalarType<string>;
  time: ScalarType<string>;
  microTime: ScalarType<string>;
  duration: ScalarType<string>;
  quantity: ScalarType<string>;
  intOrString: ScalarType<string | number>;
  json: ScalarType<unknown>;
  ObjectMeta: StructType<
    {
      name: Field<ScalarType<string>, false>;
      generateName: Field<ScalarType<string>, false>;
      namespace: Field<ScalarType<string>, false>;
      selfLink: Field<ScalarType<string>, false>;
      uid: Field<ScalarType<string>, false>;
      resourceVersion: Field<ScalarType<string>, false>;
      generation: Field<ScalarType<number | bigint>, false>;
      creationTimestamp: Field<ScalarType<string>, false>;
      deletionTimestamp: Field<ScalarType<string>, false>;
      deletionGracePeriodSeconds: Field<ScalarType<number | bigint>, false>;
      labels: Field<MapType<ScalarType<string>>, false>;
      annotations: Field<MapType<ScalarType<string>>, false>;
      ownerReferences: Field<
        ListType<
          StructType<
            {
              apiVersion: Field<ScalarType<string>, true>;
              kind: Field<ScalarType<string>, true>;
              name: Field<ScalarType<string>, true>;
              uid: Field<ScalarType<string>, true>;
              controller: Field<ScalarType<boolean>, false>;
              blockOwnerDeletion: Field<ScalarType<boolean>, false>;
            } & AddedFields<Record<never, never>>
          >
        >,
        false
      >;
      finalizers: Field<ListType<ScalarType<string>>, false>;
      managedFields: Field<
        ListType<
          StructType<
            {
              manager: Field<ScalarType<string>, false>;
              operation: Field<ScalarType<string>, false>;
              apiVersion: Field<ScalarType<string>, false>;
              time: Field<ScalarType<string>, false>;
              fieldsType: Field<ScalarType<string>, false>;
              fieldsV1: Field<ScalarType<Record<string, unknown>>, false>;
              subresource: Field<ScalarType<string>, false>;
            } & AddedFields<Record<never, never>>
          >
        >,
        false
      >;
    } & AddedFields<{
      readonly creationTimestamp: Row<Field<Type, boolean> | undefined>;
    }>
  >;
  Condition: StructType<
    {
      type: Field<ScalarType<string>, true>;
      status: Field<ScalarType<string>, true>;
      observedGeneration: Field<ScalarType<number | bigint>, false>;
      lastTransitionTime: Field<ScalarType<string>, true>;
      reason: Field<ScalarType<string>, true>;
      message: Field<ScalarType<string>, true>;
    } & AddedFields<Record<never, never>>
  >;
  LabelSelector: StructType<
    {
      matchLabels: Field<MapType<ScalarType<string>>, false>;
      matchExpressions: Field<
        ListType<
          StructType<
            {
              key: Field<ScalarType<string>, true>;
              operator: Field<ScalarType<string>, true>;
              values: Field<ListType<ScalarType<string>>, false>;
            } & AddedFields<Record<never, never>>
          >
        >,
        false
      >;
    } & AddedFields<Record<never, never>>
  >;
  nameColumn: Column<ApiObject>;
  ageColumn: Column<ApiObject>;
};

/** A group of the embedding program, for static types. */
interface OwnGroup<B extends string> {
  readonly base: B;
  readonly suffixed: false;
}

/**
 * Returns the functions that declare the kinds of one version of a group; `createServer({ kinds })` serves the kinds.
 *
 * @param group full name of the group, which contains a dot: `shop.example.com`.
 * @returns `kind`, `struct`, `atomicStruct`, `union`; `field(number, type, doc)`, `list(type)`, `map(type)`; the scalar types `string`, `bool`,
 *   `int32`, `int64`, `double`, `bytes`, `time`, `microTime`, `duration`, `quantity`, `intOrString`, `json`; the structs `ObjectMeta`,
 *   `Condition`, `LabelSelector`; and `nameColumn`, `ageColumn`. A field without a number has no binary form.
 *
 * @example
 * const { kind, field, string, ObjectMeta } = declareGroup("shop.example.com", "v1");
 * const Order = kind({
 *   name: "Order", resource: "orders", singular: "order", scope: "Namespaced", doc: "An order of a customer.",
 *   fields: {
 *     metadata: field(1, ObjectMeta, "Metadata of the order."),
 *     item: field(2, string, "Name of the ordered item.").required(),
 *   },
 * });
 */
export declare function declareGroup<const B extends string, const V extends string>(
  group: B,
  version: V,
): Declarations<OwnGroup<B>, V> & typeof words;

// ---- kinds/typed-objects

type GroupNameOf<G> = G extends {
  readonly base: infer B extends string;
  readonly suffixed: infer S;
}
  ? S extends true
    ? `${B}.${GroupSuffix}`
    : B
  : never;

type ApiVersion<G extends string, V extends string> = G extends "" ? V : `${G}/${V}`;

/** `apiVersion kind` of a kind's objects, in both vocabularies. */
type KeyOf<K extends Kind> = `${ApiVersion<GroupNameOf<K["group"]>, K["version"]>} ${K["name"]}`;

/** The types of the objects of some kinds, by `apiVersion kind`. */
export type ObjectsOf<K extends readonly Kind[]> = {
  [One in K[number] as string extends One["name"] ? never : KeyOf<One>]: ObjectFor<One>;
};

/**
 * The types of custom objects, by `apiVersion kind`, for all clients of a program. A program adds members in a declaration of the module
 * `plinth` at the top of a file, such as `"shop.example.com/v1 Order": OrderV1`; `plinth types` writes it.
 */
export interface CustomObjects {}

/** The types of the objects that a server has without further kinds, by `apiVersion kind`. */
export type KnownObjects = BuiltInObjects & CustomObjects;

/** The types of the objects of the built-in kinds, by `apiVersion kind`: `BuiltInObjects["v1 ConfigMap"]`. */
export interface BuiltInObjects {
  "v1 Binding": kinds.Binding;
  "v1 ComponentStatus": kinds.ComponentStatus;
  "v1 ConfigMap": kinds.ConfigMap;
  "v1 Endpoints": kinds.Endpoints;
  "v1 Event": kinds.Event;
  "v1 LimitRange": kinds.LimitRange;
  "v1 Namespace": kinds.Namespace;
  "v1 Node": kinds.Node;
  "v1 PersistentVolumeClaim": kinds.PersistentVolumeClaim;
  "v1 PersistentVolume": kinds.PersistentVolume;
  "v1 Pod": kinds.Pod;
  "v1 PodTemplate": kinds.PodTemplate;
  "v1 ReplicationController": kinds.ReplicationController;
  "v1 ResourceQuota": kinds.ResourceQuota;
  "v1 Secret": kinds.Secret;
  "v1 ServiceAccount": kinds.ServiceAccount;
  "v1 Service": kinds.Service;
  "admissionregistration.platform.io/v1 MutatingWebhookConfiguration": kinds.MutatingWebhookConfiguration;
  "admissionregistration.k8s.io/v1 MutatingWebhookConfiguration": kinds.MutatingWebhookConfiguration;
  "admissionregistration.platform.io/v1 ValidatingWebhookConfiguration": kinds.ValidatingWebhookConfiguration;
  "admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration": kinds.ValidatingWebhookConfiguration;
  "admissionregistration.platform.io/v1alpha1 ValidatingAdmissionPolicy": kinds.ValidatingAdmissionPolicy;
  "admissionregistration.k8s.io/v1alpha1 ValidatingAdmissionPolicy": kinds.ValidatingAdmissionPolicy;
  "admissionregistration.platform.io/v1alpha1 ValidatingAdmissionPolicyBinding": kinds.ValidatingAdmissionPolicyBinding;
  "admissionregistration.k8s.io/v1alpha1 ValidatingAdmissionPolicyBinding": kinds.ValidatingAdmissionPolicyBinding;
  "apiextensions.platform.io/v1 CustomResourceDefinition": kinds.CustomResourceDefinition;
  "apiextensions.k8s.io/v1 CustomResourceDefinition": kinds.CustomResourceDefinition;
  "apiregistration.platform.io/v1 APIService": kinds.APIService;
  "apiregistration.k8s.io/v1 APIService": kinds.APIService;
  "apps/v1 ControllerRevision": kinds.ControllerRevision;
  "apps/v1 DaemonSet": kinds.DaemonSet;
  "apps/v1 Deployment": kinds.Deployment;
  "apps/v1 ReplicaSet": kinds.ReplicaSet;
  "apps/v1 StatefulSet": kinds.StatefulSet;
  "authentication.platform.io/v1 TokenReview": kinds.TokenReview;
  "authentication.k8s.io/v1 TokenReview": kinds.TokenReview;
  "authentication.platform.io/v1alpha1 SelfSubjectReview": kinds.SelfSubjectReview;
  "authentication.k8s.io/v1alpha1 SelfSubjectReview": kinds.SelfSubjectReview;
  "authorization.platform.io/v1 LocalSubjectAccessReview": kinds.LocalSubjectAccessReview;
  "authorization.k8s.io/v1 LocalSubjectAccessReview": kinds.LocalSubjectAccessReview;
  "authorization.platform.io/v1 SelfSubjectAccessReview": kinds.SelfSubjectAccessReview;
  "authorization.k8s.io/v1 SelfSubjectAccessReview": kinds.SelfSubjectAccessReview;
  "authorization.platform.io/v1 SelfSubjectRulesReview": kinds.SelfSubjectRulesReview;
  "authorization.k8s.io/v1 SelfSubjectRulesReview": kinds.SelfSubjectRulesReview;
  "authorization.platform.io/v1 SubjectAccessReview": kinds.SubjectAccessReview;
  "authorization.k8s.io/v1 SubjectAccessReview": kinds.SubjectAccessReview;
  "autoscaling/v2 HorizontalPodAutoscaler": kinds.HorizontalPodAutoscaler;
  "autoscaling/v1 HorizontalPodAutoscaler": kinds.HorizontalPodAutoscalerV1;
  "batch/v1 CronJob": kinds.CronJob;
  "batch/v1 Job": kinds.Job;
  "certificates.platform.io/v1 CertificateSigningRequest": kinds.CertificateSigningRequest;
  "certificates.k8s.io/v1 CertificateSigningRequest": kinds.CertificateSigningRequest;
  "coordination.platform.io/v1 Lease": kinds.Lease;
  "coordination.k8s.io/v1 Lease": kinds.Lease;
  "discovery.platform.io/v1 EndpointSlice": kinds.EndpointSlice;
  "discovery.k8s.io/v1 EndpointSlice": kinds.EndpointSlice;
  "events.platform.io/v1 Event": kinds.EventsEvent;
  "events.k8s.io/v1 Event": kinds.EventsEvent;
  "flowcontrol.apiserver.platform.io/v1beta3 FlowSchema": kinds.FlowSchema;
  "flowcontrol.apiserver.k8s.io/v1beta3 FlowSchema": kinds.FlowSchema;
  "flowcontrol.apiserver.platform.io/v1beta3 PriorityLevelConfiguration": kinds.PriorityLevelConfiguration;
  "flowcontrol.apiserver.k8s.io/v1beta3 PriorityLevelConfiguration": kinds.PriorityLevelConfiguration;
  "flowcontrol.apiserver.platform.io/v1beta2 FlowSchema": kinds.FlowSchemaV1beta2;
  "flowcontrol.apiserver.k8s.io/v1beta2 FlowSchema": kinds.FlowSchemaV1beta2;
  "flowcontrol.apiserver.platform.io/v1beta2 PriorityLevelConfiguration": kinds.PriorityLevelConfigurationV1beta2;
  "flowcontrol.apiserver.k8s.io/v1beta2 PriorityLevelConfiguration": kinds.PriorityLevelConfigurationV1beta2;
  "history.platform.io/v1alpha1 ObjectVersion": kinds.ObjectVersion;
  "history.k8s.io/v1alpha1 ObjectVersion": kinds.ObjectVersion;
  "history.platform.io/v1alpha1 Undo": kinds.Undo;
  "history.k8s.io/v1alpha1 Undo": kinds.Undo;
  "insight.platform.io/v1 AccessExplanation": kinds.AccessExplanation;
  "insight.k8s.io/v1 AccessExplanation": kinds.AccessExplanation;
  "insight.platform.io/v1 BulkAccessReview": kinds.BulkAccessReview;
  "insight.k8s.io/v1 BulkAccessReview": kinds.BulkAccessReview;
  "insight.platform.io/v1 SubjectAccessList": kinds.SubjectAccessList;
  "insight.k8s.io/v1 SubjectAccessList": kinds.SubjectAccessList;
  "internal.apiserver.platform.io/v1alpha1 StorageVersion": kinds.StorageVersion;
  "internal.apiserver.k8s.io/v1alpha1 StorageVersion": kinds.StorageVersion;
  "networking.platform.io/v1 IngressClass": kinds.IngressClass;
  "networking.k8s.io/v1 IngressClass": kinds.IngressClass;
  "networking.platform.io/v1 Ingress": kinds.Ingress;
  "networking.k8s.io/v1 Ingress": kinds.Ingress;
  "networking.platform.io/v1 NetworkPolicy": kinds.NetworkPolicy;
  "networking.k8s.io/v1 NetworkPolicy": kinds.NetworkPolicy;
  "networking.platform.io/v1alpha1 ClusterCIDR": kinds.ClusterCIDR;
  "networking.k8s.io/v1alpha1 ClusterCIDR": kinds.ClusterCIDR;
  "node.platform.io/v1 RuntimeClass": kinds.RuntimeClass;
  "node.k8s.io/v1 RuntimeClass": kinds.RuntimeClass;
  "policy/v1 PodDisruptionBudget": kinds.PodDisruptionBudget;
  "rbac.authorization.platform.io/v1 ClusterRoleBinding": kinds.ClusterRoleBinding;
  "rbac.authorization.k8s.io/v1 ClusterRoleBinding": kinds.ClusterRoleBinding;
  "rbac.authorization.platform.io/v1 ClusterRole": kinds.ClusterRole;
  "rbac.authorization.k8s.io/v1 ClusterRole": kinds.ClusterRole;
  "rbac.authorization.platform.io/v1 RoleBinding": kinds.RoleBinding;
  "rbac.authorization.k8s.io/v1 RoleBinding": kinds.RoleBinding;
  "rbac.authorization.platform.io/v1 Role": kinds.Role;
  "rbac.authorization.k8s.io/v1 Role": kinds.Role;
  "resource.platform.io/v1alpha1 PodScheduling": kinds.PodScheduling;
  "resource.k8s.io/v1alpha1 PodScheduling": kinds.PodScheduling;
  "resource.platform.io/v1alpha1 ResourceClaim": kinds.ResourceClaim;
  "resource.k8s.io/v1alpha1 ResourceClaim": kinds.ResourceClaim;
  "resource.platform.io/v1alpha1 ResourceClaimTemplate": kinds.ResourceClaimTemplate;
  "resource.k8s.io/v1alpha1 ResourceClaimTemplate": kinds.ResourceClaimTemplate;
  "resource.platform.io/v1alpha1 ResourceClass": kinds.ResourceClass;
  "resource.k8s.io/v1alpha1 ResourceClass": kinds.ResourceClass;
  "scheduling.platform.io/v1 PriorityClass": kinds.PriorityClass;
  "scheduling.k8s.io/v1 PriorityClass": kinds.PriorityClass;
  "storage.platform.io/v1 CSIDriver": kinds.CSIDriver;
  "storage.k8s.io/v1 CSIDriver": kinds.CSIDriver;
  "storage.platform.io/v1 CSINode": kinds.CSINode;
  "storage.k8s.io/v1 CSINode": kinds.CSINode;
  "storage.platform.io/v1 CSIStorageCapacity": kinds.CSIStorageCapacity;
  "storage.k8s.io/v1 CSIStorageCapacity": kinds.CSIStorageCapacity;
  "storage.platform.io/v1 StorageClass": kinds.StorageClass;
  "storage.k8s.io/v1 StorageClass": kinds.StorageClass;
  "storage.platform.io/v1 VolumeAttachment": kinds.VolumeAttachment;
  "storage.k8s.io/v1 VolumeAttachment": kinds.VolumeAttachment;
  "storage.platform.io/v1beta1 CSIStorageCapacity": kinds.CSIStorageCapacityV1beta1;
  "storage.k8s.io/v1beta1 CSIStorageCapacity": kinds.CSIStorageCapacityV1beta1;
  "tenancy.platform.io/v1alpha1 WorkspaceDiff": kinds.WorkspaceDiff;
  "tenancy.k8s.io/v1alpha1 WorkspaceDiff": kinds.WorkspaceDiff;
  "tenancy.platform.io/v1alpha1 WorkspaceMerge": kinds.WorkspaceMerge;
  "tenancy.k8s.io/v1alpha1 WorkspaceMerge": kinds.WorkspaceMerge;
  "tenancy.platform.io/v1alpha1 WorkspacePreview": kinds.WorkspacePreview;
  "tenancy.k8s.io/v1alpha1 WorkspacePreview": kinds.WorkspacePreview;
  "tenancy.platform.io/v1alpha1 WorkspaceRebase": kinds.WorkspaceRebase;
  "tenancy.k8s.io/v1alpha1 WorkspaceRebase": kinds.WorkspaceRebase;
  "tenancy.platform.io/v1alpha1 Workspace": kinds.Workspace;
  "tenancy.k8s.io/v1alpha1 Workspace": kinds.Workspace;
  "transactions.platform.io/v1alpha1 Transaction": kinds.Transaction;
  "transactions.k8s.io/v1alpha1 Transaction": kinds.Transaction;
}

// ---- resources/clients/client

/** Names an object by apiVersion, kind, name and namespace. */
export interface ObjectReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
}

/** Names a collection: of one namespace, or of all. */
export interface CollectionReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

/** The objects of a list, and the resource version from which a watch continues it. */
export interface ObjectList<O> {
  readonly items: O[];
  readonly resourceVersion: string;
}

/** A change of an object; for `DELETED` the object has its last state. */
export interface WatchEvent<O> {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly object: O;
}

/** An object in a write; the server fills in the other fields. */
export type NewObject = {
  apiVersion: string;
  kind: string;
  metadata:
    | ObjectMetaValue
    | {
        name?: string;
        [field: string]: unknown;
      };
} & Record<string, unknown>;

/**
 * The API without a socket, for controllers. Requests pass validation and admission; there is no authentication, and authorization only for
 * the clients of `server.as()`. It has the methods of {@link TypedClient} without the types of the kinds.
 *
 * Every method throws the {@link StatusError} that the API would answer with.
 */
export declare class Client {
  /** Handlers of reviews, by kind name; without them reviews can't be created. */
  /** Runs a request through the guard, if the client has one. */
  get<O extends ApiObject = ApiObject>(reference: ObjectReference): Promise<O>;
  /** As {@link Client.get}; undefined if it doesn't exist. */
  find<O extends ApiObject = ApiObject>(reference: ObjectReference): Promise<O | undefined>;
  list<O extends ApiObject = ApiObject>(reference: CollectionReference): Promise<ObjectList<O>>;
  create<O extends ApiObject = ApiObject>(object: NewObject): Promise<O>;
  /** As {@link Client.create}, without decoding the stored object. */
  add(object: NewObject): Promise<void>;
  update<O extends ApiObject = ApiObject>(object: NewObject, subresource?: string): Promise<O>;
  patch<O extends ApiObject = ApiObject>(
    reference: ObjectReference,
    patch: unknown,
    kind?: PatchKind,
  ): Promise<O>;
  /** Deletes an object; false if it is terminating because of finalizers or a grace period. */
  delete(
    reference: ObjectReference,
    only?: {
      uid?: string;
      resourceVersion?: string;
    },
    propagationPolicy?: DeleteOptions["propagationPolicy"],
  ): Promise<boolean>;
  /**
   * Calls the listener for each change after a resource version (that of a list), in order, until `close` is called. The listener must not
   * throw; `ended` is called if the watch ends, for example because its history was compacted or the user may not watch.
   */
  watch<O extends ApiObject = ApiObject>(
    reference: CollectionReference & {
      readonly resourceVersion: string;
    },
    listener: (event: WatchEvent<O>) => void,
    ended?: (error: Error) => void,
  ): {
    close(): void;
  };
  /** Starts a watch when the guard allows it; otherwise calls `ended`, or prints a warning if there is no such listener. */
  /** The target of a reference to an object. */
  /** The handler of a review; undefined for other resource types. */
}

// ---- resources/clients/object-history

/** A version of an object: the effect of one write, and who made it. */
export interface VersionOf<O> {
  /** Resource version of the write. */
  readonly resourceVersion: string;
  /** Resource version of the version before; undefined if the write created the object, or if it is unknown. */
  readonly previousVersion: string | undefined;
  /** Whether the write deleted the object. */
  readonly deleted: boolean;
  /** Time of the write, RFC 3339; like the other facts about it undefined if it is unknown. */
  readonly time: string | undefined;
  /** Name of the user. */
  readonly user: string | undefined;
  /** Name of the field manager. */
  readonly manager: string | undefined;
  /** Verb of the request, such as `create`, `apply` or `delete`. */
  readonly verb: string | undefined;
  /** Identifies the request, as in its audit events; all writes of a transaction have the same one. */
  readonly auditId: string | undefined;
  /** The object after the write, or the last state of a deleted one; only with `contents`. */
  readonly object: O | undefined;
  /** Reason why the object can't be read; only with `contents`. */
  readonly error: string | undefined;
}

// ---- resources/clients/typed-client

/** The kinds of an apiVersion; any if the apiVersion or kind isn't a literal type, or if no object of the group has a type. */
type KindsIn<Objects, V extends string, K extends string> = string extends V | K
  ? string
  : [TypedKinds<Objects, V>] extends [never]
    ? V extends `${infer Group}/${string}`
      ? UntypedKinds<Objects, Group>
      : never
    : TypedKinds<Objects, V>;

/** Any kind, in a group of custom objects without types, whose name has a dot; otherwise none. */
type UntypedKinds<Objects, Group extends string> = Group extends `${string}.${string}`
  ? [Extract<keyof Objects, `${Group}/${string}`>] extends [never]
    ? string
    : never
  : never;

/** The kinds of an apiVersion whose objects have a type. */
type TypedKinds<Objects, V extends string> = {
  [Key in keyof Objects]: Key extends `${V} ${infer One}` ? One : never;
}[keyof Objects];

/** The objects of a kind; any object if the kind isn't a literal type or has no type. */
export type ObjectAt<Objects, V extends string, K extends string> = `${V} ${K}` extends keyof Objects
  ? Objects[`${V} ${K}`]
  : ApiObject;

/** Names a kind by the apiVersion and kind of its objects. */
interface OfKind<Objects, V extends string, K extends string> {
  readonly apiVersion: V;
  readonly kind: K & KindsIn<Objects, V, K>;
}

/** Names an object. */
export interface OneOf<Objects, V extends string, K extends string> extends OfKind<Objects, V, K> {
  readonly name: string;
  readonly namespace?: string;
}

/** Names a collection: of one namespace, or of all. */
interface AllOf<Objects, V extends string, K extends string> extends OfKind<Objects, V, K> {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

/** An object in a write; the server fills in the other fields. */
type Draft<Objects, V extends string, K extends string> = OfKind<Objects, V, K> & {
  readonly metadata: ObjectMetaValue;
} & Omit<ObjectAt<Objects, V, K>, "apiVersion" | "kind" | "metadata">;

/**
 * The API without a socket, for embedding programs. Requests pass validation and admission. There is no authentication; the
 * requests of `server.client` are not authorized, those of `server.as()` are.
 *
 * Objects have the types of their kinds. Kinds and fields that don't exist are compile errors if apiVersion and kind are literals; the
 * kinds of other groups are objects with any fields, unless `CustomObjects` has their types. Every method throws the `StatusError` that the API would answer with.
 *
 * @typeParam Objects the types of the objects, by `apiVersion kind`.
 */
export interface TypedClient<Objects> {
  /** Returns an object. */
  get<V extends string, K extends string>(reference: OneOf<Objects, V, K>): Promise<ObjectAt<Objects, V, K>>;
  /** As {@link TypedClient.get}; undefined if it doesn't exist. */
  find<V extends string, K extends string>(
    reference: OneOf<Objects, V, K>,
  ): Promise<ObjectAt<Objects, V, K> | undefined>;
  /** Returns the objects of a collection, with the resource version for a watch. */
  list<V extends string, K extends string>(
    reference: AllOf<Objects, V, K>,
  ): Promise<ObjectList<ObjectAt<Objects, V, K>>>;
  /** Creates an object and returns it as stored; for a review, returns the review with its status. */
  create<V extends string, K extends string>(object: Draft<Objects, V, K>): Promise<ObjectAt<Objects, V, K>>;
  /** As {@link TypedClient.create}, without decoding the stored object. */
  add<V extends string, K extends string>(object: Draft<Objects, V, K>): Promise<void>;
  /** Replaces an object, or a part of it: `update(object, "status")`. */
  update<V extends string, K extends string>(
    object: Draft<Objects, V, K>,
    subresource?: string,
  ): Promise<ObjectAt<Objects, V, K>>;
  /**
   * Patches an object.
   *
   * @param patch the decoded body of the request: an object, or for `json` a list of operations.
   * @param kind type of the patch; `merge` by default.
   */
  patch<V extends string, K extends string>(
    reference: OneOf<Objects, V, K>,
    patch: unknown,
    kind?: PatchKind,
  ): Promise<ObjectAt<Objects, V, K>>;
  /** Deletes an object; false if it is terminating because of finalizers or a grace period. */
  delete<V extends string, K extends string>(
    reference: OneOf<Objects, V, K>,
    only?: {
      uid?: string;
      resourceVersion?: string;
    },
    propagationPolicy?: DeleteOptions["propagationPolicy"],
  ): Promise<boolean>;
  /**
   * Calls the listener for each change after a resource version (that of a list), in order, until `close` is called. The listener must not
   * throw; `ended` is called if the watch ends, for example because its history was compacted or the user may not watch.
   */
  watch<V extends string, K extends string>(
    reference: AllOf<Objects, V, K> & {
      readonly resourceVersion: string;
    },
    listener: (event: WatchEvent<ObjectAt<Objects, V, K>>) => void,
    ended?: (error: Error) => void,
  ): {
    close(): void;
  };
}

// ---- resources/engine/engine

/** The object or collection of a request. */
export interface Target {
  readonly resource: Resource;
  /** Empty for cluster scope and for all namespaces. */
  readonly namespace: string;
  /** Empty for a collection. */
  readonly name: string;
  /** Empty for the resource itself. */
  readonly subresource: string;
  /** The group of the request, for error messages, if the objects are stored in another group. */
  readonly requestGroup?: string;
}

/** Options of a write. */
export interface WriteOptions {
  readonly user: UserInfo;
  readonly dryRun: boolean;
  /** Name of the field manager. */
  readonly fieldManager: string;
  /** Undefined if warnings and annotations are discarded. */
  readonly report?: RequestReport | undefined;
  /** Verb in the history; by default that of the report, and without one that of the change in the store. */
  readonly verb?: string | undefined;
  /** Undefined for writes of the server itself. */
  readonly pace?: WorkPace | undefined;
}

/** Receives warnings and audit annotations of a request. */
export interface RequestReport {
  /** Adds a `Warning` header, also to an error response. Duplicates are sent once. */
  warn(text: string): void;
  /**
   * Adds an audit annotation; the first value of a key wins.
   *
   * @param level `Request`: only if the audit level records the request body.
   */
  annotate(key: string, value: string, level?: "Request"): void;
  /** Reports how long a step of the request took, in milliseconds, for the log of slow requests. */
  took?(step: string, durationMs: number): void;
  /** End of the client's `timeout`, in milliseconds of the monotonic clock; undefined without one. */
  readonly expiresAt?: number | undefined;
  /** Verb of the request. */
  readonly verb?: string | undefined;
  /** Identifies the request, as in its audit events. */
  readonly requestId?: string | undefined;
}

/**
 * The attributes of a write for admission (spec: conventions 4.13). They are read-only: a mutating plugin changes the contents of
 * `object`, and adds everything else through `effects`.
 */
export interface AdmissionRequest {
  /** CONNECT is a connection to an object, such as `pods/exec`. */
  readonly operation: "CREATE" | "UPDATE" | "DELETE" | "CONNECT";
  /** The target in its stored version. In the validating phase of a CREATE it has the name that mutating webhooks set. */
  readonly target: Target;
  /** The resource type in the version of the request; that of the target if this is the stored version. */
  readonly requestResource: Resource;
  /** The options of the verb. */
  readonly options: WriteOptions;
  readonly user: UserInfo;
  readonly dryRun: boolean;
  /**
   * The new object; undefined for DELETE. For CONNECT the options, for actions (`binding`, `eviction`, `token`) the body. Mutating
   * plugins change it in place.
   */
  readonly object: ApiObject | undefined;
  /** The live object; undefined for CREATE and deletecollection. */
  readonly live: ApiObject | undefined;
  /** What the transaction to which the write belongs has written before; undefined for a write of its own. */
  readonly staged?: StagedEntries | undefined;
  /** Whether the mutating plugins are called for the second time, after {@link AdmissionEffects.requestReinvocation}. */
  readonly reinvocation: boolean;
  readonly effects: AdmissionEffects;
}

/** Collects what plugins add to a write. All plugins and both phases of the write share one. */
export interface AdmissionEffects extends Pick<RequestReport, "warn" | "annotate" | "took"> {
  /** Adds a condition that the store checks together with the write. */
  addCondition(condition: AdmissionCondition): void;
  /** Registers a function that is called once with the outcome of the write, in order of registration. It must not throw. */
  onOutcome(listener: OutcomeListener): void;
  /**
   * Reports that code outside of the server, such as a webhook, has changed the object. All mutating plugins are then called a second
   * time, and the verb re-applies its update strategy: a write of the object keeps the status, a write of the status keeps
   * everything else.
   */
  requestReinvocation(): void;
  /** Whether {@link requestReinvocation} was called. */
  readonly reinvocationRequested: boolean;
  /**
   * Returns the state that a plugin keeps for this write, for example from the mutating to the validating phase.
   *
   * @param type the class of the state; the first call for a class creates its instance.
   */
  state<T extends object>(type: new () => T): T;
}

/**
 * A condition on another key of the store on which the decision of a plugin depends. The store checks it together with the write.
 */
export interface AdmissionCondition extends WriteCondition {
  /**
   * Repeats the decision after the condition failed; returns the new condition.
   *
   * @throws {StatusError} the write is rejected now.
   */
  renew(): MaybePromise<AdmissionCondition | undefined>;
}

/**
 * Outcome of a write: committed; not committed (rejected, conflict, dry run); or unknown, as the store failed during the commit.
 */
export type WriteOutcome = "committed" | "not committed" | "unknown";

/** Called by the verb with the outcome of a write, for example to release a reservation. */
export type OutcomeListener = (outcome: WriteOutcome) => void;

// ---- resources/engine/request-faults

/**
 * A fault of `server.faults` ended a request without an answer, or a watch. Over HTTP the connection ends instead. `code` is that of
 * Node for a connection that was reset, so that programs which retry such errors do so.
 *
 * @example
 * await client.create(object).catch((error) => {
 *   if (error.code !== "ECONNRESET") throw error; // Otherwise the object may exist or not.
 * });
 */
export declare class ConnectionLostError extends Error {
  /** Whether the server completed the response, as at the normal end of a watch. */
  readonly isComplete: boolean;
  name: string;
  readonly code = "ECONNRESET";
  constructor(
    message: string,
    /** Whether the server completed the response, as at the normal end of a watch. */
    isComplete?: boolean,
  );
}

// ---- resources/followers/informer

/** Called when an object was created, changed or removed; `object` is undefined if it was removed. */
export type InformerListener = (
  key: string,
  object: ApiObject | undefined,
  before: ApiObject | undefined,
) => void;

/** A cache of all objects of one resource type, kept up to date by a watch. */
export interface ObjectInformer<O extends ApiObject = ApiObject> {
  /** Waits until the informer has every write, by any process, that was acknowledged before the call. Throws while it can't follow the store. */
  sync(): MaybePromise<void>;
  /** Registers a listener. It is called for every cached object, then for each change. It must not throw. */
  listen(listener: InformerListener): void;
  /** The object; it must not be changed. */
  get(namespace: string, name: string): O | undefined;
  /** All objects; they must not be changed. */
  list(): IterableIterator<O>;
}

// ---- resources/objects/staged-entries

/** What an operation of a transaction can read of the writes before it. */
export interface StagedEntries {
  /** The entry of a key that the transaction has written; undefined if it hasn't, or has deleted it. */
  stagedEntry(key: string): Entry | undefined;
}

// ---- resources/registry/registry

/** One resource type of one group version. */
export interface Resource {
  readonly kind: Kind;
  /** Full group name; empty for the core group. */
  readonly group: string;
  readonly version: string;
  /** `apiVersion` of its objects: `v1`, `rbac.authorization.platform.io/v1`. */
  readonly apiVersion: string;
  /** Name in paths: `roles`. */
  readonly name: string;
  readonly namespaced: boolean;
  /** The resource type of the storage version; the same object unless its kind has a conversion. */
  readonly stored: Resource;
  /** Prefix of its objects in the store, ending in `/`. */
  readonly storePrefix: string;
  /** The bytes of a body before its revision (`stored.ts`). */
  readonly bodyPrefix: Buffer;
}

export interface ServedGroupVersion {
  readonly group: string;
  readonly version: string;
  readonly resources: readonly Resource[];
}

/** Resource types that change while a server runs: those of custom kinds. */
export interface ChangingResources {
  /** Increases with every change. */
  readonly revision: number;
  /**
   * Waits until the resource types include every change that was acknowledged before the call, by any process.
   *
   * @throws {StoreUnavailableError} the store can't be followed at present.
   */
  sync(): MaybePromise<void>;
  /** Whether a group has definitions, served or not. */
  knows(group: string): boolean;
  /** The served resource type at a path, or undefined. */
  find(group: string, version: string, name: string): Resource | undefined;
  /** The served resource type of a kind, or undefined; parses only the definitions of the group. */
  findKind(group: string, version: string, kind: string): Resource | undefined;
  /** A text that changes with the definitions of a group; equal on all servers that have the same definitions. */
  revisionOf(group: string): string;
  /** The served versions of a resource, in the order of discovery. */
  versionsOf(group: string, name: string): readonly Resource[];
  /**
   * The condition that the definition of a resource type is unchanged, for writes that depend on it; undefined if it was deleted.
   */
  definitionCondition(group: string, name: string): WriteCondition | undefined;
  /**
   * Parses the definitions that aren't parsed yet, with pauses for other requests; {@link groupVersions} and {@link stored} would parse
   * them without a pause. Returns undefined if all are parsed.
   */
  readAll(): MaybePromise<void>;
  /** The served group versions. */
  readonly groupVersions: readonly ServedGroupVersion[];
  /** Every resource type that stores objects, in the storage version. */
  readonly stored: readonly Resource[];
}

/** The served resource types: built-in ones, which never change, and those of custom kinds. */
export declare class Registry {
  readonly vocabulary: Vocabulary;
  readonly release: Release;
  /** By group, version and name. */
  /** The built-in group versions. */
  readonly builtInVersions: readonly ServedGroupVersion[];
  /** By `apiVersion/kind`. */
  /** By store prefix. */
  /** `group/resource` of all declared kinds, served or not. */
  /** Set during the start of a server with custom kinds. */
  changing: ChangingResources | undefined;
  /**
   * @param kinds the declared kinds.
   * @param served whether a kind's resource is served; see `runtime-config.ts`.
   */
  constructor(
    kinds: readonly Kind[],
    vocabulary: Vocabulary,
    served: (group: string, kind: Kind) => boolean,
    release?: Release,
  );
  /** Returns a registry with the same built-in resource types, and no custom ones. */
  withoutCustom(): Registry;
  /** Increases with every change of the served resource types. */
  get revision(): number;
  /** See {@link ChangingResources.revisionOf}; always empty for built-in groups. */
  revisionOf(group: string): string;
  /** See {@link ChangingResources.sync}. */
  sync(): MaybePromise<void>;
  /** Whether there is a group of that name, as of the last {@link sync}. */
  knows(group: string): boolean;
  /** See {@link ChangingResources.definitionCondition}; undefined for a built-in resource type. */
  definitionCondition({ group, name }: Resource): WriteCondition | undefined;
  /** Whether the resource types of the group are built in. */
  isBuiltIn(group: string): boolean;
  /**
   * Whether a resource can't be a custom one: its group is built in, or its store prefix is that of a declared kind, which may be served
   * again after the next start.
   */
  reserves(group: string, resource: string): boolean;
  /** The same array until something changes. */
  get groupVersions(): readonly ServedGroupVersion[];
  /** See {@link ChangingResources.readAll}. */
  readAll(): MaybePromise<void>;
  /** Every served resource type with the same objects, including the argument, in the order of discovery. */
  withSameObjects({ group, name, storePrefix }: Resource): readonly Resource[];
  /** The served versions of a resource, in the order of discovery. */
  versionsOf(group: string, name: string): readonly Resource[];
  /** The resource type at a path, or undefined. */
  find(group: string, version: string, resource: string): Resource | undefined;
  /** The resource type whose objects have this apiVersion and kind, or undefined. */
  findKind(apiVersion: string, kind: string): Resource | undefined;
  /** The kind of a body with this apiVersion and kind: that of a resource type or of the body of a subresource. */
  bodyKind(apiVersion: string, kind: string): Kind | undefined;
  /** Whether the kind's resource type is served. */
  serves(kind: Pick<Kind, "group" | "version" | "resource">): boolean;
  /**
   * The resource type of a kind.
   *
   * @throws {Error} the kind is not served.
   */
  require(kind: Kind): Resource;
  /** The resource type of a store key, in the storage version if it is served; undefined if it isn't served. */
  ofKey(key: string): Resource | undefined;
  /** Every served resource type that stores objects, once for all versions: the storage version if it is served. */
  stored(): Resource[];
}

// ---- resources/writes/delete

/** Options of a deletion, from query and body. */
export interface DeleteOptions extends WriteOptions {
  readonly gracePeriodSeconds: number | bigint | undefined;
  readonly propagationPolicy: "Background" | "Foreground" | "Orphan" | undefined;
  /** Precondition: the uid of the object. */
  readonly uid: string | undefined;
  /** Precondition: the resource version of the object. */
  readonly resourceVersion: string | undefined;
}

/** @throws {StatusError} Invalid for an unknown policy. */
export declare function propagationPolicy(text: string): NonNullable<DeleteOptions["propagationPolicy"]>;

// ---- resources/writes/patch

/** Patch types (spec: conventions 4.7). */
export type PatchKind = "json" | "merge" | "strategic";

// ---- schema/added-fields

/** The added fields, for the static type of a struct; a field that a release replaces keeps its type. */
export type AddedFields<L extends LaterFields> = {
  readonly [K in keyof L as L[K] extends Row<Field> ? K : never]: L[K] extends Row<infer A>
    ? A extends Field
      ? A
      : never
    : never;
};

// ---- schema/api-object

/** An API object in JSON form, in the version of its `apiVersion`. */
export interface ApiObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMetaValue;
  [field: string]: unknown;
}

/** `metadata` of an object, in JSON form (spec: conventions 2.2). Times are RFC 3339 in UTC with seconds. */
export interface ObjectMetaValue {
  name?: string;
  generateName?: string;
  namespace?: string;
  selfLink?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string | null;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReferenceValue[];
  finalizers?: string[];
  managedFields?: ManagedFieldsEntryValue[];
}

/** One entry of `metadata.managedFields` (spec: conventions 2.5). */
export interface ManagedFieldsEntryValue {
  manager?: string;
  operation?: string;
  apiVersion?: string;
  /** When the entry last changed; RFC 3339 in UTC with seconds. */
  time?: string;
  fieldsType?: string;
  fieldsV1?: Record<string, unknown>;
  subresource?: string;
}

export interface OwnerReferenceValue {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

// ---- schema/columns

/** One column of the server's table (spec: conventions 2.4). */
export interface Column<O = ApiObject> {
  readonly name: string;
  readonly type: "string" | "integer" | "number" | "boolean" | "date";
  readonly format?: "name";
  readonly doc: string;
  /** 0: always shown; 1: only in wide output. */
  readonly priority?: 0 | 1;
  /**
   * JSON path of the value, such as `.spec.size`, for the CustomResourceDefinition of the kind (`definitionOf`). Columns without
   * it are omitted from the definition.
   */
  readonly jsonPath?: string;
  /** Type in the definition if it differs from `type`: ages are `date` there. */
  readonly definedType?: "date";
  /** Returns the value of the cell; `now` is in milliseconds since 1970. */
  readonly cell: (object: O, now: number, vocabulary: Vocabulary) => unknown;
  /** For a cell with ages: returns the same value with ages formatted by `since`. Cached rows are updated with this function. */
  readonly ages?: (object: O, since: Since) => unknown;
  /** Whether the cell may change without a change of the object; such rows aren't cached. */
  readonly varies?: boolean;
}

/** A condition of a table row. */
export interface RowCondition {
  readonly type: "Completed";
  readonly status: "True" | "False" | "Unknown";
  readonly reason?: string;
  readonly message?: string;
}

// ---- schema/context

/** Context of the functions in a kind declaration. */
export interface KindContext {
  readonly vocabulary: Vocabulary;
  /** Whether a feature gate is enabled (spec: conventions 9.4). */
  readonly enabled: (gate: string) => boolean;
  /** The API release that the server follows; the reference release by default. */
  readonly release?: Release | undefined;
  /** Whether privileged containers are forbidden. */
  readonly forbidsPrivileged?: boolean;
  /** The subresource of the write; empty for the main resource. */
  readonly subresource: string;
  /** The creator of the object; only set for `prepareCreate`. */
  readonly user?: UserInfo | undefined;
  /** The time of the write, in milliseconds since 1970. */
  readonly now?: number | undefined;
}

/** Formats the time since a timestamp as kubectl does: `45s`, `3m20s`, `2d4h`. */
export type Since = (timestamp: string | null | undefined) => string;

// ---- schema/custom-kind-facts

/** Properties of a custom kind. */
export interface CustomKindFacts {
  /** Kind of its lists. */
  readonly listKind: string;
  /** Revision of the definition. Objects that were written before may not be pruned and defaulted by its schema. */
  readonly since: number;
  /** Parses the schema in the definition; undefined without one. Not cached, because it is large. */
  readonly schema: () => object | undefined;
  /** Deprecation warning of the version; empty if it isn't deprecated. */
  readonly deprecation: string;
}

// ---- schema/custom/pattern

/**
 * A regular expression in the syntax of RE2, compiled on first use. Matching takes time proportional to the length of the string and
 * {@link Pattern.size}.
 */
export declare class Pattern {
  readonly source: string;
  constructor(source: string);
  /** The compilation error; undefined if the pattern is valid. */
  get error(): string | undefined;
  /** Whether the next use takes the time of the compilation. */
  get isNew(): boolean;
  /** Number of instructions, each of which may run for each character; 0 for an invalid pattern. */
  get size(): number;
  /** Whether a part of a string matches. An invalid pattern matches everything; its definition was rejected. */
  matches(text: string): boolean;
}

// ---- schema/custom/schema-node

/**
 * The parsed structural schema of a CustomResourceDefinition, which pruning, defaulting, validation, merging and ordering use
 * (spec: conventions 4.8, 4.10).
 */
export interface SchemaNode {
  /** Empty if any type is allowed. */
  readonly type: JsonTypeName | "";
  readonly nullable: boolean;
  /** The value is an integer or a string (`int-or-string`). */
  readonly intOrString: boolean;
  /** Members without a schema are kept (`preserve-unknown-fields`). */
  readonly preserves: boolean;
  /** The value is an object with apiVersion, kind and metadata (`embedded-resource`). */
  readonly embedded: boolean;
  readonly properties: ReadonlyMap<string, SchemaNode>;
  /** Schema of additional members (`additionalProperties`); undefined without one. */
  readonly additional: SchemaNode | undefined;
  /** Additional members are rejected (`additionalProperties: false`). */
  readonly closed: boolean;
  readonly items: SchemaNode | undefined;
  /** Default of an absent value; undefined if none. */
  readonly default: unknown;
  /** Length of the default in JSON. */
  readonly defaultLength: number;
  readonly listType: "atomic" | "set" | "map" | undefined;
  readonly listMapKeys: readonly string[];
  readonly mapType: "atomic" | "granular" | undefined;
  /** Validation rules of the value. */
  readonly rules: ValueRules;
  /** CEL validation rules of the value. */
  readonly validations: readonly ValidationRule[];
}

/** A validation rule in CEL (`x-…-validations`). */
export interface ValidationRule {
  readonly rule: string;
  /** Message of the fault; defaults to the expression. */
  readonly message?: string | undefined;
  /** Expression of the message; the message applies if it fails. */
  readonly messageExpression?: string | undefined;
  /** Reason of the fault; `FieldValueInvalid` by default. */
  readonly reason?: string | null | undefined;
  /** Path of the fault, relative to the value. */
  readonly fieldPath?: string | undefined;
  /** Whether the rule applies to values without an old one too; `oldSelf` is then optional. */
  readonly optionalOldSelf?: boolean | null | undefined;
}

export type JsonTypeName = "array" | "boolean" | "integer" | "number" | "object" | "string";

/** The validation rules of a schema besides the type; absent rules are undefined. */
export interface ValueRules {
  readonly format: string | undefined;
  readonly maximum: number | bigint | undefined;
  readonly exclusiveMaximum: boolean;
  readonly minimum: number | bigint | undefined;
  readonly exclusiveMinimum: boolean;
  readonly multipleOf: number | bigint | undefined;
  readonly maxLength: number | bigint | undefined;
  readonly minLength: number | bigint | undefined;
  readonly pattern: Pattern | undefined;
  readonly maxItems: number | bigint | undefined;
  readonly minItems: number | bigint | undefined;
  readonly uniqueItems: boolean;
  readonly maxProperties: number | bigint | undefined;
  readonly minProperties: number | bigint | undefined;
  readonly enum: readonly unknown[] | undefined;
  readonly required: readonly string[];
  readonly allOf: readonly SchemaNode[];
  readonly anyOf: readonly SchemaNode[];
  readonly oneOf: readonly SchemaNode[];
  readonly not: SchemaNode | undefined;
}

// ---- schema/faults

/** Records faults of an object at a path: `at("rules", 0, "verbs")` is `rules[0].verbs`; map keys are in brackets. */
export declare class FieldReport {
  /** Creates the report for the root of an object. @param release see {@link FieldReport.release}. */
  static start(release?: Release): FieldReport;
  /** The release whose rules and messages apply; undefined is the reference release. */
  get release(): Release | undefined;
  /** As {@link FieldReport.separate}, but ends with the first fault: to find out whether there is any. */
  probe(): FieldReport;
  /**
   * Counts work for the schema of a CustomResourceDefinition. If the limit is exceeded, adds a fault at this path; the report is then
   * full.
   *
   * @param units in about 100 ns.
   */
  spend(units: number): void;
  /**
   * Yields to the event loop if the work on the object, as counted by {@link FieldReport.spend}, has run for long. Await it between two
   * parts of the work.
   */
  pauseIfDue(): MaybePromise<void>;
  /** Makes the next {@link FieldReport.pauseIfDue} look at the clock: after work whose units aren't counted. */
  lookAtClock(): void;
  /**
   * Leaves a check that may take many turns of the event loop to {@link FieldReport.finish}. Its faults come where they would be if it
   * ran now.
   *
   * @param check gets a report for the same path.
   */
  defer(check: (report: FieldReport) => MaybePromise<void>): void;
  /** Runs the deferred checks in turns. The faults of the object are complete only then. */
  finish(): MaybePromise<void>;
  /** As {@link FieldReport.finish}, without turns: for programs that have no other work meanwhile. */
  finishAtOnce(): void;
  /** Adds the faults of a separate report at a position of the list; returns their number. */
  /** The path as string. It is computed on demand, because most reports have no faults. */
  get path(): string;
  /** All faults of the object so far. */
  get faults(): readonly Cause[];
  /** Whether no further faults are recorded, so that validation can stop. */
  get full(): boolean;
  /** Returns the report of a field by name or an item by index. */
  at(...steps: readonly (string | number)[]): FieldReport;
  /** Returns the report for faults without field (`<nil>` in Kubernetes): of combined schemas and of skipped expressions. */
  withoutField(): FieldReport;
  /**
   * Returns a separate report at the same path. Its faults can be added by {@link FieldReport.addAll}. Its work reduces the
   * budget of the object.
   */
  separate(): FieldReport;
  /** Adds the faults of a separate report of the same object. */
  addAll({ shared }: FieldReport): void;
  /** Returns the report of a map value. */
  key(key: string): FieldReport;
  /**
   * Returns the report of a member by `additionalProperties` of a custom schema. As in Kubernetes, the path has the form of a field
   * (`a.b`) in faults of values, and of a key (`a[b]`) in others; see {@link FieldReport.withKeys}.
   */
  entry(name: string): FieldReport;
  /** Returns the report at the same path, with every {@link FieldReport.entry} in the form of a key. */
  withKeys(): FieldReport;
  required(message?: string): void;
  /** As {@link FieldReport.required}, unless the path already has such a fault. */
  requiredUnlessReported(): void;
  invalid(value: unknown, message: string): void;
  /** The value doesn't have the type of the custom schema. */
  typeInvalid(value: unknown, message: string): void;
  notSupported(value: unknown, allowed: readonly string[]): void;
  duplicate(value: unknown): void;
  notFound(value: unknown): void;
  forbidden(message: string): void;
  tooLong(maxLength: number | bigint, unit?: string): void;
  tooMany(count: number, max: number | bigint): void;
}

// ---- schema/kind-effect

/**
 * The effects of the objects of a kind, each a sentence without full stop. `docs/enforcement.md` is generated from them.
 */
export interface KindEffect {
  /** How the objects affect requests to the server. */
  readonly enforced?: string;
  /** What the server or its controllers do for the objects. */
  readonly acts?: string;
  /** What the objects specify but this server doesn't enforce; a create returns it as a warning. */
  readonly unenforced?: string;
}

// ---- schema/kind

/** The type of the objects in the functions of a kind declaration. */
export type ObjectOf<F extends Fields> = StaticFields<F> & {
  apiVersion: string;
  kind: string;
  metadata: ObjectMetaValue;
};

/** A subresource of an object (spec: conventions 4.1). */
export type Subresource<O = ApiObject> =
  PartSubresource<O> | ViewSubresource<O> | ActionSubresource | ConnectSubresource;

/** A subresource of another kind that reads and writes a part of the object, such as `scale`. */
export interface ViewSubresource<O = ApiObject> {
  readonly shape: "view";
  readonly verbs: readonly Verb[];
  readonly kind: () => Kind;
  /** Returns the fields of the view, without apiVersion, kind and metadata. */
  readonly read: (object: O) => Record<string, unknown>;
  /**
   * Checks that a get can show the object; absent if it always can.
   *
   * @throws {StatusError} InternalError: the object lacks a field of the view.
   */
  readonly checkShown?: (object: O) => void;
  /** Returns the fields of the view that a write starts from; absent if they are those of `read`. */
  readonly basis?: (object: O) => Record<string, unknown>;
  /**
   * Copies the fields of the written view to the copy of the live object.
   *
   * @throws {StatusError} BadRequest: the view lacks a field that the object lacks too.
   */
  readonly write: (copy: O, view: ApiObject) => void;
  /** The written fields, for managed fields: the path of each in the view and in the object. */
  readonly fields: readonly {
    readonly view: readonly string[];
    readonly object: readonly string[];
  }[];
}

/** An action on the object, such as `eviction`; `resources/actions/` has the implementations. */
export interface ActionSubresource {
  readonly shape: "action";
  readonly verbs: readonly Verb[];
  /** Kind of the request and response body. */
  readonly kind: () => Kind;
  /** Older versions with the same fields that are accepted in the request body. */
  readonly olderVersions?: readonly string[];
}

/**
 * Conversion between a version and the storage version (spec: conventions 9). Both functions may modify their argument. The
 * caller sets apiVersion and kind of the result. Such a kind is validated by its own `validate`, else by that of the storage version.
 */
export interface Conversion {
  /** Returns the kind in its storage version. */
  readonly stored: () => Kind;
  readonly toStored: (object: ApiObject, context: KindContext) => ApiObject;
  readonly fromStored: (object: ApiObject, context: KindContext) => ApiObject;
  /** Names of selectable fields in the storage version, if they differ. */
  readonly selectableNames?: Readonly<Record<string, string>>;
}

/**
 * The declaration of a kind in one version, except its fields. All functions are pure. Their objects have only
 * declared fields, without nulls and empty values; only a parameter with the name `copy` may be modified. What only some releases
 * have is a row. The members are in groups by the time of their use.
 */
export interface KindMembers<O> {
  readonly group: Group;
  readonly version: string;
  readonly name: string;
  /** Plural name, as in paths: `rolebindings`. */
  readonly resource: string;
  /** Name of the collection in the store, if other objects are stored under that of the resource in other releases. */
  readonly collection?: string;
  readonly singular: string;
  readonly scope: "Namespaced" | "Cluster";
  readonly doc: string;
  /** Absent for a kind that the server only stores and serves. */
  readonly effect?: KindEffect;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  /** Format of `metadata.name`; a DNS subdomain by default. */
  readonly nameForm?: NameForm;
  /** The format of `metadata.name` where a feature gate is enabled. */
  readonly gatedNameForm?: {
    readonly gate: string;
    readonly form: NameForm;
  };
  /** A create of this virtual kind is equivalent to a create of this subresource of the object with the same name. */
  readonly subresourceAlias?: {
    readonly resource: string;
    readonly subresource: string;
  };
  /** Whether field names have a prefix that depends on the vocabulary, such as `x-kubernetes-`; see `kind-in-vocabulary.ts`. */
  readonly hasPrefixedFields?: boolean;
  /** Defaults to all. A kind with only `create` is virtual: its objects are never stored. */
  readonly verbs?: readonly Verb[];
  /** The objects aren't stored; the server computes them per request. Such a kind has only `get` and `list`. */
  readonly computed?: boolean;
  /** False for versions that must be enabled by `--runtime-config` (spec: conventions 9.1). */
  readonly servedByDefault?: boolean;
  /** Feature gate without which it isn't served. */
  readonly gate?: string;
  readonly subresources?: Readonly<Record<string, Released<Subresource<O>>>>;
  /** Selectable fields besides metadata.name and metadata.namespace; each function returns the value to compare. */
  readonly selectable?: Readonly<Record<string, Released<(object: O) => string>>>;
  /** For a version other than the storage version. */
  readonly conversion?: Conversion;
  /** For a kind that is defined by a CustomResourceDefinition. */
  readonly custom?: CustomKindFacts;
  /** The declaration of which this kind is a copy with other fields; see {@link declarationOf}. */
  readonly declaration?: Kind;
  /** Sets defaults that depend on several fields. */
  readonly fillDefaults?: Rules<(copy: O, context: KindContext) => void>;
  /** Fields that are excluded from field ownership, because every update of the main resource resets them. */
  readonly unowned?: readonly string[] | undefined;
  /** Annotations that represent a field. They are omitted from PartialObjectMetadata. */
  readonly fieldAnnotations?: readonly string[];
  readonly validate?: Rules<(object: O, report: FieldReport, context: KindContext) => void>;
  /**
   * Rules that are checked after all others; the report already has their faults. Slow rules yield to the event loop.
   *
   * @param live the stored object; undefined for a create.
   */
  readonly validateLast?: (
    object: O,
    live: O | undefined,
    report: FieldReport,
    context: KindContext,
  ) => MaybePromise<void>;
  /** Converts the faults for the response, if Kubernetes validates the object in another form. */
  readonly convertFaults?: (faults: readonly Cause[], object: O) => readonly Cause[];
  /** Returns messages for Warning headers of a successful write. */
  readonly warnings?: Rules<(object: O, context: KindContext, live: O | undefined) => readonly string[]>;
  /** Whether finalizers may be names without a domain. */
  readonly anyFinalizer?: boolean;
  /** Resets fields that a create may not set. */
  readonly prepareCreate?: Rules<(copy: O, context: KindContext) => void> | undefined;
  /** Additional rules for new objects. */
  readonly validateCreate?: Rules<(object: O, report: FieldReport, context: KindContext) => void>;
  /** Whether the server generates the name of a new object without a name, as Kubernetes does for limit ranges. */
  readonly generatesName?: boolean;
  /** Resets fields that an update of the main resource may not change. */
  readonly prepareUpdate?: Rules<(copy: O, live: O, context: KindContext) => void>;
  readonly validateUpdate?: Rules<(object: O, live: O, report: FieldReport, context: KindContext) => void>;
  /** The part whose changes increment `metadata.generation`, which starts at 1. Absent: no generation. */
  readonly generationOf?: Released<(object: O) => unknown>;
  /** PUT on a missing object creates it (spec: conventions 4.2). */
  readonly createOnUpdate?: boolean;
  /** Whether an update may omit the resource version; the default is true. */
  readonly allowUnconditionalUpdate?: boolean;
  /**
   * Returns the grace period of a deletion in seconds, from the requested one (undefined if none). Kinds without this function are
   * deleted immediately.
   */
  readonly gracePeriodSeconds?: (object: O, requested: number | bigint | undefined) => number | bigint;
  /** Modifies the copy at the first delete request; may add finalizers. */
  readonly beginDelete?: (copy: O, context: KindContext) => void;
  /** Modifies the copy when a deletion starts and finalizers keep the object. */
  readonly prepareDelete?: (copy: O) => void;
  /** Whether finalizers outside of `metadata.finalizers`, such as `spec.finalizers` of a Namespace, are empty. */
  readonly isFinalized?: (object: O) => boolean;
  /** What a deletion without propagation policy does with dependents; default: delete them. `Unsupported` ignores propagation policies. */
  readonly defaultGarbageCollectionPolicy?: "DeleteDependents" | "OrphanDependents" | "Unsupported";
  /** Warning for a deletion without propagation policy. */
  readonly orphanWarning?: string;
  /** DELETE returns the deleted object instead of a Status, as kube-apiserver does for some kinds. */
  readonly returnsDeletedObject?: boolean;
  /** The `status` subresource, in addition to `subresources`. */
  readonly status?: Released<StatusSpec<O>>;
  /** Table columns; kinds without them have the default table. */
  readonly columns?: readonly Released<Column<O>>[];
  /** Returns the conditions of the table row, such as Completed (spec: conventions 2.4). */
  readonly rowConditions?: (object: O) => readonly RowCondition[];
}

/** Defaults for omitted members of a declaration. */
declare const memberDefaults: {
  servedByDefault: true;
  createOnUpdate: false;
  returnsDeletedObject: false;
  defaultGarbageCollectionPolicy: "DeleteDependents";
  anyFinalizer: false;
  hasPrefixedFields: false;
  allowUnconditionalUpdate: true;
  nameForm: "subdomain";
  verbs: readonly Verb[];
  selectable: {};
  subresources: {};
};

/** The declaration of a kind. */
export type KindSpec<F extends Fields> = KindMembers<ObjectOf<NoInfer<F>>> & {
  /** Fields in addition to apiVersion and kind. */
  readonly fields: F | (() => F);
  /** See {@link StructRules.later}; for the fields of the kind itself. */
  readonly later?: () => LaterFields;
};

/** The members of a kind with rows, in one release. */
type ResolvedMembers = MembersInRelease<KindMembers<ApiObject>>;

/** The members of a kind that have no rows. */
type PlainMembers = Omit<KindMembers<ApiObject>, keyof ResolvedMembers | "status">;

/** The members of a kind that have a default and no rows. */
type DefaultedName = Exclude<keyof typeof memberDefaults, keyof ResolvedMembers>;

/**
 * A kind in a release, without the static type of its objects: its members are those of {@link KindMembers}, with defaults and without rows.
 * A declared kind is that of the default release.
 */
export type Kind = Omit<PlainMembers, DefaultedName> &
  Required<Pick<PlainMembers, DefaultedName>> &
  ResolvedMembers &
  KindParts;

interface KindParts {
  readonly type: StructType;
  /** The declared members; only if some have rows. */
  readonly released?: KindMembers<ApiObject>;
}

declare const objectType: unique symbol;

/** The TypeScript type of a kind's objects. */
export type ObjectFor<K> = K extends {
  readonly [objectType]?: infer O;
}
  ? NonNullable<O>
  : never;

/** A kind declaration without group and version. */
type LocalSpec<F extends Fields> = Omit<KindSpec<F>, "group" | "version">;

/**
 * A kind with the type of its objects, and group, version and name, in its static type.
 *
 * @public The published types of the built-in kinds are written in terms of it.
 */
export type TypedKind<O, G extends Group, V extends string, N extends string> = Kind & {
  readonly [objectType]?: O;
  readonly group: G;
  readonly version: V;
  readonly name: N;
};

/** The {@link TypedKind} of a declaration with these fields. */
export type NamedKind<F extends Fields, G extends Group, V extends string, N extends string> = TypedKind<
  ObjectOf<F>,
  G,
  V,
  N
>;

/** Functions that declare the kinds and structs of a group version. */
export interface Declarations<G extends Group, V extends string> extends ReturnType<typeof structsIn> {
  /** Declares a kind by its {@link KindMembers}, without group and version, and its `fields`. */
  readonly kind: <const N extends string, F extends Fields>(
    spec: LocalSpec<F> & {
      readonly name: N;
    },
  ) => NamedKind<F, G, V, N>;
}

// ---- schema/members-in-release

/** How each member of a kind that is {@link Rules} is called. */
declare const ruleCalls: {
  readonly fillDefaults: {
    readonly context: 1;
  };
  readonly prepareCreate: {
    readonly context: 1;
  };
  readonly prepareUpdate: {
    readonly context: 2;
  };
  readonly validate: {
    readonly context: 2;
  };
  readonly validateCreate: {
    readonly context: 2;
  };
  readonly validateUpdate: {
    readonly context: 3;
  };
  readonly warnings: {
    readonly context: 1;
    readonly off: readonly [];
  };
};

type RuleName = keyof typeof ruleCalls;

/** The members of a kind that may have rows; see `KindMembers`. */
type WithRows = {
  readonly [K in RuleName]?: unknown;
} & {
  readonly selectable?: Readonly<Record<string, unknown>>;
  readonly subresources?: Readonly<Record<string, unknown>>;
  readonly columns?: readonly unknown[];
  readonly generationOf?: unknown;
  readonly status?: unknown;
};

/** The members of a kind that have rows, in one release: those of `M`. */
export type ResolvedMembers<M extends WithRows> = {
  readonly [K in RuleName | "generationOf"]?: RuleOf<M[K]> | undefined;
} & {
  readonly [K in "selectable" | "subresources"]: {
    readonly [N in keyof NonNullable<M[K]>]: Exclude<NonNullable<M[K]>[N], Row<unknown>>;
  };
} & {
  readonly columns?: readonly Exclude<NonNullable<M["columns"]>[number], Row<unknown>>[] | undefined;
  /** Names of the selectable fields that some releases don't have: objects that these stored don't have them in their headers. */
  readonly laterSelectable?: ReadonlySet<string> | undefined;
};

// ---- schema/object-meta-rules

/**
 * The format of an object name: a path segment (roles), a DNS subdomain (most kinds), a DNS label (namespaces), or a DNS label that
 * doesn't begin with a digit (services).
 */
export type NameForm = "label" | "label1035" | "pathSegment" | "subdomain";

// ---- schema/rules

/** A rule, or several that run in order. A row limits a rule to some releases or to servers with a feature gate. */
export type Rules<R> = Released<R> | readonly Released<R>[];

/** The type of one rule of `Rules`. */
export type RuleOf<T> = Exclude<T, Row<unknown> | readonly unknown[] | undefined>;

// ---- schema/structs

/** Declares an object type. `fields` is a function if it refers to types that are declared later, or to the type itself. */
export type DeclareStruct = <F extends Fields, const L extends LaterFields = Record<never, never>>(
  name: string,
  doc: string,
  fields: F | (() => F),
  rules?: StructRules<StaticFields<NoInfer<F & AddedFields<L>>>, L>,
) => StructType<F & AddedFields<L>>;

/** Declares a union type: the JSON type of a value selects one of the forms. */
export type DeclareUnion = <F extends Partial<Record<UnionForm, Field>>>(
  name: string,
  doc: string,
  forms: () => F,
) => UnionType<F>;

/** Returns functions that declare the structs of a group version. */
export declare function structsIn(groupVersion: GroupVersion): {
  readonly struct: DeclareStruct;
  /** As `struct`, for a type that apply treats as atomic. */
  readonly atomicStruct: DeclareStruct;
  readonly union: DeclareUnion;
};

// ---- schema/subresources

export type Verb = "get" | "list" | "watch" | "create" | "update" | "patch" | "delete" | "deletecollection";

/** Metadata fields that a write to a part of the object may leave unchanged. */
export type KeptMetadata = "labels" | "annotations" | "finalizers" | "ownerReferences" | "deletionTimestamp";

/** A subresource that writes a part of the object, such as `status`. */
export interface PartSubresource<O = ApiObject> {
  readonly shape?: undefined;
  readonly verbs: readonly Verb[];
  /**
   * Metadata fields that a write to the part doesn't change; `all` means all except managed fields. Absent: the metadata of the request
   * replaces that of the live object, as in a write of the main resource.
   */
  readonly keepsMetadata?: "all" | readonly KeptMetadata[];
  /** Paths of fields that are excluded from field ownership, though the write may change them. */
  readonly unowned?: readonly (readonly string[])[];
  /** Whether a change increments `metadata.generation`, as a write of the main resource does. */
  readonly incrementsGeneration?: boolean;
  /** Copies the fields that the part may change, except metadata, from `written` to the copy of the live object. */
  readonly merge: (copy: O, written: O, context: KindContext) => void;
}

/**
 * The `status` subresource, with verbs get, patch and update. An update of the main resource doesn't change the status. A write to
 * the subresource changes only status and metadata.
 */
export interface StatusSpec<O = ApiObject> {
  /** Returns the status of a new object, which replaces the one in the request. Absent: the status of the request is kept. */
  readonly initial?: (copy: O, context: KindContext) => StatusOf<O>;
  readonly keepsMetadata?: "all" | readonly KeptMetadata[];
  readonly unowned?: readonly (readonly string[])[];
  /** Returns the status after a write to the subresource; defaults to the status of `written`. */
  readonly write?: (written: O, live: O, context: KindContext) => StatusOf<O>;
}

type StatusOf<O> = O extends {
  status?: infer S;
}
  ? S | undefined
  : unknown;

/** A subresource that connects to the workload of the object, such as `proxy` or `exec`. */
export interface ConnectSubresource {
  readonly shape: "connect";
  readonly verbs: readonly Verb[];
  /** Name of the options kind; its fields are the query parameters. */
  readonly optionsKind: string;
}

// ---- schema/types

/**
 * The types of kind declarations. A declaration is plain data: decoding, defaulting, validation, protobuf, merging and OpenAPI
 * are derived from it by the other files of this folder, and its static type by {@link Static}.
 */
export type Type = ScalarType | ListType | MapType | StructType | UnionType;

/** Names of the scalar types; `json` is any JSON value, `object` any JSON object with apiVersion and kind. */
export type ScalarName =
  | "string"
  | "bool"
  | "int32"
  | "int64"
  | "double"
  | "bytes"
  | "time"
  | "microTime"
  | "duration"
  | "quantity"
  | "intOrString"
  | "json"
  | "object"
  | "fieldsV1";

declare const staticType: unique symbol;

export interface ScalarType<T = unknown> {
  readonly shape: "scalar";
  readonly name: ScalarName;
  readonly [staticType]?: T;
}

export interface ListType<E extends Type = Type> {
  readonly shape: "list";
  readonly element: E;
}

export interface MapType<V extends Type = Type> {
  readonly shape: "map";
  readonly value: V;
}

/** The group version in which a struct is declared. */
export interface GroupVersion {
  readonly group: Group;
  readonly version: string;
}

/** An API group; its name may get the suffix of the vocabulary. */
export interface Group {
  /** For example `rbac.authorization`; empty for the core group. */
  readonly base: string;
  /** Whether the suffix of the vocabulary is added (false for `apps`, `batch`, …). */
  readonly suffixed: boolean;
}

/** The JSON types of the values of a union. */
export type UnionForm = "object" | "list" | "bool";

/** A type whose values have one of several types, selected by their JSON type; in protobuf each form has its own field number. */
export interface UnionType<F extends Partial<Record<UnionForm, Field>> = Partial<Record<UnionForm, Field>>> {
  readonly shape: "union";
  readonly name: string;
  readonly doc: string;
  readonly forms: F;
  readonly groupVersion: GroupVersion;
}

export type Fields = Readonly<Record<string, Field>>;

export interface StructType<F extends Fields = Fields> {
  readonly shape: "struct";
  readonly name: string;
  readonly doc: string;
  readonly groupVersion: GroupVersion;
  /** The fields by JSON name, in the order in which they are written; computed on first access. */
  readonly fields: F;
  /** Merged and owned as one unit by apply. */
  readonly atomic: boolean;
  readonly rules: ResolvedRules;
  /** Schema of additional members; only for custom kinds. */
  readonly open: SchemaNode | undefined;
}

/** Rules of a struct, wherever it is used. */
export interface StructRules<V, L extends LaterFields = LaterFields> {
  /** Sets defaults that depend on several fields; runs before the defaults of the structs inside. */
  readonly fill?: Rules<(copy: V, context: KindContext) => void>;
  /** Validates rules that depend on several fields. */
  readonly check?: Rules<(value: V, report: FieldReport, context: KindContext) => void>;
  /** Fields of later releases. */
  readonly later?: () => L;
}

/** The rules of a struct in one release; `released` has the declared ones if some are rows. */
export type ResolvedRules<R = StructRules<Record<string, unknown>>> = {
  readonly [K in keyof R]: K extends "later" ? R[K] : RuleOf<R[K]> | undefined;
} & {
  readonly released?: R;
};

/** The fields that releases add, replace or remove, by JSON name. The last row of a release counts; undefined removes the field. */
export type LaterFields = Readonly<Record<string, LaterField | readonly LaterField[]>>;

type LaterField = Row<Field | undefined>;

/** A validation rule of one field. It is only called for values that are present and not `""`. */
export type FieldCheck<V = never> = (value: V, report: FieldReport, context: KindContext) => void;

/** A string, or a function if it depends on the vocabulary. */
export type VocabularyString = string | ((vocabulary: Vocabulary) => string);

/** Properties of a field besides its type. */
export interface FieldFacts {
  /** Field number in protobuf; undefined for fields that exist only in JSON. */
  readonly number: number | undefined;
  /** Field numbers of the protobuf messages that contain the field, outermost first; in JSON it is inlined. */
  readonly inside: readonly number[];
  readonly doc: string;
  /** Whether the published schema lists the field as required. */
  readonly required: boolean;
  /** Whether an absent, null or `""` value is rejected with `Required value`. */
  readonly mustBeGiven: boolean;
  /** Whether an empty value is written to JSON: lists and times as null, structs as `{}`, scalars as their zero value. */
  readonly emitEmpty: boolean;
  /** Whether absent differs from the zero value (a pointer in Go), so that a zero value is kept. */
  readonly nullable: boolean;
  /** Default of an absent field. */
  readonly default: unknown;
  /** Whether the default is in the published schema. */
  readonly publishesDefault: boolean;
  /** The field is dropped unless this feature gate is on or the live object has it. */
  readonly gate: string | undefined;
  /** Value of the field while the gate is off; undefined if the field is dropped. */
  readonly gatedTo: unknown;
  readonly check: FieldCheck | undefined;
  /** The declared rules if some are rows. */
  readonly releasedCheck: Rules<FieldCheck> | undefined;
  /**
   * Whether the rules apply to an empty string, which otherwise counts as absent. Undefined: only for a nullable field with
   * allowed values, where null means absent.
   */
  readonly checkedWhenEmpty: boolean | undefined;
  /** Allowed values. */
  readonly oneOf: readonly VocabularyString[] | undefined;
  /** Only `check` is enforced; the published rules of the value and its parts are not. */
  readonly unchecked: boolean;
  /** Values with a defined meaning; others are allowed too. */
  readonly knownValues: readonly VocabularyString[] | undefined;
  /** How apply merges a list. */
  readonly listType: "atomic" | "set" | "map" | undefined;
  readonly listMapKeys: readonly string[];
  /** How apply merges a map or struct. */
  readonly mapType: "atomic" | "granular" | undefined;
  /** How a strategic merge patch treats the field. */
  readonly patchStrategy: readonly ("merge" | "replace" | "retainKeys")[];
  readonly patchMergeKey: string | undefined;
}

/** A field: its type, its properties, and methods that return a copy with another property. */
export declare class Field<T extends Type = Type, Required extends boolean = boolean> {
  readonly type: T;
  readonly facts: FieldFacts;
  readonly requiredMark: Required;
  constructor(type: T, facts: FieldFacts);
  /** Required, and always written to JSON. */
  required(): Field<T, true>;
  /** Published as required and always written, but the zero value is accepted. */
  declaredRequired(): Field<T, true>;
  /** Published as required, without another effect; for a field that validation requires. */
  publishedRequired(): Field<T, Required>;
  /** Required, but not published as required. */
  mustBeGiven(): Field<T, Required>;
  /** Always written to JSON, also if empty. */
  emitEmpty(): Field<T, Required>;
  /** Absent differs from the zero value (a pointer in Go). */
  nullable(): Field<T, Required>;
  /** Sets a default that is published in the schema. */
  default(value: unknown): Field<T, Required>;
  /** Sets a default that isn't published in the schema. */
  unpublishedDefault(value: unknown): Field<T, Required>;
  /** Enables the field by a feature gate. @param to value of the field while the gate is off; without it the field is dropped. */
  gated(gate: string, to?: unknown): Field<T, Required>;
  /** The field as part of an inlined struct; see {@link inlined}. */
  inside(number: number): Field<T, Required>;
  /** Adds a validation rule, of some releases if it is a row; several rules run in order. */
  check(rule: Released<FieldCheck<Static<T>>>): Field<T, Required>;
  /** The field with its rules in a release. */
  inRelease(release: Release): Field<T, Required>;
  /** Whether the rules apply to an empty string. */
  checkedWhenEmpty(checkedWhenEmpty?: boolean): Field<T, Required>;
  /** Allows only these values. */
  oneOf(...values: readonly VocabularyString[]): Field<T, Required>;
  /**
   * Disables the published rules of the value and its parts, which Kubernetes publishes but doesn't enforce. `check` is
   * still enforced.
   */
  unchecked(): Field<T, Required>;
  /** Documents values with a defined meaning; others are accepted too. */
  knownValues(...values: readonly VocabularyString[]): Field<T, Required>;
  /** A list, map or struct that apply treats as atomic. */
  atomic(): Field<T, Required>;
  /** A list of unique scalars that apply merges per item. */
  set(): Field<T, Required>;
  /** A list that apply merges by these keys. */
  mapBy(...keys: readonly string[]): Field<T, Required>;
  granular(): Field<T, Required>;
  /** A strategic merge patch merges this list (by `key`, or as scalars) instead of replacing it. */
  patchMerge(key?: string): Field<T, Required>;
  /** A strategic merge patch replaces this object as a whole. */
  patchReplace(): Field<T, Required>;
  /** A strategic merge patch removes the fields that aren't listed in `$retainKeys`. */
  patchRetainKeys(): Field<T, Required>;
}

/** Declares a field with protobuf number (undefined: JSON only), type and description. */
export declare function field<T extends Type>(
  number: number | undefined,
  type: T,
  doc: string,
): Field<T, false>;

export declare function list<E extends Type>(element: E): ListType<E>;

/** A map with string keys. */
export declare function map<V extends Type>(value: V): MapType<V>;

export declare const string: ScalarType<string>;

export declare const bool: ScalarType<boolean>;

export declare const int32: ScalarType<number>;

/** A 64-bit integer; a `bigint` outside of the safe range of `number`. */
export declare const int64: ScalarType<number | bigint>;

/** A number; an integer outside of the safe range of `number` is a `bigint`. */
export declare const double: ScalarType<number | bigint>;

/** Bytes; base64 in JSON. */
export declare const bytes: ScalarType<string>;

/** A time in RFC 3339 with seconds, in UTC. */
export declare const time: ScalarType<string>;

/** A time in RFC 3339 with microseconds, in UTC. */
export declare const microTime: ScalarType<string>;

/** A duration such as `1h30m`. */
export declare const duration: ScalarType<string>;

/** A quantity such as `100m` or `2Gi`. */
export declare const quantity: ScalarType<string>;

export declare const intOrString: ScalarType<string | number>;

/** Any JSON value. */
export declare const json: ScalarType<unknown>;

/** Any JSON object with apiVersion and kind. */
export declare const object: ScalarType<Record<string, unknown>>;

/** A set of field paths, as nested objects. */
export declare const fieldsV1: ScalarType<Record<string, unknown>>;

/** The TypeScript type of the values of a declared type. */
export type Static<T> =
  T extends ScalarType<infer S>
    ? S
    : T extends ListType<infer E>
      ? Static<E>[]
      : T extends MapType<infer V>
        ? Record<string, Static<V>>
        : T extends StructType<infer F>
          ? StaticFields<F>
          : T extends UnionType<infer U>
            ? StaticField<U[keyof U]>
            : never;

export type StaticFields<F extends Fields> = {
  -readonly [K in keyof F as F[K] extends Field<Type, true> ? K : never]: StaticField<F[K]>;
} & {
  -readonly [K in keyof F as F[K] extends Field<Type, true> ? never : K]?: StaticField<F[K]> | undefined;
};

type StaticField<F> = F extends Field<infer T, boolean> ? Static<T> : never;

// ---- server/explore/exploration

/**
 * Starts a controller.
 *
 * @param client its client, which faults affect.
 * @param clock its time: use it for pauses and periodic work instead of `setTimeout`, so that tests don't wait and can be repeated.
 * @returns nothing, or a promise. A promise that rejects is a controller that couldn't start; it is started again.
 */
export type ControllerStart<Objects = KnownObjects> = (
  client: ServerClient<Objects>,
  clock: Clock,
) => unknown;

/** The user of a controller. */
export interface ControllerUser {
  /** `controller` by default. */
  readonly user?: string | undefined;
  /** By default the administrators, who may do everything. */
  readonly groups?: readonly string[] | undefined;
}

/** How {@link Exploration.settle} waits. */
export interface ExplorationSettleOptions extends SettleOptions {
  /**
   * How far the controllers' clock may move on, in milliseconds; 60,000 by default.
   */
  readonly advanceMs?: number | undefined;
}

/** One run of a test under one schedule of faults. */
export interface Exploration<Objects = KnownObjects> {
  readonly server: Server<Objects>;
  /** The client of the test; faults don't affect it. */
  readonly client: ServerClient<Objects>;
  /** The faults of the schedule; the test may add rules. */
  readonly faults: Faults;
  readonly seed: number;
  /**
   * Starts a controller, and again after each of its crashes.
   *
   * @example
   * start((client, clock) => runController(client, clock));
   */
  start(controller: ControllerStart<Objects>, user?: ControllerUser): void;
  /**
   * Waits until there are no requests, watch events, writes and due timers of controllers; their clock moves on as needed.
   *
   * @throws {Error} if it doesn't become quiet: in 10 seconds, or in 2,000 requests, because a controller repeats them without end.
   */
  settle(options?: ExplorationSettleOptions): Promise<void>;
}

// ---- server/explore/explore-error

/** A test failed under a schedule of faults. The message has the seed, the faults and the call that repeats it. */
export declare class ExploreError extends Error {
  readonly seed: number;
  /** The faults that are needed for the failure. */
  readonly faults: readonly FiredFault[];
  name: string;
  constructor(
    seed: number,
    /** The faults that are needed for the failure. */
    faults: readonly FiredFault[],
    message: string,
    options: {
      readonly cause: unknown;
    },
  );
}

// ---- server/explore/explore

/** Options of {@link explore}. */
export interface ExploreOptions<Kinds extends readonly Kind[] = readonly []> {
  /** The schedules: a number means the seeds from 1 to this number. */
  readonly seeds: number | readonly number[];
  /**
   * The faults of a schedule. By default a few random ones that a real API server has, and often a crash: errors, lost answers, ends of
   * watches, stale lists, late and repeated events. Each should end by itself (`times`), so that the controller can complete its work.
   */
  readonly mix?: ((random: FaultRandom) => readonly FaultRule[]) | undefined;
  /** Options of the server; by default it has no socket. */
  readonly server?: CreateServerOptions<Kinds> | undefined;
  /** Brings the server into the state in which each run begins, for example `(server) => server.load("crds")`. Faults don't affect it. */
  readonly prepare?: ((server: Server<KnownObjects & ObjectsOf<Kinds>>) => unknown) | undefined;
  /** Maximum duration of one run, in milliseconds; 10,000 by default. */
  readonly timeoutMs?: number | undefined;
  /** Whether faults that aren't needed for the failure are left out of its message; true by default. */
  readonly shrink?: boolean | undefined;
}

/** Random choices of a schedule, the same for the same seed. */
export interface FaultRandom {
  /** Returns an integer of at least 0 and less than `limit`. */
  below(limit: number): number;
  /** Returns true with a probability from 0 to 1. */
  chance(probability: number): boolean;
  /** Returns one item of a list that isn't empty. */
  pick<T>(items: readonly T[]): T;
}

/** What {@link explore} did. */
export interface ExploreReport {
  /** Number of schedules. */
  readonly schedules: number;
  /** Number of faults that happened. */
  readonly faults: number;
  readonly durationMs: number;
}

/**
 * Runs a test of a controller under many random schedules of faults, each on a clean server. The seed decides the schedule, so a
 * failure can be repeated: the faults are the same if the controller makes the same requests, which is so for a controller in the
 * process that uses the clock of {@link Exploration.start}.
 *
 * @returns the number of schedules and faults.
 * @throws {ExploreError} at the first failure.
 *
 * @example
 * await explore({ seeds: 1000 }, async ({ client, start, settle }) => {
 *   start((api) => runController(api));
 *   await client.create(database);
 *   await settle();
 *   const { items } = await client.list({ apiVersion: "v1", kind: "Secret", namespace: "default" });
 *   expect(items).toHaveLength(1);
 * });
 */
export declare function explore<const Kinds extends readonly Kind[] = readonly []>(
  options: ExploreOptions<Kinds>,
  test: (exploration: Exploration<KnownObjects & ObjectsOf<Kinds>>) => unknown,
): Promise<ExploreReport>;

// ---- server/faults/activity

/** How {@link Faults.settle} decides that everything is quiet. */
export interface SettleOptions {
  /**
   * Time without any request, watch event or write, in milliseconds of the machine's clock; 0 by default: turns of the event loop are enough for a
   * controller in the process that uses no timers. A controller in another process, or with timers of its own, needs more.
   */
  readonly quietMs?: number | undefined;
  /** Time in which it must become quiet, in milliseconds of the machine's clock; 10 seconds by default. */
  readonly withinMs?: number | undefined;
  /** Number of requests in which it must become quiet; 10,000 by default. */
  readonly maxRequests?: number | undefined;
}

// ---- server/faults/fault-rule

/** The requests that a rule matches; a missing member matches everything. */
export interface FaultMatch {
  /**
   * Verbs of the API: `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`. By default all to which the
   * effect applies.
   */
  readonly verbs?: readonly string[] | undefined;
  /** API group as requests name it; empty for the core group. */
  readonly group?: string | undefined;
  /** Resource type, plural: `configmaps`. */
  readonly resource?: string | undefined;
  /** Subresource, such as `status`; empty for requests without one. */
  readonly subresource?: string | undefined;
  readonly namespace?: string | undefined;
  /** Name of the object. Lists and creates have none; effects on watch events match the object of the event. */
  readonly name?: string | undefined;
  readonly user?: string | undefined;
}

/**
 * What happens to a matching request or watch event. One of:
 *
 * - `error`: the request is answered with this status: 409 is AlreadyExists for a create, else Conflict; 410 (Expired) is for lists and
 *   watches; 429 has `Retry-After`. With `applied`, the request is carried out first and only its answer is replaced, as when a
 *   request times out.
 * - `disconnect`: the connection ends without an answer; a client in the process gets a `ConnectionLostError`. With `applied`, the
 *   request is carried out first.
 * - `delayMs`, `delayTurns`: the request waits, by the server's clock or for turns of the event loop. Turns make a test with a
 *   controller in the process repeatable.
 * - `staleBy`: a list or get answers from the state this many revisions ago, as a cache that is behind, with the resource version of
 *   then. Never from a state before the request's `resourceVersion`, or before a state that the same controller has seen in a list
 *   or watch of the resource type since its start; a list after a crash may go back further.
 * - `delayEventMs`, `delayEventTurns`: a watch event and all later ones of the watch arrive later.
 * - `repeatEvent`: a watch event arrives twice, as after a reconnect.
 * - `dropEvent`: a watch event is lost and the watch continues. An API server never does this; it shows whether a controller depends
 *   on each event. Not in the default mix of `explore`.
 * - `endWatch`: the watch ends before the event: `closed` as at its normal end, `expired` with an ERROR event of code 410 while lists
 *   work, `disconnected` without the end of the response. Nothing is lost: the client lists or watches again.
 * - `crash`: the user's controller stops, before or after the matching write is carried out; see {@link Faults.onCrash}.
 */
export type FaultEffect =
  | {
      readonly error: 409 | 410 | 429 | 500 | 503 | 504;
      readonly applied?: boolean;
      readonly retryAfterSeconds?: number;
    }
  | {
      readonly disconnect: true;
      readonly applied?: boolean;
    }
  | {
      readonly delayMs: number;
    }
  | {
      readonly delayTurns: number;
    }
  | {
      readonly staleBy: number;
    }
  | {
      readonly delayEventMs: number;
    }
  | {
      readonly delayEventTurns: number;
    }
  | {
      readonly repeatEvent: true;
    }
  | {
      readonly dropEvent: true;
    }
  | {
      readonly endWatch: "closed" | "expired" | "disconnected";
    }
  | {
      readonly crash: "before" | "after";
    };

/**
 * When a fault happens. Matches are counted for each user, and watch events for each user and resource type, so that the decisions
 * depend only on the order of one user's requests.
 *
 * @example
 * // The second write of the controller is carried out, and its answer is lost.
 * const rule: FaultRule = { on: { user: "operator" }, after: 1, times: 1, effect: { crash: "after" } };
 */
export interface FaultRule {
  /** The requests, or for effects on events the watches; all by default. */
  readonly on?: FaultMatch | undefined;
  /** Number of matches that are left alone first; 0 by default. */
  readonly after?: number | undefined;
  /** Of the following, only each such one, beginning with the first: 2 is every other. 1 by default. */
  readonly every?: number | undefined;
  /** Probability from 0 to 1, decided by the seed; 1 by default. */
  readonly probability?: number | undefined;
  /** Maximum number of faults; 1 for a crash, otherwise unlimited by default. */
  readonly times?: number | undefined;
  readonly effect: FaultEffect;
}

// ---- server/faults/faults

/** A rule that was added. */
export interface FaultHandle {
  /** Number of faults of the rule so far. */
  readonly count: number;
  /** Removes the rule. */
  remove(): void;
}

/**
 * Faults for tests of controllers: errors, lost answers, stale reads, disturbed watches and crashes, chosen by rules and a seed. They
 * affect requests over HTTP and of `server.as()`, after their authorization; never those of `server.client` and of the server's own
 * controllers. Watches that began before the first use of `server.faults` are not affected.
 *
 * @example
 * const rule = server.faults.add({
 *   on: { user: "operator", verbs: ["create"], resource: "secrets" },
 *   times: 1,
 *   effect: { error: 500 },
 * });
 * await runController(server.as("operator", ["system:masters"]));
 * await server.faults.settle();
 * expect(rule.count).toBe(1);
 */
export declare class Faults {
  /** Sets the seed of the rules with a probability, and starts their counts again. The first seed is 1. */
  seed(seed: number): void;
  /**
   * Adds a rule. Several rules may affect one request: their delays add up, and the first error, lost connection or crash counts.
   *
   * @throws {TypeError} if the rule has a wrong value or an unknown effect.
   */
  add(rule: FaultRule): FaultHandle;
  /** The faults that happened since the last {@link clear}, in order. */
  get log(): readonly FiredFault[];
  /** Removes all rules and empties the log. Crashed controllers stay stopped. */
  clear(): void;
  /**
   * Stops the controller of a user, as the effect `crash` does. Its watches end, and clients made by `server.as()` before get no more
   * answers; over HTTP connections end until {@link restart}.
   */
  crash(user: string): void;
  /** Accepts requests of a user again after a crash. A controller in the process needs a new client of `server.as()`. */
  restart(user: string): void;
  /**
   * Calls a function one turn of the event loop after each crash of a user's controller, to start it again; {@link restart} isn't
   * needed. An error of the function is thrown by {@link settle}.
   *
   * @example
   * const start = () => runController(server.as("operator", ["system:masters"]));
   * server.faults.onCrash("operator", start);
   * await start();
   */
  onCrash(
    user: string,
    callback: () => void | Promise<void>,
  ): {
    remove(): void;
  };
  /**
   * Waits until there are no more requests of clients, watch events and writes.
   *
   * @throws {Error} if it doesn't become quiet; an error of a function of {@link onCrash}.
   */
  settle(options?: SettleOptions): Promise<void>;
  /** Whether the request is of a client in the process from before a crash. */
  /** Returns the error of a request, after a crash if the fault is one. */
  /** Decides about a request; delays and stale reads add up, the first failure counts. */
  /** Calls back after the delays of watch events. */
}

// ---- server/faults/fired-fault

/** A fault that happened. */
export interface FiredFault {
  /** Rule, number of the match and user, as text; the same in a run with the same seed and requests. */
  readonly id: string;
  readonly user: string;
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  /** Name of the object, or of that of the watch event. */
  readonly name: string;
  readonly effect: FaultEffect;
  /** How many requests the user had made. */
  readonly request: number;
  /** Request and effect in one line. */
  readonly text: string;
}

// ---- server/library/preview-result

/** Options of {@link ServerTools.preview}. */
export interface PreviewOptions extends Omit<ApplyOptions, "dryRun"> {
  /** Name of the workspace in which the objects would be applied; by default the server outside of workspaces. */
  readonly workspace?: string | undefined;
  /** Shows the deletion of the objects, in the reverse order, instead; false by default. */
  readonly delete?: boolean | undefined;
  /** Name of the user whose rights decide; by default the administrator. */
  readonly user?: string | undefined;
  /** Groups of `user`, without those that authentication adds. */
  readonly groups?: readonly string[] | undefined;
  /** Time for the controllers to settle, in milliseconds of the machine's clock; 30,000 by default. */
  readonly timeoutMs?: number | undefined;
}

type PreviewStatus = NonNullable<WorkspacePreview["status"]>;

/** The members that every preview has. */
type Member = "message" | "results" | "objects" | "consequences" | "settled";

/** The changes that objects would cause: the status of a WorkspacePreview, see [preview](preview.md#by-api). */
export type PreviewResult = PreviewStatus & {
  [K in Member]: NonNullable<PreviewStatus[K]>;
};

// ---- server/library/server-client

/** What an action is about, and who performs it; see {@link ServerClient.can}. */
export interface AccessOptions {
  /** Full name of the API group. By default the group that serves the resource; `""` is the core group. */
  readonly group?: string | undefined;
  /** By default the cluster, or all namespaces. Ignored for a resource without namespaces. */
  readonly namespace?: string | undefined;
  /** Name of the object; by default any. */
  readonly name?: string | undefined;
  readonly subresource?: string | undefined;
  /** Name of the user; by default the user of the client. */
  readonly user?: string | undefined;
  /** Groups of `user`, without those that authentication adds. */
  readonly groups?: readonly string[] | undefined;
}

/** Why an action is allowed or not: the status of an AccessExplanation, and its text. */
export interface AccessAnswer extends ExplanationStatus {
  /** The explanation in lines, as `plinth auth why` prints it. */
  readonly text: string;
}

/** Options of {@link ServerClient.apply}. */
export interface ApplyOptions {
  /** Name of the field manager; `plinth` by default. */
  readonly fieldManager?: string | undefined;
  /** Takes over fields that other managers own; false by default, which is a Conflict. */
  readonly force?: boolean | undefined;
  /** Runs all checks and stores nothing; false by default. */
  readonly dryRun?: boolean | undefined;
  /** Namespace of objects that name none and whose kind has namespaces; `default` by default. */
  readonly namespace?: string | undefined;
}

/** Options of {@link ServerClient.transaction}. */
export interface TransactionOptions {
  /** Runs all checks and stores nothing; false by default. */
  readonly dryRun?: boolean | undefined;
}

/** The client in a transaction: it sees what the transaction has written, which no other client does before it is committed. */
export type TransactionClient<Objects> = Pick<
  ServerClient<Objects>,
  "get" | "find" | "create" | "update" | "patch" | "apply" | "delete"
>;

/** What a user or field manager did in an interval; see {@link ServerClient.undo}. */
export interface ChangeSet {
  /** Name of the user; any by default, if `manager` is set. */
  readonly user?: string | undefined;
  /** Name of the field manager; any by default, if `user` is set. */
  readonly manager?: string | undefined;
  /** Time of the first write; a text is in RFC 3339 form. */
  readonly from: Date | string;
  /** Time of the last write, to the second; now by default. */
  readonly to?: Date | string | undefined;
  /** Resources such as `configmaps` and `deployments.apps`; all whose history is kept by default. */
  readonly resources?: readonly string[] | undefined;
  /** Namespace of the objects; by default all, and cluster-scoped objects. */
  readonly namespace?: string | undefined;
}

type UndoStatus = NonNullable<Undo["status"]>;

/** What an undo did, or would do: the status of an Undo. */
export interface UndoResult extends UndoStatus {
  /** Summary in a sentence. */
  readonly message: string;
  /** The objects of the change, each with what is done and the changed fields. */
  readonly objects: NonNullable<UndoStatus["objects"]>;
}

/** Options of {@link ServerClient.undo}. */
export interface UndoOptions {
  /** Computes what would be done, runs all checks and stores nothing; conflicts are in the result. False by default. */
  readonly dryRun?: boolean | undefined;
}

/** Options of {@link ServerClient.history}. */
export interface HistoryOptions {
  /** Whether each version has the object; false by default. */
  readonly contents?: boolean | undefined;
}

/** Options of {@link ServerClient.waitFor}. */
export interface WaitOptions {
  /** Time limit in milliseconds of the machine's clock, also with a clock of the program's own; 4000 by default. */
  readonly timeoutMs?: number | undefined;
}

/** Options of {@link ServerTools.kubeconfigFile}. */
export interface KubeconfigOptions {
  /** Name of the user; by default the administrator, with the token of this run. */
  readonly user?: string | undefined;
  /** Groups of `user`, without those that authentication adds. */
  readonly groups?: readonly string[] | undefined;
  /** Path of the file, which is replaced if it exists; by default in a temporary folder. */
  readonly path?: string | undefined;
}

/**
 * The client of a server in the process: the API without a socket, and what tests need besides.
 *
 * `create` also answers reviews, such as a SubjectAccessReview or TokenReview: it returns the object with its status.
 *
 * @typeParam Objects the types of the objects, by `apiVersion kind`.
 */
export interface ServerClient<Objects> extends TypedClient<Objects> {
  /**
   * Returns the same client with the types of the objects of a definition. No request is made: create the definition with this client, or before.
   *
   * @param definition the result of `definitionOf`, from which the types are inferred.
   *
   * @example
   * const definition = definitionOf(Order, { vocabulary: "kubernetes" });
   * await server.client.apply(definition);
   * const client = server.client.withTypesOf(definition);
   */
  withTypesOf<Added>(definition: DefinitionManifest<Added>): ServerClient<Objects & Added>;
  /**
   * Returns whether the user of the client, or another one, is allowed an action. Asking needs no permission.
   *
   * @param verb API verb such as `get` or `create`; for a path the HTTP method in lower case.
   * @param resourceOrPath plural name of a resource, optionally with a subresource (`pods/log`), or a path that begins with `/`.
   * @throws {StatusError} NotFound or BadRequest if the group isn't set and no group, or more than one, has the resource.
   * @throws {TypeError} if the user or the groups can't be used.
   *
   * @example
   * await devi.can("update", "configmaps", { namespace: "shop" });
   * await server.client.can("get", "/metrics", { user: "devi", groups: ["operators"] });
   */
  can(verb: string, resourceOrPath: string, options?: AccessOptions): Promise<boolean>;
  /**
   * Explains an action, as an AccessExplanation does: which rules allow it, or which come close. Parameters and errors are those of
   * {@link ServerClient.can}.
   *
   * @example
   * const { allowed, text } = await devi.why("update", "secrets", { namespace: "shop" });
   * assert(allowed, text);
   */
  why(verb: string, resourceOrPath: string, options?: AccessOptions): Promise<AccessAnswer>;
  /**
   * Applies objects in order (server-side apply): creates each, or merges it into the stored one and records the fields of its manager.
   *
   * @param source an object, a list of objects, the text of YAML or JSON manifests, or the path of a file or of a folder with .yaml,
   *   .yml and .json files. A text of one line that doesn't begin with `{` or `[` is a path. A `List` is replaced by its objects.
   * @returns the objects as stored.
   * @throws {StatusError} BadRequest if the source can't be read; otherwise the error of the API, and the objects before the rejected one
   *   stay applied. The message begins with the file and the number of the document or object, unless there is only one object.
   *
   * @example
   * await client.apply("manifests/shop.yaml");
   * const [map] = await client.apply({
   *   apiVersion: "v1",
   *   kind: "ConfigMap",
   *   metadata: { name: "settings", namespace: "shop" },
   *   data: { color: "blue" },
   * }, { fieldManager: "operator" });
   */
  apply<V extends string, K extends string>(
    object: {
      readonly apiVersion: V;
      readonly kind: K;
      readonly [field: string]: unknown;
    },
    options?: ApplyOptions,
  ): Promise<[ObjectAt<Objects, V, K>]>;
  apply(source: object | readonly object[] | string, options?: ApplyOptions): Promise<ApiObject[]>;
  /**
   * Commits several writes together, at one resource version: all of them, or none if the work or one of its writes fails. The resource
   * version of what the work has written isn't known before its end; until then the objects have a provisional one.
   *
   * @param work writes with the client that it gets. It is called again if other writes come between, so it should do nothing else.
   * @returns what the work returned.
   * @throws {StatusError} the error of a write, and nothing is written; Conflict if other writes come between too often.
   *
   * @example
   * await client.transaction(async (t) => {
   *   const account = await t.get({ apiVersion: "v1", kind: "ConfigMap", name: "stock", namespace: "shop" });
   *   await t.update({ ...account, data: { left: String(Number(account.data?.left) - 1) } });
   *   await t.create({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "order-1", namespace: "shop" } });
   * });
   */
  transaction<T>(
    work: (client: TransactionClient<Objects>) => Promise<T>,
    options?: TransactionOptions,
  ): Promise<T>;
  /**
   * Takes back what a change did, in one transaction and with the rights of the client: fields get their values from before it, what it
   * created is deleted, what it deleted is created again. What others have changed elsewhere since stays. It needs kept history
   * (`keptHistory`).
   *
   * @param change audit id of a request or transaction, or what a user or field manager did in an interval.
   * @returns what was done, by object and field.
   * @throws {StatusError} Conflict with a cause for each field that others have changed since, and nothing is written; NotFound if the
   *   history has no such change; BadRequest if no history is kept.
   *
   * @example
   * const { message, objects } = await client.undo({ manager: "importer", from: "2026-01-01T00:00:00Z" }, { dryRun: true });
   */
  undo(change: string | ChangeSet, options?: UndoOptions): Promise<UndoResult>;
  /**
   * Returns the versions of an object, newest first, with who made them; also those of a deleted one. The server must keep the history of
   * the kind (option `keptHistory`). It needs the right to get the object now; for a Secret, also the right to get `secrets/history`.
   *
   * @throws {StatusError} during the iteration: NotFound if the history isn't kept or has no such object; Forbidden.
   *
   * @example
   * const settings = { apiVersion: "v1", kind: "ConfigMap", name: "settings", namespace: "shop" } as const;
   * for await (const { user, verb, time, object } of client.history(settings, { contents: true }))
   *   console.log(time, user, verb, object?.data);
   */
  history<V extends string, K extends string>(
    reference: OneOf<Objects, V, K>,
    options?: HistoryOptions,
  ): AsyncIterable<VersionOf<ObjectAt<Objects, V, K>>>;
  /**
   * Enters a workspace of the server, with the rights that the user of the client has there; see [branches](branches.md).
   *
   * @throws {OptionsError} if the server doesn't serve workspaces (option `runtimeConfig`), or the client is one of a workspace.
   * @throws {StatusError} NotFound, or Forbidden without the verb `access` on the workspace.
   *
   * @example
   * await server.workspace("trial", {});
   * const trial = await client.workspace("trial");
   * await trial.client.apply("manifests/shop.yaml");
   * console.log((await trial.diff()).text);
   * const { conflicts = [] } = await trial.merge({ dryRun: true });
   * if (conflicts.length === 0) await trial.merge();
   */
  workspace(name: string): Promise<WorkspaceClient<Objects>>;
  /**
   * Waits until an object is in a state: reads it, then watches it, without polling.
   *
   * @param predicate is called with the object and after each change, in order; with undefined while there is no such object.
   * @returns the object for which the predicate returned true; undefined if this was the absent object.
   * @throws {StatusError} Timeout, with the last state of the object; or the error of a list or watch, for example Forbidden. If the
   *   predicate throws, its error.
   *
   * @example
   * await client.waitFor(pod, (object) => object?.status?.phase === "Running", { timeoutMs: 1000 });
   * await client.waitFor(pod, (object) => object === undefined);
   */
  waitFor<V extends string, K extends string>(
    reference: OneOf<Objects, V, K>,
    predicate: (object: ObjectAt<Objects, V, K> | undefined) => boolean,
    options?: WaitOptions,
  ): Promise<ObjectAt<Objects, V, K> | undefined>;
}

/**
 * A workspace, and the comparisons, merges and rebases of a user.
 *
 * @typeParam Objects the types of the objects that it serves, by `apiVersion kind`.
 */
export interface WorkspaceClient<Objects> {
  /** Name of the workspace. */
  readonly name: string;
  /** Client of the objects in the workspace. A rebase ends it: the workspace has another one afterwards. */
  readonly client: ServerClient<Objects>;
  /**
   * Compares the workspace with its base, or another workspace, in the objects that were changed.
   *
   * @throws {StatusError} the error of the API, such as Forbidden.
   */
  diff(options?: WorkspaceDiffOptions): Promise<WorkspaceDiffResult>;
  /**
   * Merges what the workspace has changed into its base, or another workspace, in one transaction.
   *
   * @throws {StatusError} Conflict with a cause for each conflict, and nothing is written; the error of a write.
   */
  merge(options?: WorkspaceMergeOptions): Promise<WorkspaceMergeResult>;
  /**
   * Moves the workspace to the state of its base as it is now; what the workspace has changed stays.
   *
   * @throws {StatusError} Conflict with a cause for each conflict, and nothing is written.
   */
  rebase(options?: WorkspaceRebaseOptions): Promise<WorkspaceMergeResult>;
}

// ---- server/library/server-tools

/**
 * What a server in the process offers to tests.
 *
 * @typeParam Objects the types of the objects that the server serves, by `apiVersion kind`.
 */
export declare abstract class ServerTools<Objects> {
  /** Client with the administrator's rights that works without a socket. */
  get client(): ServerClient<Objects>;
  /**
   * Returns a client whose requests are authorized as a user: a denied one throws a `StatusError` with reason `Forbidden`, as over
   * HTTP. Admission and field ownership see the user.
   *
   * @param groups groups of the user. Those that authentication adds, such as `system:authenticated`, are added.
   * @throws {TypeError} if the name is empty.
   *
   * @example
   * const devi = server.as("devi", ["shop-developers"]);
   * await devi.list({ apiVersion: "v1", kind: "ConfigMap", namespace: "shop" });
   */
  as(user: string, groups?: readonly string[]): ServerClient<Objects>;
  /**
   * Opens a workspace of this server, and creates it if there is none of the name: for tests that share a server, and for branches.
   *
   * @param from the state with which a new workspace begins, `{}` for that of this server; by default it has default objects only.
   * @throws {OptionsError} if the server doesn't serve workspaces (option `runtimeConfig`).
   * @throws {StatusError} Invalid if the name or `from` can't be used; AlreadyExists with `from`.
   *
   * @example
   * await using shop = await server.workspace("shop");
   * await shop.client.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "only-there" } });
   */
  workspace(name: string, from?: WorkspaceSource): Promise<TestWorkspace<Objects>>;
  /**
   * Applies the manifests of files and folders as the administrator: CustomResourceDefinitions first, then, when all of them are established,
   * namespaces, and then the other objects in the order of the files. Objects without a namespace are created in `default`.
   *
   * @param paths paths of .yaml, .yml or .json files, or of folders with such files; subfolders are not read.
   * @returns the objects as stored, in the order in which they were applied.
   * @throws {StatusError} BadRequest if a file can't be read; Timeout if a definition doesn't become established; otherwise the error of
   *   the API. The message begins with the file, and the number of the document if it has several.
   *
   * @example
   * await server.load("config/crds", "test/manifests");
   */
  load(...paths: readonly string[]): Promise<ApiObject[]>;
  /**
   * Takes a change back with the administrator's rights; see {@link ServerClient.undo}.
   *
   * @example
   * await server.undo({ user: "devi", from: "2026-01-01T00:00:00Z", namespace: "shop" });
   */
  undo(change: string | ChangeSet, options?: UndoOptions): Promise<UndoResult>;
  /** Shows what an apply of the objects would do, controllers included, in a branch; see [preview](preview.md). Refused objects are in the result. */
  preview(source: object | readonly object[] | string, options?: PreviewOptions): Promise<PreviewResult>;
  /**
   * The newest requests over HTTP and of the clients of {@link as}, for assertions. Requests of {@link client} are not recorded.
   *
   * @throws {Error} unless the server was created with `recordRequests: true`.
   *
   * @example
   * expect(server.requests.filter({ verb: "delete", resource: "secrets" })).toEqual([]);
   */
  get requests(): RequestLog;
  /**
   * The manual clock of the server.
   *
   * @throws {Error} unless the server was created with `clock: manualClock()`.
   *
   * @example
   * await server.clock.advance(60_000);
   */
  get clock(): ManualClock;
  /** URL of the server for this machine, for example `https://127.0.0.1:6443`; undefined without a socket. */
  abstract get url(): string | undefined;
  /** PEM of the CA that clients should trust; undefined with an operator's certificate. */
  abstract get caCertificate(): string | undefined;
  /** Bearer token of the administrator, valid while the server runs. */
  abstract get adminToken(): string;
  /**
   * Writes a kubeconfig to a file with mode 0600, for programs such as kubectl. Another user than the administrator gets a client certificate
   * of the server's own authority.
   *
   * @returns the absolute path of the file. A file in the temporary folder is removed when the server stops.
   * @throws {Error} if the server has no socket, is closed, or has no authority to issue the certificate; or if the file can't be written.
   * @throws {TypeError} if the user or the groups can't be used.
   *
   * @example
   * execFileSync("kubectl", ["--kubeconfig", server.kubeconfigFile({ user: "devi", groups: ["shop-developers"] }), "get", "pods"]);
   */
  kubeconfigFile(options?: KubeconfigOptions): string;
  /** Stops the server. */
  abstract close(): Promise<void>;
  /**
   * Calls {@link close} at the end of the block that declares the server with `await using`.
   *
   * @example
   * await using server = await createServer({ port: false });
   */
  [Symbol.asyncDispose](): Promise<void>;
  /**
   * Returns all objects of the server as they are at present, in constant time. Await your own writes before: a write that is in progress
   * may be missing.
   *
   * @throws {OptionsError} if the objects aren't stored in memory.
   *
   * @example
   * const before = server.snapshot();
   * await server.client.delete({ apiVersion: "v1", kind: "Namespace", name: "shop" });
   * await server.restore(before);
   */
  snapshot(): Snapshot;
  /**
   * Brings the objects back to a snapshot of this server, of one of its forks or of its origin: afterwards the server has exactly the
   * objects of the snapshot, with the same uids. These are ordinary writes: open watches receive them as events, a changed object gets a new
   * resource version, and an update with an older one is a conflict. An object that was deleted and created again in between is deleted and
   * created. When the promise resolves, requests are authorized and admitted by the restored objects. Controllers react afterwards, as to
   * other writes.
   *
   * The objects with which a server publishes its own address don't change when a snapshot of another server is restored.
   *
   * @throws {OptionsError} if the objects aren't stored in memory.
   * @throws {TypeError} if the snapshot belongs to an unrelated server.
   */
  restore(snapshot: Snapshot): Promise<void>;
  /**
   * Brings the objects back to their state after the start of this server, or of this fork; see {@link ServerTools.restore}.
   *
   * @throws {OptionsError} if the objects aren't stored in memory.
   *
   * @example
   * afterEach(() => server.reset());
   */
  reset(): Promise<void>;
  /**
   * Faults for tests of controllers: errors, lost answers, stale reads, disturbed watches and crashes. Use it before the controller
   * starts; nothing is intercepted before the first use.
   *
   * @example
   * server.faults.add({ on: { user: "operator", verbs: ["update"] }, times: 1, effect: { error: 409 } });
   */
  get faults(): Faults;
}

// ---- server/library/snapshots

/**
 * All objects of a server at one time; see {@link ServerTools.snapshot}. It takes little memory, and stays usable after its server is closed.
 *
 * @example
 * const before = server.snapshot();
 * await server.client.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "team-a" } });
 * await server.restore(before);
 */
export interface Snapshot {
  /** The resource version of the newest write that the snapshot includes. */
  readonly resourceVersion: string;
}

// ---- server/library/test-certificate

/** A certificate for a service of a test, such as a webhook, and the CA that signed it. All are PEM texts. */
export interface TestCertificate {
  readonly cert: string;
  readonly key: string;
  /** Certificate of the CA, for `ca` of a client; in base64 for `caBundle` of a webhook configuration. */
  readonly ca: string;
}

/**
 * Creates a CA and a serving certificate for a service of a test, such as an admission webhook. It is valid for a year.
 *
 * @param hosts names and IP addresses of the service; for a service inside of a cluster `NAME.NAMESPACE.svc`.
 * @throws {TypeError} if there is no host, or one is neither a DNS name nor an IP address.
 *
 * @example
 * const { cert, key, ca } = createTestCertificate(["127.0.0.1"]);
 * const webhook = https.createServer({ cert, key }, handler);
 */
export declare function createTestCertificate(hosts: readonly string[]): TestCertificate;

// ---- server/library/test-workspace

/** The state with which a workspace begins: `spec.from` of a Workspace. */
export type WorkspaceSource = NonNullable<NonNullable<Workspace["spec"]>["from"]>;

/**
 * A workspace of a server in the process, with the rights of the server's administrator.
 *
 * @typeParam Objects the types of the objects that it serves, by `apiVersion kind`.
 */
export interface TestWorkspace<Objects> extends WorkspaceClient<Objects> {
  /** URL of the workspace for this machine; undefined if the server has no socket. */
  readonly url: string | undefined;
  /**
   * Returns a client whose requests are authorized as a user by the roles of the workspace, as {@link Server.as}.
   *
   * @throws {StatusError} Forbidden if the user may not enter the workspace.
   */
  as(user: string, groups?: readonly string[]): Promise<ServerClient<Objects>>;
  /** Deletes the workspace with its objects. */
  delete(): Promise<void>;
  /** Calls {@link delete} at the end of the block that declares the workspace with `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

// ---- server/library/workspace-results

/** Options of {@link WorkspaceClient.diff}. */
export interface WorkspaceDiffOptions {
  /** Name of the workspace with which it is compared; by default its base is compared with it. */
  readonly to?: string | undefined;
  /** Compares with the base at the time when the workspace began, instead of now; false by default. Excludes `to`. */
  readonly sinceStart?: boolean | undefined;
}

/** Options of {@link WorkspaceClient.rebase}. */
export interface WorkspaceRebaseOptions {
  /** State of the base with which the workspace begins afterwards; the newest by default. */
  readonly resourceVersion?: string | undefined;
  /** Values of conflicts: `ours` are those of the side that is written, `theirs` those of the other one. By default they are errors. */
  readonly strategy?: "ours" | "theirs" | undefined;
  /** Runs all checks and stores nothing; conflicts are in the result. False by default. */
  readonly dryRun?: boolean | undefined;
}

/** Options of {@link WorkspaceClient.merge}. */
export interface WorkspaceMergeOptions extends Omit<WorkspaceRebaseOptions, "resourceVersion"> {
  /** Name of the workspace into which it is merged; its base by default. */
  readonly into?: string | undefined;
  /** Name of the field manager; `plinth` by default. */
  readonly fieldManager?: string | undefined;
}

type DiffStatus = NonNullable<WorkspaceDiff["status"]>;

/** What differs: the status of a WorkspaceDiff, and its text. */
export interface WorkspaceDiffResult extends DiffStatus {
  /** Summary in a sentence. */
  readonly message: string;
  /** The objects that differ, each with its fields. */
  readonly objects: NonNullable<DiffStatus["objects"]>;
  /** The difference in lines, as `plinth diff` prints it. */
  readonly text: string;
}

type MergeStatus = NonNullable<WorkspaceMerge["status"]>;

/** What a merge or rebase did, or would do: the status of a WorkspaceMerge or WorkspaceRebase, and its text. */
export interface WorkspaceMergeResult extends MergeStatus {
  /** Summary in a sentence. */
  readonly message: string;
  /** The objects that are written, and those with conflicts. */
  readonly objects: NonNullable<MergeStatus["objects"]>;
  /** The result in lines, as `plinth merge` prints it. */
  readonly text: string;
}

// ---- server/options/extensions

/** Extensions of the embedding program. `docs/extensions.md` describes when the server calls each. */
export interface Extensions<Kinds extends readonly Kind[] = readonly Kind[]> {
  /** Kinds in groups of the program, served like the built-in kinds. */
  readonly kinds?: Kinds;
  /** Called after the built-in plugins, and before admission webhooks, ResourceQuota and the escalation check. */
  readonly admissionPlugins?: readonly AdmissionPlugin[];
  /** Called in order after the built-in methods; if none accepts the request, it is anonymous. */
  readonly authenticators?: readonly NamedAuthenticator[];
  /** Called in the order of `authorizationModes`; those that it doesn't name are called after all modes. */
  readonly authorizers?: readonly NamedAuthorizer[];
  /** Started after the built-in controllers. */
  readonly controllers?: readonly Controller[];
}

// ---- server/options/library-options

/**
 * The options of {@link createServer}; everything has a default that suits tests.
 *
 * @typeParam Kinds the kinds that the program adds.
 */
export interface CreateServerOptions<Kinds extends readonly Kind[] = readonly Kind[]>
  extends Omit<ValueOptions, "storage">, Extensions<Kinds>, TestOptions {
  /**
   * Where objects are stored; by default in memory. A store of the program's own, which passes the suite in
   * `plinth/storage-conformance`, stays open when the server stops.
   */
  readonly storage?: StorageOptions | Store | undefined;
  /** Source of the time, for tests: see `manualClock`. By default the clock of the machine. */
  readonly clock?: Clock | undefined;
  /** Receives the log; by default nothing is logged. */
  readonly log?: Logger | undefined;
}

// ---- server/options/option-types

/** Where objects are stored. */
export type StorageOptions =
  | {
      /** Storage engine: embedded, memory, postgres or etcd3 (in a configuration file and in createServer: etcd). */
      readonly engine: "embedded";
      /** Folder of the embedded store. The program uses one in `--data-dir`. */
      readonly dir: string;
    }
  | {
      /** Storage engine: embedded, memory, postgres or etcd3 (in a configuration file and in createServer: etcd). */
      readonly engine: "memory";
    }
  | {
      /** Storage engine: embedded, memory, postgres or etcd3 (in a configuration file and in createServer: etcd). */
      readonly engine: "etcd";
      /** Addresses of an etcd cluster, comma separated; implies `storage.engine`=etcd3. */
      readonly endpoints: readonly string[];
      /** CA certificates of the etcd cluster (PEM). */
      readonly caFile?: string | undefined;
      /** Client certificate of the server for etcd (PEM). */
      readonly certFile?: string | undefined;
      /** Key of `storage.certFile` (PEM). */
      readonly keyFile?: string | undefined;
      /** Prefix of all keys in etcd. (default "/registry") */
      readonly prefix?: string | undefined;
    }
  | {
      /** Storage engine: embedded, memory, postgres or etcd3 (in a configuration file and in createServer: etcd). */
      readonly engine: "postgres";
      /**
       * URL of a PostgreSQL database, postgres://USER:PASSWORD@HOST:PORT/DATABASE; implies `storage.engine`=postgres.
       * Other users of the machine can see flags: give a password in the environment or in `storage.urlFile`.
       */
      readonly url?: string | undefined;
      /** File with the URL of a PostgreSQL database; implies `storage.engine`=postgres. */
      readonly urlFile?: string | undefined;
      /** Schema of the tables in the database, which the server creates. (default "plinth") */
      readonly schema?: string | undefined;
    };

/** Encryption of stored objects. */
export interface EncryptionOptions {
  /** Configuration with the keys that encrypt stored objects, by resource. */
  readonly configFile: string;
  /** Read `encryption.configFile` again when it changes. (default false) */
  readonly automaticReload?: boolean | undefined;
}

/** Limits on concurrent requests. */
export interface FlowOptions {
  /** Schedule requests by flow schemas and priority levels; otherwise reject requests above the limits. (default true) */
  readonly fair?: boolean | undefined;
  /**
   * Maximum number of concurrent reading requests; 0 for no limit. With priority and fairness, a part of all seats.
   * (default 400)
   */
  readonly maxReading?: number | undefined;
  /**
   * Maximum number of concurrent changing requests; 0 for no limit. With priority and fairness, the other part of all
   * seats. (default 200)
   */
  readonly maxChanging?: number | undefined;
}

/** TLS versions and cipher suites of clients. */
export interface TlsOptions {
  /** Minimum TLS version of clients: VersionTLS10 to VersionTLS13. (default "VersionTLS12") */
  readonly minVersion?: string | undefined;
  /** Allowed cipher suites of TLS 1.2, by their IANA names; those of TLS 1.3 are always allowed. (default []) */
  readonly cipherSuites?: readonly string[] | undefined;
}

/** Tokens of service accounts (spec: conventions 5.5). */
export interface ServiceAccountOptions {
  /**
   * Accepted issuers of service account tokens; the first one issues new tokens. Default: the issuer of the
   * vocabulary. (default [])
   */
  readonly issuers?: readonly string[] | undefined;
  /**
   * Files with RSA or ECDSA keys, public or private (PEM), that verify service account tokens. Default:
   * `certificateFiles.key`. (default [])
   */
  readonly keyFiles?: readonly string[] | undefined;
  /** Private key that signs service account tokens (PEM). Default: the server generates one. */
  readonly signingKeyFile?: string | undefined;
  /** Reject a token from a Secret if the Secret or its service account no longer exists. (default true) */
  readonly lookup?: boolean | undefined;
  /** Longest lifetime of a requested token, at least 1h; 0s for no limit. (default 0) */
  readonly maxExpirationMs?: number | undefined;
  /**
   * Extend the lifetime of tokens injected into pods to a year, and count uses after the requested lifetime. (default
   * true)
   */
  readonly extendExpiration?: boolean | undefined;
  /** Published URL (https) of the keys that verify service account tokens, if it isn't below the issuer. */
  readonly jwksUri?: string | undefined;
}

/** A webhook that authenticates tokens (spec: conventions 5.7). */
export interface TokenWebhookOptions {
  /** Client configuration of a webhook that authenticates the tokens that no other authenticator accepts. */
  readonly configFile: string;
  /** Version of the TokenReviews sent to that webhook: v1 or v1beta1. (default "v1beta1") */
  readonly version?: "v1" | "v1beta1" | undefined;
  /** How long responses of that webhook are cached. (default 120000) */
  readonly cacheMs?: number | undefined;
}

/** An OpenID Connect provider whose ID tokens are accepted (spec: conventions 5.6). */
export interface OidcOptions {
  /** https URL of the OpenID Connect provider whose ID tokens are accepted. */
  readonly issuerUrl: string;
  /** Client ID that must be in the audience of ID tokens; requires `authentication.oidc.issuerUrl`. */
  readonly clientId: string;
  /** Claim with the user name. (default "sub") */
  readonly usernameClaim?: string | undefined;
  /** Prefix of user names; - for none. Default: the issuer and #, but none for the claim email. */
  readonly usernamePrefix?: string | undefined;
  /** Claim with the groups of the user. Default: no groups. */
  readonly groupsClaim?: string | undefined;
  /** Prefix of groups. (default "") */
  readonly groupsPrefix?: string | undefined;
  /** KEY=VALUE claims that an ID token must have. (default []) */
  readonly requiredClaims?: readonly string[] | undefined;
  /** CA certificates of the provider (PEM). Default: those of the operating system. */
  readonly caFile?: string | undefined;
  /** Accepted signing algorithms of ID tokens. (default ["RS256"]) */
  readonly signingAlgorithms?: readonly string[] | undefined;
}

/** An authenticating proxy, which passes the user in request headers (spec: conventions 5.8). */
export interface ProxyOptions {
  /** CA certificates of the proxies that authenticate users and pass them in headers (PEM). */
  readonly caFile: string;
  /** Headers with the user name; the first one with a value counts. Requires `authentication.proxy.caFile`. */
  readonly usernameHeaders: readonly string[];
  /**
   * Headers with the uid of the user; the first one with a value counts. X-Remote-Uid must be among them. Requires
   * the feature gate RemoteRequestHeaderUID (on from release 1.33). (default [])
   */
  readonly uidHeaders?: readonly string[] | undefined;
  /** Headers with the groups of the user. (default []) */
  readonly groupHeaders?: readonly string[] | undefined;
  /** Prefixes of headers with extra attributes of the user. (default []) */
  readonly extraHeaderPrefixes?: readonly string[] | undefined;
  /** Allowed common names of the proxies' certificates. Default: any. (default []) */
  readonly allowedNames?: readonly string[] | undefined;
}

/** Authentication beside client certificates and static tokens. */
export interface AuthenticationOptions {
  /** Configuration with the trusted issuers of tokens and the anonymous requests. Reloaded when it changes. */
  readonly configFile?: string | undefined;
  /** Audiences of tokens for this server, comma separated. Default: the issuers. (default []) */
  readonly apiAudiences?: readonly string[] | undefined;
  /** Tokens of service accounts (spec: conventions 5.5). */
  readonly serviceAccounts?: ServiceAccountOptions | undefined;
  /** Accept bootstrap tokens, which are Secrets in the system namespace. (default false) */
  readonly bootstrapTokens?: boolean | undefined;
  /** A webhook that authenticates tokens (spec: conventions 5.7). */
  readonly tokenWebhook?: TokenWebhookOptions | undefined;
  /** An OpenID Connect provider whose ID tokens are accepted (spec: conventions 5.6). */
  readonly oidc?: OidcOptions | undefined;
  /** An authenticating proxy, which passes the user in request headers (spec: conventions 5.8). */
  readonly proxy?: ProxyOptions | undefined;
}

/** CAs of single signers. */
export interface SignerAuthorityOptions {
  /** CA that signs requests of node agents for serving certificates. */
  readonly serving?:
    | {
        /** CA certificate that signs requests of node agents for serving certificates (PEM). */
        readonly cert: string; /** Key of `clusterSigning.signers.serving.cert` (PEM). */
        readonly key: string;
      }
    | undefined;
  /** CA that signs requests of node agents for client certificates. */
  readonly nodeClient?:
    | {
        /** CA certificate that signs requests of node agents for client certificates (PEM). */
        readonly cert: string; /** Key of `clusterSigning.signers.nodeClient.cert` (PEM). */
        readonly key: string;
      }
    | undefined;
  /** CA that signs requests for client certificates of the API. */
  readonly client?:
    | {
        /** CA certificate that signs requests for client certificates of the API (PEM). */
        readonly cert: string; /** Key of `clusterSigning.signers.client.cert` (PEM). */
        readonly key: string;
      }
    | undefined;
  /** CA that signs requests to the signer legacy-unknown. */
  readonly legacyUnknown?:
    | {
        /** CA certificate that signs requests to the signer legacy-unknown (PEM). */
        readonly cert: string; /** Key of `clusterSigning.signers.legacyUnknown.cert` (PEM). */
        readonly key: string;
      }
    | undefined;
}

/** The CAs of the built-in signers of certificate requests. */
export interface ClusterSigningOptions {
  /** CA that signs certificate requests to the built-in signers; default: the server's own CA. */
  readonly files?:
    | {
        /** CA certificate that signs certificate requests to the built-in signers; default: the server's own CA (PEM). */
        readonly cert: string; /** Key of `clusterSigning.files.cert` (PEM). */
        readonly key: string;
      }
    | undefined;
  /** CAs of single signers. */
  readonly signers?: SignerAuthorityOptions | undefined;
  /** Lifetime of certificates issued by the built-in signers, unless a request asks for less. (default 31536000000) */
  readonly durationMs?: number | undefined;
}

/** The webhook of authorization mode Webhook. */
export interface AuthorizationWebhookOptions {
  /** Client configuration of the webhook of mode Webhook. */
  readonly configFile: string;
  /** Version of the SubjectAccessReviews sent to that webhook: v1 or v1beta1. (default "v1beta1") */
  readonly version?: "v1" | "v1beta1" | undefined;
  /** How long allowing decisions of that webhook are cached. (default 300000) */
  readonly authorizedMs?: number | undefined;
  /** How long denying decisions of that webhook are cached. (default 30000) */
  readonly unauthorizedMs?: number | undefined;
}

/** Limit of the rate of batches. */
export interface AuditThrottleOptions {
  /** Average number of batches per second, if their rate is limited. */
  readonly perSecond: number;
  /** Number of batches sent at once, if their rate is limited. */
  readonly burst: number;
}

/** How events are collected in mode batch. */
export interface AuditBatchOptions {
  /** Capacity of the buffer in mode batch, in events. (default 10000) */
  readonly bufferEvents?: number | undefined;
  /** Maximum size of a batch in mode batch, in events. (default 1) */
  readonly batchEvents?: number | undefined;
  /** Time after which an incomplete batch is sent. (default 0) */
  readonly maxWaitMs?: number | undefined;
  /** Limit of the rate of batches. */
  readonly throttle?: AuditThrottleOptions | false | undefined;
}

/** Limit of the size of events and batches. */
export interface AuditTruncateOptions {
  /**
   * Maximum size of an event in bytes, if sizes are limited: a larger one loses its objects, or is dropped. (default
   * 102400)
   */
  readonly maxEventBytes?: number | undefined;
  /** Maximum size of a batch in bytes, if sizes are limited. (default 10485760) */
  readonly maxBatchBytes?: number | undefined;
}

/** The audit log. */
export interface AuditLogOptions {
  /** File of the audit log; - is standard output. */
  readonly path: string;
  /** Format of the audit log: json or legacy. (default "json") */
  readonly format?: "json" | "legacy" | undefined;
  /** Whether requests wait for the audit log: batch, blocking or blocking-strict. (default "blocking") */
  readonly mode?: "batch" | "blocking" | "blocking-strict" | undefined;
  /** Size in megabytes at which the audit log is rotated; 0 is 100. (default 104857600) */
  readonly maxBytes?: number | undefined;
  /** Number of days after which rotated audit logs are deleted; 0 keeps them. (default 0) */
  readonly maxAgeMs?: number | undefined;
  /** Maximum number of rotated audit logs; 0 is unlimited. (default 0) */
  readonly maxBackups?: number | undefined;
  /** Compress rotated audit logs (gzip). (default false) */
  readonly compress?: boolean | undefined;
  /** Version of the events in the audit log; only the default is supported. */
  readonly version?: string | undefined;
  /** How events are collected in mode batch. */
  readonly batch?: AuditBatchOptions | undefined;
  /** Limit of the size of events and batches. */
  readonly truncate?: AuditTruncateOptions | false | undefined;
}

/** A service that receives audit events. */
export interface AuditWebhookOptions {
  /** Client configuration of a service that receives audit events. */
  readonly configFile: string;
  /** Whether requests wait for that service: batch, blocking or blocking-strict. (default "batch") */
  readonly mode?: "batch" | "blocking" | "blocking-strict" | undefined;
  /** Delay before a failed delivery is retried for the first time. (default 10000) */
  readonly backoffMs?: number | undefined;
  /** Version of the events sent to that service; only the default is supported. */
  readonly version?: string | undefined;
  /** How events are collected in mode batch. */
  readonly batch?: AuditBatchOptions | undefined;
  /** Limit of the size of events and batches. */
  readonly truncate?: AuditTruncateOptions | false | undefined;
}

/** Which requests are recorded, and where. */
export interface AuditOptions {
  /** Audit policy (YAML). Default: no request is recorded. */
  readonly policyFile?: string | undefined;
  /** The audit log. */
  readonly log?: AuditLogOptions | undefined;
  /** A service that receives audit events. */
  readonly webhook?: AuditWebhookOptions | undefined;
}

/** Connections from the server to pods, services and node agents. */
export interface ConnectionOptions {
  /** CA certificates of the node agents (PEM). Default: their certificates aren't verified. */
  readonly nodeAgentCaFile?: string | undefined;
  /** Client certificate of the server for node agents (PEM); requires `connections.nodeAgentKeyFile`. */
  readonly nodeAgentCertFile?: string | undefined;
  /** Key of `connections.nodeAgentCertFile` (PEM). */
  readonly nodeAgentKeyFile?: string | undefined;
  /**
   * Types of a node's addresses, in order of preference, for connections to its agent. (default
   * ["Hostname","InternalDNS","InternalIP","ExternalDNS","ExternalIP"])
   */
  readonly nodeAddressTypes?: readonly string[] | undefined;
  /** Time limit for establishing a connection to a node agent. (default 5000) */
  readonly nodeAgentTimeoutMs?: number | undefined;
  /**
   * Allow connections to pods, services and nodes at loopback addresses: for tests and development only. (default
   * false)
   */
  readonly allowLoopback?: boolean | undefined;
  /**
   * Addresses and ranges to which no connection to a pod, service or node is allowed, beside the built-in ones; comma
   * separated. (default [])
   */
  readonly deniedRanges?: readonly string[] | undefined;
}

/** Forwarding of requests to extension servers (APIService). */
export interface AggregationOptions {
  /**
   * Client certificate of the server for extension servers, see APIService (PEM); requires
   * `aggregation.clientKeyFile`.
   */
  readonly clientCertFile?: string | undefined;
  /** Key of `aggregation.clientCertFile` (PEM). */
  readonly clientKeyFile?: string | undefined;
  /**
   * Connect to extension servers only at the ready endpoints of their service, never at its cluster address. (default
   * false)
   */
  readonly endpointRouting?: boolean | undefined;
  /** Reject redirects from extension servers instead of passing them to the client. (default true) */
  readonly rejectRedirects?: boolean | undefined;
}

/** Default tolerations of pods (plugin DefaultTolerationSeconds). */
export interface TolerationSecondsOptions {
  /** Default for how many seconds a pod tolerates a node that isn't ready (DefaultTolerationSeconds). (default 300) */
  readonly notReady?: number | undefined;
  /** Default for how many seconds a pod tolerates an unreachable node (DefaultTolerationSeconds). (default 300) */
  readonly unreachable?: number | undefined;
}

/** The options of a server that are values; see `serverOptionTable`. */
export interface ValueOptions {
  /** Names of groups, labels and media types: platform or kubernetes. (default "platform") */
  readonly vocabulary?: "platform" | "kubernetes" | undefined;
  /** API release whose kinds, versions, feature gates and defaults the server follows. (default "1.26") */
  readonly release?:
    | "1.26"
    | "1.27"
    | "1.28"
    | "1.29"
    | "1.30"
    | "1.31"
    | "1.32"
    | "1.33"
    | "1.34"
    | "1.35"
    | "1.36"
    | "1.37"
    | undefined;
  /**
   * Start although the store has admission policies that a later release enforced and this release ignores. (default
   * false)
   */
  readonly acceptUnenforcedPolicies?: boolean | undefined;
  /** Where objects are stored. */
  readonly storage?: StorageOptions | undefined;
  /** Encryption of stored objects. */
  readonly encryption?: EncryptionOptions | undefined;
  /** Serve the web console at /console/. The program does so by default. (default false) */
  readonly console?: boolean | undefined;
  /**
   * Write an Event about a new Deployment, StatefulSet, DaemonSet, Job or Pod that nothing will run, because no
   * controllers or nodes use the server. The program does so by default, if all controllers run. (default false)
   */
  readonly workloadHints?: boolean | undefined;
  /**
   * How long past versions can be read and watches can resume. The flag also takes the rules of keptHistory, comma
   * separated: 5m,configmaps=30d:2GiB. (default 300000)
   */
  readonly retentionMs?: number | undefined;
  /**
   * Resources whose history is kept longer: RESOURCE[.GROUP]=DURATION[:SIZE], such as configmaps=30d:2GiB; * for all
   * others but events and leases. Given in `retentionMs`. (default [])
   */
  readonly keptHistory?: readonly string[] | undefined;
  /**
   * Resources whose writes are acknowledged before they are synced, and how soon a sync follows:
   * RESOURCE[.GROUP]=interval:DURATION, comma separated. A power failure can lose their acknowledged writes since the
   * last sync. Embedded store only. (default [])
   */
  readonly durability?: readonly string[] | undefined;
  /** Address to listen on. (default "127.0.0.1") */
  readonly host?: string | undefined;
  /**
   * Address for other machines, in the endpoints of the server's own Service and in its certificate. Default: the
   * address it listens on, or the first of this machine.
   */
  readonly advertiseAddress?: string | undefined;
  /** Port to listen on; 0 chooses a free one. (default 0) */
  readonly port?: number | false | undefined;
  /** Maximum number of open client connections. Default: 20000, or less if the limit of open files requires it. */
  readonly maxConnections?: number | undefined;
  /** Limits on concurrent requests. */
  readonly flow?: FlowOptions | undefined;
  /** The serving certificate. Default: the server creates one. */
  readonly certificateFiles?:
    | {
        /**
         * Serving certificate with its chain (PEM); include the root if admin.kubeconfig is to trust it. Default: the
         * server creates one.
         */
        readonly cert: string; /** Key of `certificateFiles.cert` (PEM). */
        readonly key: string;
      }
    | undefined;
  /** TLS versions and cipher suites of clients. */
  readonly tls?: TlsOptions | undefined;
  /**
   * Further names and addresses in the certificate that the server creates, comma separated. On `host` other than
   * loopback it already has those of this machine. (default [])
   */
  readonly extraHosts?: readonly string[] | undefined;
  /** CA certificates of clients (PEM), beside the server's own CA. */
  readonly clientCaFile?: string | undefined;
  /** Static tokens: CSV with token, user, uid and optionally groups. */
  readonly tokenAuthFile?: string | undefined;
  /** Treat requests without credentials as the anonymous user. Default: true, but false with AlwaysAllow. */
  readonly anonymousAuth?: boolean | undefined;
  /** Authentication beside client certificates and static tokens. */
  readonly authentication?: AuthenticationOptions | undefined;
  /** The CAs of the built-in signers of certificate requests. */
  readonly clusterSigning?: ClusterSigningOptions | undefined;
  /** Configuration with the authorizers in order, also several webhooks. Reloaded when it changes. */
  readonly authorizationConfigFile?: string | undefined;
  /** Authorizers in order: Node, RBAC, ABAC, Webhook, AlwaysAllow, AlwaysDeny. (default ["RBAC"]) */
  readonly authorizationModes?:
    | readonly (
        "Node" | "RBAC" | "ABAC" | "Webhook" | "AlwaysAllow" | "AlwaysDeny" | (string & Record<never, never>)
      )[]
    | undefined;
  /**
   * Objects of a list or watch with view=mine: those that its user may get, or may list or is granted by name.
   * Default: get; list in the kubernetes vocabulary.
   */
  readonly views?: "get" | "list" | undefined;
  /** The webhook of authorization mode Webhook. */
  readonly authorizationWebhook?: AuthorizationWebhookOptions | undefined;
  /** Policies of mode ABAC: one JSON object per line. */
  readonly authorizationPolicyFile?: string | undefined;
  /** Which requests are recorded, and where. */
  readonly audit?: AuditOptions | undefined;
  /** API versions and resources to enable or disable: KEY, KEY=true or KEY=false, comma separated. (default "") */
  readonly runtimeConfig?: string | undefined;
  /** Features to enable or disable: NAME=true or NAME=false, comma separated; also AllAlpha and AllBeta. (default "") */
  readonly featureGates?: string | undefined;
  /** How long events are kept after they were last seen. (default 3600000) */
  readonly eventLifeMs?: number | undefined;
  /** The previous release: shows deprecated metrics that this release hides. (default "") */
  readonly showHiddenMetricsForVersion?: string | undefined;
  /**
   * Ranges of the cluster addresses of services: one, or one of each IP family, comma separated. (default
   * ["10.0.0.0/24"])
   */
  readonly serviceClusterIpRanges?: readonly string[] | undefined;
  /** Range of the node ports of services, both ends included. (default "30000-32767") */
  readonly serviceNodePortRange?: string | undefined;
  /** Connections from the server to pods, services and node agents. */
  readonly connections?: ConnectionOptions | undefined;
  /** Forwarding of requests to extension servers (APIService). */
  readonly aggregation?: AggregationOptions | undefined;
  /** Allow privileged containers. (default false) */
  readonly allowPrivileged?: boolean | undefined;
  /**
   * Controllers to run: * for all but bootstrapsigner and tokencleaner, NAME to add one, -NAME to leave one out.
   * (default ["*"])
   */
  readonly enabledControllers?: readonly string[] | undefined;
  /** Elect one of the servers that share a store to run the controllers; otherwise each runs its own. (default true) */
  readonly leaderElection?: boolean | undefined;
  /**
   * Publish a Lease, renewed every ten seconds, that shows that the server is alive. The program does so by default.
   * (default false)
   */
  readonly identityLease?: boolean | undefined;
  /** Configuration of admission plugins: an AdmissionConfiguration in YAML or JSON. */
  readonly admissionConfigurationFile?: string | undefined;
  /** Default tolerations of pods (plugin DefaultTolerationSeconds). */
  readonly tolerationSeconds?: TolerationSecondsOptions | undefined;
  /** Admission plugins to run beside the default ones, comma separated. (default []) */
  readonly enabledAdmissionPlugins?: readonly string[] | undefined;
  /** Admission plugins not to run, comma separated. (default []) */
  readonly disabledAdmissionPlugins?: readonly string[] | undefined;
  /** Time during which /livez succeeds although the start isn't finished. (default 0) */
  readonly livezGracePeriodMs?: number | undefined;
  /** Log an entry per request: method, path, user, status, duration, audit ID and trace ID. (default false) */
  readonly accessLog?: boolean | undefined;
  /** Traces of requests: a TracingConfiguration in YAML or JSON. Default: no request is traced. */
  readonly tracingConfigFile?: string | undefined;
  /** Time after a stop signal during which the server still serves, but isn't ready. (default 0) */
  readonly shutdownDelayMs?: number | undefined;
}

// ---- server/options/options-error

/** Options that can't be used; the message names the option, the value and what is wrong. */
export declare class OptionsError extends Error {
  name: string;
}

// ---- server/options/test-options

/** Options of the library for tests; `plinth serve` has no flags for them. */
export interface TestOptions {
  /** Keeps the newest 10,000 requests in `server.requests`; false by default. */
  readonly recordRequests?: boolean | undefined;
  /**
   * Makes uids and generated names the same in each run that creates the same objects; with a manual clock that has a fixed start,
   * timestamps too. A safe integer. Needs objects in memory. Keys, tokens and certificates are random nevertheless, and resource versions
   * follow the order of concurrent writes. Forks take their values from the sequence of their origin.
   */
  readonly seed?: number | undefined;
}

// ---- server/server

/**
 * A running server.
 *
 * @typeParam Objects the types of the objects that it serves, by `apiVersion kind`.
 */
export declare class Server<Objects = KnownObjects> extends ServerTools<Objects> {
  /** URL of the server for this machine, for example `https://127.0.0.1:6443`; undefined without a socket. */
  get url(): string | undefined;
  /** URL of the server for other machines; undefined without a socket, or if it listens on loopback only. */
  get publicUrl(): string | undefined;
  /** Names and addresses for which the current serving certificate is valid; empty without a socket. */
  get certificateHosts(): readonly string[];
  /** PEM of the CA that clients should trust; undefined with an operator's certificate. */
  get caCertificate(): string | undefined;
  /** Bearer token of the administrator, valid while the server runs. */
  get adminToken(): string;
  /** Returns a kubeconfig for the administrator, with the token of this run. */
  kubeconfig(): string;
  /** Returns a kubeconfig for the administrator with a certificate that stays valid after the server stops. */
  durableKubeconfig(): string;
  /**
   * Logs and counts an exception outside of any request or connection; for handlers of `uncaughtException` and
   * `unhandledRejection`.
   */
  reportDefect(error: unknown, origin: "uncaughtException" | "unhandledRejection"): void;
  /**
   * Starts another server with the objects that this one has at present. It has the same options, CA, certificates and keys for service
   * account tokens; its administrator has another token, and a server with a socket listens on another port. Afterwards the two are
   * independent: neither sees the writes of the other, and each is closed by itself.
   *
   * @throws {OptionsError} if the objects aren't stored in memory.
   *
   * @example
   * const copy = await server.fork();
   * await copy.client.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "only-here" } });
   * await copy.close();
   */
  fork(): Promise<Server<Objects>>;
  /** Stops the server: it becomes unready at once, refuses new requests after the configured delay, and then closes. */
  close(): Promise<void>;
}

// ---- server/validation/matchers

/** What a matcher tells its runner. */
export interface MatcherResult {
  readonly pass: boolean;
  readonly message: () => string;
}

/** The functions of {@link manifestMatchers}. */
export type MatcherFunctions = {
  /** Passes if an API server accepts the objects; see {@link validate}. */
  readonly toBeAccepted: (received: ValidationInput, options?: ValidateOptions) => Promise<MatcherResult>;
};

/**
 * Matchers for `expect.extend` of Vitest and Jest.
 *
 * @example
 * expect.extend(manifestMatchers);
 * await expect(manifest).toBeAccepted({ release: "1.33" });
 */
export declare const manifestMatchers: MatcherFunctions;

/** The matchers as methods of `expect()`, to add to the types of a runner. */
export interface AcceptanceMatchers<Result = Promise<void>> {
  toBeAccepted(options?: ValidateOptions): Result;
}

// ---- server/validation/problem

/**
 * The part of the server that reports a problem:
 *
 * - `syntax`: the text is no YAML or JSON, or no manifest;
 * - `kind`: the release doesn't serve the kind;
 * - `schema`: unknown, repeated and required fields, and types;
 * - `validation`: a rule of a built-in kind;
 * - `cel`: a rule of a CustomResourceDefinition in CEL;
 * - `policy`: an admission policy;
 * - `pod-security`, `quota`, `limit-range`, `admission`: an admission plugin;
 * - `authorization`: the user may not apply the object;
 * - `reference`: the object names something that doesn't exist;
 * - `duplicate`: the object occurs twice;
 * - `deprecation`, `warning`: a warning of the server;
 * - `change`: a later release changes what the object means.
 */
export type ValidationRule =
  | "syntax"
  | "kind"
  | "schema"
  | "validation"
  | "cel"
  | "policy"
  | "pod-security"
  | "quota"
  | "limit-range"
  | "admission"
  | "authorization"
  | "reference"
  | "duplicate"
  | "deprecation"
  | "warning"
  | "change";

/** A position in a file of manifests. */
export interface ValidationLocation {
  /** Path of the file as named, or found in a folder; `-` for standard input. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** From 1, in UTF-16 code units. */
  readonly column: number;
}

/** What made a problem, if it is part of a manifest: a rule of a definition, or a policy. */
export interface ValidationSource {
  /** The expression of the rule, or the name of the policy or quota. */
  readonly text: string;
  /** Undefined if the definition or policy isn't from a file. */
  readonly location: ValidationLocation | undefined;
}

/** A problem of an object in one release. */
export interface Finding {
  /** An object with an error is rejected. */
  readonly severity: "error" | "warning";
  readonly rule: ValidationRule;
  /** Path of the field, such as `spec.ports[0].name`; empty if the problem isn't about a field. */
  readonly field: string;
  /** Message of the server. */
  readonly message: string;
  readonly source?: ValidationSource | undefined;
}

/** A problem of an object. */
export interface ValidationProblem extends Finding {
  /** The releases in which it occurs, of those that were validated. */
  readonly releases: readonly Release[];
  /** Position of the field, or of the object; undefined for an object that isn't from a file. */
  readonly location: ValidationLocation | undefined;
}

/** The verdict on one object. */
export interface ValidatedObject {
  /** Empty if the text isn't a manifest. */
  readonly apiVersion: string;
  readonly kind: string;
  /** Empty for cluster-scoped objects. */
  readonly namespace: string;
  readonly name: string;
  /** Position of the object; undefined if it isn't from a file. */
  readonly location: ValidationLocation | undefined;
  /** Whether no release has an error. */
  readonly accepted: boolean;
  /** The releases that accept the object. */
  readonly acceptedBy: readonly Release[];
  readonly problems: readonly ValidationProblem[];
}

/** The result of a validation. */
export interface ValidationReport {
  /** Whether every object is accepted. */
  readonly accepted: boolean;
  readonly releases: readonly Release[];
  /** In the order of the input. */
  readonly objects: readonly ValidatedObject[];
}

// ---- server/validation/session

/** Level of the Pod Security Standards. */
export type PodSecurityLevel = "privileged" | "baseline" | "restricted";

// ---- server/validation/validate

/** Options of {@link validate}. */
export interface ValidateOptions {
  /** Release of the API, or several; `1.26` by default. */
  readonly release?: Release | readonly Release[] | undefined;
  /** Names of groups and labels in the manifests; `kubernetes` by default. */
  readonly vocabulary?: "platform" | "kubernetes" | undefined;
  /** Namespace of objects that name none; `default` by default. */
  readonly namespace?: string | undefined;
  /**
   * What decides about the objects besides themselves and isn't validated: definitions, namespaces, policies, roles and other objects, or
   * the path of a file or folder with them.
   */
  readonly context?: object | readonly object[] | string | undefined;
  /** Level of the Pod Security Standards in namespaces without labels for it; none by default. */
  readonly podSecurity?: PodSecurityLevel | undefined;
  /** The user who applies the objects; by default one who may do everything. */
  readonly user?: string | undefined;
  /** Groups of `user`, without those that authentication adds. */
  readonly groups?: readonly string[] | undefined;
  /** What references to objects that don't exist count as; `warning` by default. */
  readonly references?: ReferenceMode | undefined;
  /** What an object counts as whose kind isn't served and has no definition; `error` by default. */
  readonly unknownKinds?: "error" | "warning" | undefined;
}

/** Objects, files, or the text of manifests. */
export type ValidationInput = object | readonly object[] | string;

/**
 * Returns the verdict of an API server on objects, without a running server: each is created in a dry run with strict field validation,
 * on a server of the release that has the definitions, namespaces, policies, quotas and classes among the objects.
 *
 * @param input an object, a list of objects, the text of YAML or JSON manifests, or the path of a file or of a folder with .yaml, .yml and
 *   .json files, with its subfolders. A text of one line that doesn't begin with `{` or `[` is a path.
 * @throws {OptionsError} for a wrong option, which it names.
 *
 * @example
 * const { accepted, objects } = await validate("manifests", { release: ["1.28", "1.33"] });
 * for (const { kind, name, problems } of objects)
 *   for (const { message, location } of problems) console.log(`${location?.file}:${location?.line}`, kind, name, message);
 */
export declare function validate(
  input: ValidationInput,
  options?: ValidateOptions,
): Promise<ValidationReport>;

// ---- server/validation/validator

/** What references to missing objects count as. */
export type ReferenceMode = "warning" | "error" | "ignore";

// ---- storage/conformance

/**
 * Returns all cases.
 *
 * @param open opens a new, empty store. It is called at the start of each case; the case disposes of the store at its end.
 */
export declare function storeConformance(open: () => Promise<StoreUnderTest>): ConformanceCase[];

// ---- storage/conformance/support

/** A store under test, with the operations that the suite needs. */
export interface StoreUnderTest {
  readonly store: Store;
  /** Advances the store's clock. */
  advance(ms: number): void;
  /** Current time of the store's clock. */
  now(): number;
  /** Opens another store over the same data; absent if the engine can't share data. */
  readonly another?: (() => Promise<Store>) | undefined;
  /** Like `another`, with a stamp; absent if the engine has no stamps. */
  readonly stamped?: ((stamp: RequestedStamp) => Promise<Store>) | undefined;
  /** Closes every store that was opened and removes the data. */
  dispose(): Promise<void>;
}

/** One test of the contract. */
export interface ConformanceCase {
  readonly name: string;
  /** Rejects if the store violates the contract. Resolves with a reason if the case doesn't apply to the store. */
  run(): Promise<string | undefined>;
}

// ---- storage/revision

declare const revisionBrand: unique symbol;

/** A position on the revision line: a positive integer below 2^53. */
export type Revision = number & {
  readonly [revisionBrand]: true;
};

// ---- storage/stamp

/** Identifies what a store is used for; written by the first opener, opaque to the store. */
export interface Stamp {
  /** Opening a store with another label fails. */
  readonly label: string;
  /** Version of the stored data. Opening with a lower format fails; opening with a higher one updates the stamp. */
  readonly format: number;
}

/** The stamp that a store must have; it is written if the store has none. */
export interface RequestedStamp extends Stamp {
  /**
   * Maps a key that exists only in stores of one label to that label. Detects the use of older stores, which have no stamp.
   * A store with none of these keys gets the stamp.
   */
  readonly telltales: ReadonlyMap<string, string>;
}

// ---- storage/store-errors

/** An operational failure of a store. Bugs are other errors. */
export declare class StoreError extends Error {
  name: string;
}

/** The revision is older than the retained history. */
export declare class RevisionCompactedError extends StoreError {
  readonly requested: Revision;
  readonly floor: Revision;
  name: string;
  constructor(requested: Revision, floor: Revision);
}

/** The revision is above the store's latest one. */
export declare class RevisionTooNewError extends StoreError {
  readonly requested: Revision;
  readonly latest: Revision;
  name: string;
  constructor(requested: Revision, latest: Revision);
}

/** No space for the write; nothing was written. */
export declare class StoreFullError extends StoreError {
  name: string;
}

/** A transaction has more writes, conditions or bytes than the store accepts; nothing was written. */
export declare class TransactionLimitError extends StoreError {
  readonly what: "writes" | "conditions" | "bytes";
  readonly actual: number;
  readonly limit: number;
  name: string;
  constructor(what: "writes" | "conditions" | "bytes", actual: number, limit: number);
}

/** The write timed out before it began; it was not applied and never will be. */
export declare class StoreTimeoutError extends StoreError {
  name: string;
}

/** The store was closed. */
export declare class StoreClosedError extends StoreError {
  name: string;
}

/** The store cannot be reached or did not answer in time; a write's outcome may be unknown. */
export declare class StoreUnavailableError extends StoreError {
  name: string;
}

/** The data folder or its content can't be used: unwritable, damaged, or of another format version. */
export declare class StoreDamagedError extends StoreError {
  name: string;
}

/** One stored value is damaged; the others can be read. */
export declare class StoreValueError extends StoreError {
  readonly key: string;
  readonly reason: string;
  name: string;
  constructor(key: string, reason: string);
}

// ---- storage/store-history

/** Who made a write, and how. It is kept with the version that the write made. */
export interface Origin {
  /** Name of the user. */
  readonly user: string;
  /** Name of the field manager. */
  readonly manager: string;
  /** Verb of the request, such as `create`, `apply` or `delete`. */
  readonly verb: string;
  /** Identifies the request, as in its audit event. All writes of a transaction have the same one. */
  readonly requestId: string;
  /** Time of the write, in milliseconds since 1970. */
  readonly time: number;
}

/** A version of a key: the effect of one write. */
export interface Version {
  readonly key: string;
  /** Revision of the write. {@link Store.get} at this revision returns the value. */
  readonly revision: Revision;
  /** Whether the write deleted the key. */
  readonly deleted: boolean;
  /** Revision of the version before; 0 if there was none, so the write created the key. */
  readonly previous: Revision | 0;
  /** Absent for a write without one. */
  readonly origin: Origin | undefined;
}

/** A page of versions. */
export interface VersionPage {
  readonly versions: readonly Version[];
  /** Position for the next page; absent if this is the last one. */
  readonly next: string | undefined;
}

/** Which versions a page has. */
export interface VersionOptions {
  /** `next` of the page before. */
  readonly after?: string | undefined;
  /** Maximum number of versions, at least 1; beside them a page may have versions whose writes weren't recorded. */
  readonly limit: number;
}

/**
 * The history that a store keeps for chosen collections, longer than its retention time. In these collections exact reads and
 * subscriptions reach back to the floor of the collection. All methods but {@link StoreHistory.keeps} may be called only for them.
 *
 * All methods reject as {@link Store.get} does if the store can't be read.
 */
export interface StoreHistory {
  /** Whether the collection with a prefix (`/{group}/{resource}/`) or of a key is kept. */
  keeps(prefix: string): boolean;
  /** Returns the oldest revision that can be read exactly in the collection of a prefix, and after which a subscription may start. */
  floor(prefix: string): MaybePromise<Revision>;
  /**
   * Returns versions of one key, newest first. The cost depends on the number of versions returned. The version that the key had at
   * the floor is included if its write is still known.
   */
  versions(key: string, options: VersionOptions): Promise<VersionPage>;
  /** Returns the deletions of keys under a prefix that don't exist now, one for each key, in key order. */
  deletions(prefix: string, options: VersionOptions): Promise<VersionPage>;
  /** Returns all versions of the keys under a prefix, in key order, those of a key newest first. A page may have none. */
  changes(prefix: string, options: VersionOptions): Promise<VersionPage>;
  /**
   * Returns a revision at which kept collections are read as they were at a time (milliseconds since 1970), to a second.
   *
   * @throws {RevisionCompactedError} the history doesn't reach back to it.
   */
  revisionAt(time: number): Promise<Revision>;
  /**
   * Drops the history of all keys that begin with a text, in turns, except values that are pinned. It is for keys that no longer exist and
   * won't be written again, such as those of a keyspace.
   *
   * @param ending ends the call early when it is aborted.
   */
  forget(start: string, ending?: AbortSignal): Promise<void>;
}

// ---- storage/store

/**
 * The contract of storage engines. The suite of `plinth/storage-conformance` tests an engine.
 *
 * **Keys** are strings of the form `/{group}/{resource}/{namespace}/{name}` (cluster-scoped: the namespace is
 * empty), ordered by their UTF-8 bytes. The first two segments are the *collection* of a key, the first three its
 * *partition*. A prefix given to any operation ends in `/`. A key to be written has at most 1024 bytes and no NUL, else
 * `commit` rejects with a `TypeError`; reads of an invalid key find nothing.
 *
 * **The revision line.** Each committed write or transaction takes the next revision of the store. A fresh store is at revision
 * 1; the first write takes 2. Revisions grow strictly, also across restarts and processes; engines over a shared
 * cluster may skip numbers.
 *
 * **History.** The engine keeps superseded and deleted values for the retention time. `floor()` is the oldest revision
 * at which an exact read is possible, and the oldest after which a subscription may start.
 *
 * **Durability.** A promise of `commit` resolves only when the write is synced to disk (or agreed by the cluster).
 * Writes that arrive together share one sync. A crash never leaves half a write.
 *
 * **Deferred syncs.** For collections in `StoreOptions.deferredSyncMs` the promise resolves when the write is committed: every
 * reader of every process sees it, in the order of the revisions. It is synced with the next write of another collection, or after the
 * interval of its collection, whichever comes first. A crash of the process loses nothing. A power failure or a crash of the system can
 * lose acknowledged writes of these collections, those since the last sync and no others: it never loses a write of another collection
 * that any reader has seen, and what remains is the state of one earlier revision. If a state with unsynced writes was lost, the store
 * continues at a revision above all that it has ever assigned, with its floor there: a position of before is a
 * {@link RevisionCompactedError}, never the position of another write. `close` syncs everything.
 *
 * **Order.** Before `commit` resolves, every subscription of the same store object that has the key under its prefix
 * has received the event. `Subscription.sync()` extends this to writes by other processes.
 *
 * **Synchronous or asynchronous.** A method that returns a `MaybePromise` may return a value or a promise, and may throw as
 * well as reject.
 *
 * **Stamp.** A persistent store may be opened with a stamp: a label and a format. The stamp is written when the
 * store is created or first opened with one. From then on, opening the store with another label fails. The stamp isn't a
 * key, takes no revision and produces no event.
 *
 * **Not assumed:** a single process. Two stores may be open on one embedded folder or one cluster.
 */
export interface Store {
  /**
   * Returns the revision of the newest committed write of any process. Local engines return it synchronously (an embedded engine in
   * about a microsecond); a cluster engine confirms it with a quorum, and concurrent callers share one round trip.
   */
  latestRevision(): MaybePromise<Revision>;
  /** Returns the oldest revision that can be read exactly (see **History**). */
  floor(): MaybePromise<Revision>;
  /**
   * Reads one key at the latest revision (linearizable: it sees every write acknowledged before the call), or at revision `at`.
   *
   * @returns the entry, or `undefined` if the key doesn't exist at that revision.
   * @throws {RevisionCompactedError} if `at` is below the floor.
   * @throws {RevisionTooNewError} if `at` is above the latest revision.
   * @throws {StoreValueError} if the value is damaged.
   */
  get(key: string, at?: Revision): MaybePromise<Entry | undefined>;
  /**
   * Reads one page of the keys under a prefix, in key order, all at one revision. To read the next page, pass the first page's
   * `revision` as `at` and the last key as `after`. The engine keeps no lock and no open read between pages.
   *
   * @throws as {@link Store.get}.
   */
  range(options: RangeOptions): MaybePromise<RangePage>;
  /**
   * Returns the number of keys under a prefix, at the latest or an exact revision. At the latest revision an embedded engine uses
   * counters, in constant time, for a whole collection or partition. Long counts yield to the event loop.
   */
  count(prefix: string, at?: Revision): MaybePromise<number>;
  /**
   * Writes one key if its current state is the expected one. A conflict is a result with the current entry, not an error.
   *
   * @throws {StoreFullError} if disk or quota are exhausted; nothing was written.
   * @throws {StoreTimeoutError} if the write couldn't begin in time; nothing was written.
   * @throws {StoreClosedError} if the store is closing.
   */
  commit(write: Write): Promise<CommitResult>;
  /**
   * Commits several writes together: all of them or none, at one revision, which is inserted into every body. Each write is as in
   * {@link Store.commit}; all expectations and conditions are about the state before the transaction. A subscription receives its
   * events in one batch, in any order. A sync is deferred only if those of all writes would be.
   *
   * @param writes at least one, each of another key.
   * @throws {TransactionLimitError} they exceed {@link Store.transactionLimits}; nothing was written.
   * @throws {TypeError} (a bug of the caller) without writes, or for two of the same key.
   * @throws as {@link Store.commit}.
   */
  transact(writes: readonly Write[]): Promise<TransactionResult>;
  /** What {@link Store.transact} accepts at most. */
  readonly transactionLimits: TransactionLimits;
  /** History that is kept longer than the retention time; absent if none is. */
  readonly history?: StoreHistory | undefined;
  /**
   * Delivers every event under `prefix` with a revision above `after`, in revision order, without gap or duplicate: first the
   * history, then live events. Delivery may begin during the call. The listener is called synchronously and must not throw (its
   * subscription ends if it does); a batch never splits a revision.
   *
   * A subscription ends with `close()`, or with one call of `listener.ended` with a {@link RevisionCompactedError} (required history
   * was removed), a {@link StoreClosedError} or another {@link StoreError}. Nothing is delivered after that.
   */
  subscribe(options: SubscribeOptions, listener: Listener): Subscription;
  /**
   * Runs `work` synchronously. All `Subscription.sync()` calls and reads at latest that begin within it may share one
   * snapshot, taken by the first of them. Use it for a batch of requests that all arrived before the first one began.
   */
  together(work: () => void): void;
  /** Drops history older than `before` (milliseconds since 1970) and raises the floor. Engines also do so by themselves. */
  compact(before: number): Promise<Revision>;
  /** Reads all data and returns a message for each damage; an empty list if there is none. Yields to the event loop. */
  check(): Promise<readonly string[]>;
  /**
   * Returns why writes fail at present; undefined if the engine knows no obstacle. For health checks: it may read the
   * state of the disk or query the cluster.
   */
  writeObstacle(): MaybePromise<StoreError | undefined>;
  /** Returns the size of the data; undefined if the engine doesn't know it. */
  usage?(): MaybePromise<StoreUsage | undefined>;
  /**
   * Ends subscriptions, waits for pending writes, and releases files and connections. May be called twice.
   *
   * @throws {StoreTimeoutError} another process blocks a write; the resources of that write aren't released.
   */
  close(): Promise<void>;
}

/** Size of a store's data, in bytes. */
export interface StoreUsage {
  /** Total size, including free space. */
  readonly totalBytes: number;
  /** Free space inside the file, reused by the next writes. */
  readonly freeBytes: number;
  /** Number of writes that failed since the store was opened: the disk was full or the commit failed. */
  readonly failedWrites?: number | undefined;
  /**
   * Upper bound of the age of the oldest acknowledged write that isn't synced, in milliseconds; 0 if all are. Absent if no syncs are
   * deferred (see **Deferred syncs** of {@link Store}).
   */
  readonly unsyncedMs?: number | undefined;
}

/** The value to write. */
export interface Draft {
  /** Small index data, stored beside the body; opaque to the store. */
  readonly header: Uint8Array;
  /** The encoded object; opaque to the store, except for the revision at `revisionAt`. */
  readonly body: Uint8Array;
  /**
   * Offset in `body` at which the store inserts the write's revision in decimal digits. Example: body `{"v":"","a":1}` with
   * `revisionAt` 6, committed at revision 42, is read as `{"v":"42","a":1}`.
   */
  readonly revisionAt: number;
}

/** The value of a key at a revision. Readers must not modify its bytes. */
export interface Entry {
  readonly key: string;
  /** Revision of the write of this value. */
  readonly revision: Revision;
  readonly header: Uint8Array;
  /** The body with `revision` inserted at `revisionAt`. */
  readonly body: Uint8Array;
  readonly revisionAt: number;
  /** Whether new values are encrypted in another way, so that an update without changes stores this one again. */
  readonly outdated?: boolean;
}

/** The keys of a page, for {@link Store.range}. */
export interface RangeOptions {
  readonly prefix: string;
  /** Exact revision to read at; the latest when absent. */
  readonly at?: Revision | undefined;
  /** Only keys greater than this one. */
  readonly after?: string | undefined;
  /** Maximum number of entries; default unlimited. */
  readonly limit?: number | undefined;
  /** The page ends after the entry with which its bodies reach this size; it has at least one entry. */
  readonly maxBytes?: number | undefined;
}

/** A page of entries in key order. */
export interface RangePage {
  /** The revision at which the page was read. */
  readonly revision: Revision;
  readonly entries: readonly Entry[];
  /** Whether there are keys under the prefix after the last entry. */
  readonly more: boolean;
}

/** A change of one key. */
export type Change =
  /** Succeeds if the key doesn't exist. */
  | {
      readonly kind: "create";
      readonly key: string;
      readonly draft: Draft;
    }
  /** Succeeds if the key's value was written at revision `expected`. */
  | {
      readonly kind: "update";
      readonly key: string;
      readonly expected: Revision;
      readonly draft: Draft;
    }
  /** Succeeds if the key's value was written at revision `expected`. */
  | {
      readonly kind: "delete";
      readonly key: string;
      readonly expected: Revision;
    };

/** A change, and the conditions on other keys under which it is committed. */
export type Write = Change & {
  /** Checked in the same transaction as the key itself. */
  readonly conditions?: readonly WriteCondition[] | undefined;
  /** Kept with the history of a collection in {@link Store.history}; has no effect elsewhere. */
  readonly origin?: Origin | undefined;
};

/**
 * A condition of a write on another key: its value must be the one written at `revision`; 0 means that the key must not exist. It
 * guarantees that the other key is unchanged when the write is committed. It writes nothing, so concurrent writes may have the same
 * condition.
 */
export interface WriteCondition {
  readonly key: string;
  readonly revision: Revision | 0;
}

/** Result of {@link Store.commit}. */
export type CommitResult =
  | {
      readonly ok: true;
      /** Revision of the write. */
      readonly revision: Revision;
      /** The new value; for a delete, the value that was deleted. */
      readonly entry: Entry;
    }
  /** The expectation failed; `current` is the key's current value, absent if there is none. */
  | {
      readonly ok: false;
      readonly current: Entry | undefined;
      /** Index in `conditions` of the first failed one; absent if the key itself isn't in the expected state. */
      readonly failedCondition?: number;
    };

/** Result of {@link Store.transact}. */
export type TransactionResult =
  | {
      readonly ok: true;
      /** Revision of all writes. */
      readonly revision: Revision;
      /** The entries of {@link CommitResult}, in the order of the writes. */
      readonly entries: readonly Entry[];
    }
  /** The expectation or a condition of a write failed; nothing was written. */
  | {
      readonly ok: false;
      /** Index of the first write that failed. */
      readonly failedWrite: number;
      /** The current value of its key, absent if there is none. */
      readonly current: Entry | undefined;
      /** Index in its `conditions` of the first failed one; absent if the key itself isn't in the expected state. */
      readonly failedCondition?: number;
    };

/** Limits of a transaction. */
export interface TransactionLimits {
  /** Number of writes; of writes and conditions together, twice as many. */
  readonly writes: number;
  /** Sum of headers and bodies, in bytes. */
  readonly bytes: number;
}

/** One change of a key. Those of a transaction have the same revision. All subscribers of a store receive the same object. */
export interface StoreEvent {
  readonly key: string;
  readonly revision: Revision;
  /** The new value; absent for a delete. */
  readonly entry: Entry | undefined;
  /**
   * The previous value; absent only for a create. An engine that no longer has it ends the subscription with a
   * {@link RevisionCompactedError} instead.
   */
  readonly previous: Entry | undefined;
}

/** The events of a subscription, for {@link Store.subscribe}. */
export interface SubscribeOptions {
  readonly prefix: string;
  /** Only events after this revision are delivered. It may be above the latest revision. */
  readonly after: Revision;
  /**
   * For a subscriber that may have received only a part of a transaction at `after`: its events are delivered too, as long as the
   * history has them. A write alone may be delivered again as well; it is the only event of its revision.
   */
  readonly repeatsTransaction?: boolean | undefined;
  /**
   * Allows live events to be delivered some turns of the event loop later, several batches as one. {@link Subscription.sync} delivers
   * them at once.
   */
  readonly deferral?: Deferral;
}

/** How deferrable subscriptions share their work. */
export interface Deferral {
  /** Subscriptions with the same prefix and key select the same events. */
  readonly key: string;
  /** Whether a batch has an event for the subscription; batches without one need not be delivered. If it throws, the batch is delivered. */
  selects(batch: readonly StoreEvent[]): boolean;
}

/** Receives the events of a subscription. */
export interface Listener {
  /**
   * Receives a batch of events in revision order. With it, every event under the prefix up to and including revision `upTo` has been
   * delivered. An empty batch only advances the position, for bookmarks; there is no guaranteed interval.
   */
  events(batch: readonly StoreEvent[], upTo: Revision): void;
  /** The store has ended the subscription; called at most once. */
  ended(error: StoreError): void;
  /**
   * Flow control for the history: the next portion, about 1 MB, is delivered when the promise resolves. It must not reject. Without
   * this method portions are delivered without a pause. Live events never wait.
   */
  drained?(): Promise<void>;
}

/** A subscription to the events under a prefix. */
export interface Subscription {
  /** Every event up to here has been delivered. */
  readonly position: Revision;
  /**
   * Delivers every event that any process committed before this call, then returns the position. Synchronous if `latestRevision`
   * is.
   */
  sync(): MaybePromise<Revision>;
  close(): void;
}

// ---- vocabulary/behavior

/**
 * Behavior for which the specification and the reference differ: one member for each difference. With `platform` names the
 * server follows the specification, with `kubernetes` names the reference, so that its clients run unchanged.
 * docs/vocabularies.md shows the same table. Code checks these members, never the name of the vocabulary.
 */
export interface VocabularyBehavior {
  /**
   * How a new object without a class is handled if several ingress or storage classes are marked as default (spec: conventions
   * 4.13). True: it gets the newest of them, and the first by name of equally new ones. False: every new Ingress or claim is
   * rejected, even with a class.
   */
  readonly newestDefaultClass: boolean;
  /**
   * Whether a new store gets a LimitRange with a default request of 0.1 CPU for containers in the namespace `default` (spec:
   * conventions 4.13). The server doesn't recreate it after a deletion.
   */
  readonly defaultCpuRequest: boolean;
  /**
   * Whether the second column of custom kinds that declare no columns is `Age`. Otherwise it is `Created At`, as for every kind
   * without columns (spec: conventions 2.4).
   */
  readonly ageOfCustomObjects: boolean;
  /**
   * Whether a new pod may set the overhead that its runtime class has. Otherwise a pod that sets any overhead is rejected (spec:
   * conventions 4.13).
   */
  readonly overheadOfRuntimeClass: boolean;
  /**
   * Whether a new pod may have a toleration that contradicts one of its namespace: it then has both. Otherwise it is rejected (spec:
   * conventions 4.13).
   */
  readonly contradictingTolerations: boolean;
  /** Whether conditions of certificate requests may have other types than Approved, Denied and Failed (spec: conventions 2.6). */
  readonly otherRequestConditions: boolean;
  /**
   * Whether requests to the two signers for node agents may omit the usage `key encipherment`, which only RSA keys need. Otherwise the usages must be exactly those of the signer (spec: conventions 2.6).
   */
  readonly optionalKeyEncipherment: boolean;
  /**
   * Whether the groups claim of an ID token may be a string, which is one group, or null, which is none. Otherwise it must be an
   * array (spec: conventions 5.6).
   */
  readonly singleGroupClaim: boolean;
  /**
   * Whether the last line of a verbose health answer names its endpoint: `livez check passed`. Otherwise it is `healthz check passed`
   * at all three endpoints (spec: conventions 4.11).
   */
  readonly endpointInHealthResult: boolean;
  /**
   * Whether a group prefers a version in the release that introduces it. Otherwise a release that serves it beside the older one comes
   * first (spec: conventions 9.2, rule 4b).
   */
  readonly prefersNewVersions: boolean;
  /**
   * What a list or watch with `view=mine` shows: what its user may get, or only what its user may list or is granted by name, because
   * the right to get doesn't include the right to enumerate. `--views` overrides it.
   */
  readonly viewRule: "get" | "list";
  /**
   * Whether HEAD of a resource, and of the documents that the reference serves with GET only, is answered as GET without the body.
   * Otherwise, of resources only backends behind `proxy` have it.
   */
  readonly headOfResources: boolean;
}

// ---- vocabulary/names

declare const part: unique symbol;

/** Domain of labels, annotations, taints and finalizers. Its type differs from that of {@link GroupSuffix}, because the texts may differ. */
export type Domain = string & {
  readonly [part]: "domain";
};

/** Suffix of the names of API groups. */
export type GroupSuffix = string & {
  readonly [part]: "group suffix";
};

// ---- vocabulary/vocabularies

/** What ends the names of the server's own groups, in each vocabulary; for static types. */
export type GroupSuffix = "platform.io" | "k8s.io";

// ---- vocabulary/vocabulary

/**
 * Names that contain the product's name, in one naming of the API. All such names that a client can read come from here; no
 * other file contains one.
 */
export interface Vocabulary {
  readonly name: "platform" | "kubernetes";
  /** Suffix of API group names, for example `platform.io` in `rbac.authorization.platform.io`. */
  readonly groupSuffix: GroupSuffix;
  /** Domain of labels, annotations, taints, finalizers and signer names, for example `platform.io/metadata.name`. */
  readonly domain: Domain;
  /** Media type of the binary encoding (spec: conventions 4.7). */
  readonly protobufMediaType: string;
  /** Media type of CBOR; undefined unless the server supports it. */
  readonly cborMediaType?: string;
  /** Prefix of schema extensions, with its dash: `x-platform-`. */
  readonly schemaExtensionPrefix: string;
  /** Namespace of the system's own objects. */
  readonly systemNamespace: string;
  /** Namespace that all users may read. */
  readonly publicNamespace: string;
  /** Namespace of the heartbeat leases of node agents. */
  readonly nodeLeaseNamespace: string;
  /** Name of the Service in the namespace `default` through which pods reach the API. */
  readonly apiServiceName: string;
  /** Name of the ConfigMap in each namespace with the CA certificates of the server. */
  readonly rootAuthorityConfigMap: string;
  /** Prefix of the names of volumes with service account tokens, with its dash. */
  readonly tokenVolumePrefix: string;
  /** Finalizer in `spec.finalizers` of a namespace; removed when its content is deleted. */
  readonly namespaceFinalizer: string;
  /** Prefix of the names of built-in system users, groups and roles, with its colon. */
  readonly systemPrefix: string;
  /** Default issuer of service account tokens, and so the default audience of the server. */
  readonly serviceAccountIssuer: string;
  /** Issuer of service account tokens in Secrets, which never expire. */
  readonly legacyTokenIssuer: string;
  /** Names of the components with their own system users and roles. */
  readonly components: {
    readonly apiServer: string;
    readonly controllerManager: string;
    readonly scheduler: string;
    readonly proxy: string;
    readonly dns: string;
    readonly aggregator: string;
    readonly nodeAgentApiAdmin: string;
    readonly nodeAgentServing: string;
    readonly nodeAgentClient: string;
    readonly apiServerClient: string;
    readonly metricsCollector: string;
  };
  /** Prefix of the labels that aggregated default roles select, followed by `admin`, `edit` or `view`. */
  readonly aggregateToLabelPrefix: string;
  /** Annotation with which `"false"` disables the reconciliation of a default role or binding at start. */
  readonly autoUpdateAnnotation: string;
  /** Label that marks the default roles and bindings; its value is `rbac-defaults`. */
  readonly bootstrappingLabel: string;
  /**
   * Client-side apply of kubectl (spec: conventions 4.10): the annotation with the last applied configuration, and the field manager
   * of the same client for server-side apply. Undefined if no client of the vocabulary applies this way.
   */
  readonly clientSideApply?: {
    readonly annotation: string;
    readonly manager: string;
  };
  /** Behavior for which the specification and the reference differ. */
  readonly behavior: VocabularyBehavior;
  /** Prefix of the response headers with flow schema and priority level of the request, with its dash. */
  readonly flowHeaderPrefix: string;
}

// ---- kinds: fields by their JSON names, required ones without `?`

// /v1 Binding: Namespaced bindings [create]
interface Binding {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  target: ObjectReference;
}

// /v1 ComponentStatus: Cluster componentstatuses [get list]
interface ComponentStatus {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  conditions?: ComponentCondition[];
}

// /v1 ConfigMap: Namespaced configmaps [create delete deletecollection get list patch update watch]
interface ConfigMap {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  data?: Record<string, string>;
  binaryData?: Record<string, bytes>;
  immutable?: bool;
}

// /v1 Endpoints: Namespaced endpoints [create delete deletecollection get list patch update watch]
interface Endpoints {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  subsets?: EndpointSubset[];
}

// /v1 Event: Namespaced events [create delete deletecollection get list patch update watch]
interface Event {
  kind?: string;
  apiVersion?: string;
  metadata: ObjectMeta;
  involvedObject: ObjectReference;
  reason?: string;
  message?: string;
  source?: EventSource;
  firstTimestamp?: time;
  lastTimestamp?: time;
  count?: int32;
  type?: string;
  eventTime?: microTime;
  series?: EventSeries;
  action?: string;
  related?: ObjectReference;
  reportingComponent?: string;
  reportingInstance?: string;
}

// /v1 LimitRange: Namespaced limitranges [create delete deletecollection get list patch update watch]
interface LimitRange {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  spec?: LimitRangeSpec;
}

// /v1 Namespace: Cluster namespaces /finalize /status [create delete get list patch update watch]
interface Namespace {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  spec?: NamespaceSpec;
  status?: NamespaceStatus;
}

// /v1 Node: Cluster nodes /proxy /status [create delete deletecollection get list patch update watch]
interface Node {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  spec?: NodeSpec;
  status?: NodeStatus;
}

// /v1 PersistentVolumeClaim: Namespaced persistentvolumeclaims /status [create delete deletecollection get list patch update watch]
interface PersistentVolumeClaim {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  spec?: PersistentVolumeClaimSpec;
  status?: PersistentVolumeClaimStatus;
}

// /v1 PersistentVolume: Cluster persistentvolumes /status [create delete deletecollection get list patch update watch]
interface PersistentVolume {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  spec?: PersistentVolumeSpec;
  status?: PersistentVolumeStatus;
}

// /v1 Pod: Namespaced pods /attach /binding /ephemeralcontainers /eviction /exec /log /portforward /proxy /status [create delete deletecollection get list patch update watch]
interface Pod {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  spec?: PodSpec;
  status?: PodStatus;
}

// /v1 PodTemplate: Namespaced podtemplates [create delete deletecollection get list patch update watch]
interface PodTemplate {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  template?: PodTemplateSpec;
}

// /v1 ReplicationController: Namespaced replicationcontrollers /scale /status [create delete deletecollection get list patch update watch]
interface ReplicationController {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  spec?: ReplicationControllerSpec;
  status?: ReplicationControllerStatus;
}

// /v1 ResourceQuota: Namespaced resourcequotas /status [create delete deletecollection get list patch update watch]
interface ResourceQuota {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  spec?: ResourceQuotaSpec;
  status?: ResourceQuotaStatus;
}

// /v1 Secret: Namespaced secrets [create delete deletecollection get list patch update watch]
interface Secret {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  data?: Record<string, bytes>;
  type?: string;
  stringData?: Record<string, string>;
  immutable?: bool;
}

// /v1 ServiceAccount: Namespaced serviceaccounts /token [create delete deletecollection get list patch update watch]
interface ServiceAccount {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  secrets?: ObjectReference[];
  imagePullSecrets?: LocalObjectReference[];
  automountServiceAccountToken?: bool;
}

// /v1 Service: Namespaced services /proxy /status [create delete deletecollection get list patch update watch]
interface Service {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  spec?: ServiceSpec;
  status?: ServiceStatus;
}

// admissionregistration.*/v1 MutatingWebhookConfiguration: Cluster mutatingwebhookconfigurations [create delete deletecollection get list patch update watch]
interface MutatingWebhookConfiguration {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  webhooks?: MutatingWebhook[];
}

// admissionregistration.*/v1 ValidatingWebhookConfiguration: Cluster validatingwebhookconfigurations [create delete deletecollection get list patch update watch]
interface ValidatingWebhookConfiguration {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  webhooks?: ValidatingWebhook[];
}

// admissionregistration.*/v1alpha1 ValidatingAdmissionPolicy: Cluster validatingadmissionpolicies [create delete deletecollection get list patch update watch]
interface ValidatingAdmissionPolicy {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  spec?: ValidatingAdmissionPolicySpec;
}

// admissionregistration.*/v1alpha1 ValidatingAdmissionPolicyBinding: Cluster validatingadmissionpolicybindings [create delete deletecollection get list patch update watch]
interface ValidatingAdmissionPolicyBinding {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  spec?: ValidatingAdmissionPolicyBindingSpec;
}

// apiextensions.*/v1 CustomResourceDefinition: Cluster customresourcedefinitions /status [create delete deletecollection get list patch update watch]
interface CustomResourceDefinition {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  spec: CustomResourceDefinitionSpec;
  status?: CustomResourceDefinitionStatus;
}

// apiregistration.*/v1 APIService: Cluster apiservices /status [create delete deletecollection get list patch update watch]
interface APIService {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  spec?: APIServiceSpec;
  status?: APIServiceStatus;
}

// apps/v1 ControllerRevision: Namespaced controllerrevisions [create delete deletecollection get list patch update watch]
interface ControllerRevision {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  data?: object;
  revision: int64;
}

// apps/v1 DaemonSet: Namespaced daemonsets /status [create delete deletecollection get list patch update watch]
interface DaemonSet {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  spec?: DaemonSetSpec;
  status?: DaemonSetStatus;
}

// apps/v1 Deployment: Namespaced deployments /scale /status [create delete deletecollection get list patch update watch]
interface Deployment {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  spec?: DeploymentSpec;
  status?: DeploymentStatus;
}

// apps/v1 ReplicaSet: Namespaced replicasets /scale /status [create delete deletecollection get list patch update watch]
interface ReplicaSet {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  spec?: ReplicaSetSpec;
  status?: ReplicaSetStatus;
}

// apps/v1 StatefulSet: Namespaced statefulsets /scale /status [create delete deletecollection get list patch update watch]
interface StatefulSet {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  spec?: StatefulSetSpec;
  status?: StatefulSetStatus;
}

// authentication.*/v1 TokenReview: Cluster tokenreviews [create]
interface TokenReview {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  spec: TokenReviewSpec;
  status?: TokenReviewStatus;
}

// authentication.*/v1alpha1 SelfSubjectReview: Cluster selfsubjectreviews [create]
interface SelfSubjectReview {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  status?: SelfSubjectReviewStatus;
}

// authorization.*/v1 LocalSubjectAccessReview: Namespaced localsubjectaccessreviews [create]
interface LocalSubjectAccessReview {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  spec: SubjectAccessReviewSpec;
  status?: SubjectAccessReviewStatus;
}

// authorization.*/v1 SelfSubjectAccessReview: Cluster selfsubjectaccessreviews [create]
interface SelfSubjectAccessReview {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  spec: SelfSubjectAccessReviewSpec;
  status?: SubjectAccessReviewStatus;
}

// authorization.*/v1 SelfSubjectRulesReview: Cluster selfsubjectrulesreviews [create]
interface SelfSubjectRulesReview {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  spec: SelfSubjectRulesReviewSpec;
  status?: SubjectRulesReviewStatus;
}

// authorization.*/v1 SubjectAccessReview: Cluster subjectaccessreviews [create]
interface SubjectAccessReview {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  spec: SubjectAccessReviewSpec;
  status?: SubjectAccessReviewStatus;
}

// autoscaling/v2 HorizontalPodAutoscaler: Namespaced horizontalpodautoscalers /status [create delete deletecollection get list patch update watch]
interface HorizontalPodAutoscaler {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  spec?: HorizontalPodAutoscalerSpec;
  status?: HorizontalPodAutoscalerStatus;
}

// autoscaling/v1 HorizontalPodAutoscaler: Namespaced horizontalpodautoscalers /status [create delete deletecollection get list patch update watch]
interface HorizontalPodAutoscaler {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  spec?: HorizontalPodAutoscalerSpec;
  status?: HorizontalPodAutoscalerStatus;
}

// batch/v1 CronJob: Namespaced cronjobs /status [create delete deletecollection get list patch update watch]
interface CronJob {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  spec?: CronJobSpec;
  status?: CronJobStatus;
}

// batch/v1 Job: Namespaced jobs /status [create delete deletecollection get list patch update watch]
interface Job {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  spec?: JobSpec;
  status?: JobStatus;
}

// certificates.*/v1 CertificateSigningRequest: Cluster certificatesigningrequests /approval /status [create delete deletecollection get list patch update watch]
interface CertificateSigningRequest {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  spec: CertificateSigningRequestSpec;
  status?: CertificateSigningRequestStatus;
}

// coordination.*/v1 Lease: Namespaced leases [create delete deletecollection get list patch update watch]
interface Lease {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  spec?: LeaseSpec;
}

// discovery.*/v1 EndpointSlice: Namespaced endpointslices [create delete deletecollection get list patch update watch]
interface EndpointSlice {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  endpoints: Endpoint[];
  ports?: EndpointPort[];
  addressType: string;
}

// events.*/v1 Event: Namespaced events [create delete deletecollection get list patch update watch]
interface Event {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  eventTime: microTime;
  series?: EventSeries;
  reportingController?: string;
  reportingInstance?: string;
  action?: string;
  reason?: string;
  regarding?: ObjectReference;
  related?: ObjectReference;
  note?: string;
  type?: string;
  deprecatedSource?: EventSource;
  deprecatedFirstTimestamp?: time;
  deprecatedLastTimestamp?: time;
  deprecatedCount?: int32;
}

// flowcontrol.apiserver.*/v1beta3 FlowSchema: Cluster flowschemas /status [create delete deletecollection get list patch update watch]
interface FlowSchema {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  spec?: FlowSchemaSpec;
  status?: FlowSchemaStatus;
}

// flowcontrol.apiserver.*/v1beta3 PriorityLevelConfiguration: Cluster prioritylevelconfigurations /status [create delete deletecollection get list patch update watch]
interface PriorityLevelConfiguration {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  spec?: PriorityLevelConfigurationSpec;
  status?: PriorityLevelConfigurationStatus;
}

// flowcontrol.apiserver.*/v1beta2 FlowSchema: Cluster flowschemas /status [create delete deletecollection get list patch update watch]
interface FlowSchema {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  spec?: FlowSchemaSpec;
  status?: FlowSchemaStatus;
}

// flowcontrol.apiserver.*/v1beta2 PriorityLevelConfiguration: Cluster prioritylevelconfigurations /status [create delete deletecollection get list patch update watch]
interface PriorityLevelConfiguration {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  spec?: PriorityLevelConfigurationSpec;
  status?: PriorityLevelConfigurationStatus;
}

// history.*/v1alpha1 ObjectVersion: Namespaced objectversions []
interface ObjectVersion {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  time?: time;
  user?: string;
  manager?: string;
  verb?: string;
  auditID?: string;
  deleted?: bool;
  previousVersion?: string;
  object?: json;
  error?: string;
}

// history.*/v1alpha1 Undo: Cluster undos [create]
interface Undo {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  spec: UndoSpec;
  status?: UndoStatus;
}

// insight.*/v1 AccessExplanation: Cluster accessexplanations [create]
interface AccessExplanation {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  spec: SubjectAccessReviewSpec;
  status?: AccessExplanationStatus;
}

// insight.*/v1 BulkAccessReview: Cluster bulkaccessreviews [create]
interface BulkAccessReview {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  spec: BulkAccessReviewSpec;
  status?: BulkAccessReviewStatus;
}

// insight.*/v1 SubjectAccessList: Cluster subjectaccesslists [create]
interface SubjectAccessList {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  spec: SubjectAccessListSpec;
  status?: SubjectAccessListStatus;
}

// internal.apiserver.*/v1alpha1 StorageVersion: Cluster storageversions /status [create delete deletecollection get list patch update watch]
interface StorageVersion {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  spec: StorageVersionSpec;
  status: StorageVersionStatus;
}

// networking.*/v1 IngressClass: Cluster ingressclasses [create delete deletecollection get list patch update watch]
interface IngressClass {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  spec?: IngressClassSpec;
}

// networking.*/v1 Ingress: Namespaced ingresses /status [create delete deletecollection get list patch update watch]
interface Ingress {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  spec?: IngressSpec;
  status?: IngressStatus;
}

// networking.*/v1 NetworkPolicy: Namespaced networkpolicies /status [create delete deletecollection get list patch update watch]
interface NetworkPolicy {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  spec?: NetworkPolicySpec;
  status?: NetworkPolicyStatus;
}

// networking.*/v1alpha1 ClusterCIDR: Cluster clustercidrs [create delete deletecollection get list patch update watch]
interface ClusterCIDR {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  spec?: ClusterCIDRSpec;
}

// node.*/v1 RuntimeClass: Cluster runtimeclasses [create delete deletecollection get list patch update watch]
interface RuntimeClass {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  handler: string;
  overhead?: Overhead;
  scheduling?: Scheduling;
}

// policy/v1 PodDisruptionBudget: Namespaced poddisruptionbudgets /status [create delete deletecollection get list patch update watch]
interface PodDisruptionBudget {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  spec?: PodDisruptionBudgetSpec;
  status?: PodDisruptionBudgetStatus;
}

// rbac.authorization.*/v1 ClusterRoleBinding: Cluster clusterrolebindings [create delete deletecollection get list patch update watch]
interface ClusterRoleBinding {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  subjects?: Subject[];
  roleRef: RoleRef;
}

// rbac.authorization.*/v1 ClusterRole: Cluster clusterroles [create delete deletecollection get list patch update watch]
interface ClusterRole {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  rules?: PolicyRule[];
  aggregationRule?: AggregationRule;
}

// rbac.authorization.*/v1 RoleBinding: Namespaced rolebindings [create delete deletecollection get list patch update watch]
interface RoleBinding {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  subjects?: Subject[];
  roleRef: RoleRef;
}

// rbac.authorization.*/v1 Role: Namespaced roles [create delete deletecollection get list patch update watch]
interface Role {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  rules?: PolicyRule[];
}

// resource.*/v1alpha1 PodScheduling: Namespaced podschedulings /status [create delete deletecollection get list patch update watch]
interface PodScheduling {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  spec: PodSchedulingSpec;
  status?: PodSchedulingStatus;
}

// resource.*/v1alpha1 ResourceClaim: Namespaced resourceclaims /status [create delete deletecollection get list patch update watch]
interface ResourceClaim {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  spec: ResourceClaimSpec;
  status?: ResourceClaimStatus;
}

// resource.*/v1alpha1 ResourceClaimTemplate: Namespaced resourceclaimtemplates [create delete deletecollection get list patch update watch]
interface ResourceClaimTemplate {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  spec: ResourceClaimTemplateSpec;
}

// resource.*/v1alpha1 ResourceClass: Cluster resourceclasses [create delete deletecollection get list patch update watch]
interface ResourceClass {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  driverName: string;
  parametersRef?: ResourceClassParametersReference;
  suitableNodes?: NodeSelector;
}

// scheduling.*/v1 PriorityClass: Cluster priorityclasses [create delete deletecollection get list patch update watch]
interface PriorityClass {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  value: int32;
  globalDefault?: bool;
  description?: string;
  preemptionPolicy?: string;
}

// storage.*/v1 CSIDriver: Cluster csidrivers [create delete deletecollection get list patch update watch]
interface CSIDriver {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  spec: CSIDriverSpec;
}

// storage.*/v1 CSINode: Cluster csinodes [create delete deletecollection get list patch update watch]
interface CSINode {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  spec: CSINodeSpec;
}

// storage.*/v1 CSIStorageCapacity: Namespaced csistoragecapacities [create delete deletecollection get list patch update watch]
interface CSIStorageCapacity {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  nodeTopology?: LabelSelector;
  storageClassName: string;
  capacity?: quantity;
  maximumVolumeSize?: quantity;
}

// storage.*/v1 StorageClass: Cluster storageclasses [create delete deletecollection get list patch update watch]
interface StorageClass {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  provisioner: string;
  parameters?: Record<string, string>;
  reclaimPolicy?: string;
  mountOptions?: string[];
  allowVolumeExpansion?: bool;
  volumeBindingMode?: string;
  allowedTopologies?: TopologySelectorTerm[];
}

// storage.*/v1 VolumeAttachment: Cluster volumeattachments /status [create delete deletecollection get list patch update watch]
interface VolumeAttachment {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  spec: VolumeAttachmentSpec;
  status?: VolumeAttachmentStatus;
}

// storage.*/v1beta1 CSIStorageCapacity: Namespaced csistoragecapacities [create delete deletecollection get list patch update watch]
interface CSIStorageCapacity {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  nodeTopology?: LabelSelector;
  storageClassName: string;
  capacity?: quantity;
  maximumVolumeSize?: quantity;
}

// tenancy.*/v1alpha1 WorkspaceDiff: Cluster workspacediffs [create]
interface WorkspaceDiff {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  spec: WorkspaceDiffSpec;
  status?: WorkspaceDiffStatus;
}

// tenancy.*/v1alpha1 WorkspaceMerge: Cluster workspacemerges [create]
interface WorkspaceMerge {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  spec: WorkspaceMergeSpec;
  status?: WorkspaceMergeStatus;
}

// tenancy.*/v1alpha1 WorkspacePreview: Cluster workspacepreviews [create]
interface WorkspacePreview {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  spec: WorkspacePreviewSpec;
  status?: WorkspacePreviewStatus;
}

// tenancy.*/v1alpha1 WorkspaceRebase: Cluster workspacerebases [create]
interface WorkspaceRebase {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  spec: WorkspaceRebaseSpec;
  status?: WorkspaceRebaseStatus;
}

// tenancy.*/v1alpha1 Workspace: Cluster workspaces /status [create delete deletecollection get list patch update watch]
interface Workspace {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  spec?: WorkspaceSpec;
  status?: WorkspaceStatus;
}

// transactions.*/v1alpha1 Transaction: Cluster transactions [create]
interface Transaction {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  spec: TransactionSpec;
  status?: TransactionStatus;
}

// admissionregistration/v1
interface MutatingWebhook {
  name: string;
  clientConfig: WebhookClientConfig;
  rules?: RuleWithOperations[];
  failurePolicy?: string;
  namespaceSelector?: LabelSelector;
  sideEffects: string;
  timeoutSeconds?: int32;
  admissionReviewVersions: string[];
  matchPolicy?: string;
  reinvocationPolicy?: string;
  objectSelector?: LabelSelector;
}

// admissionregistration/v1
interface RuleWithOperations {
  operations?: string[];
  apiGroups?: string[];
  apiVersions?: string[];
  resources?: string[];
  scope?: string;
}

// admissionregistration/v1
interface ServiceReference {
  namespace: string;
  name: string;
  path?: string;
  port?: int32;
}

// admissionregistration/v1
interface ValidatingWebhook {
  name: string;
  clientConfig: WebhookClientConfig;
  rules?: RuleWithOperations[];
  failurePolicy?: string;
  namespaceSelector?: LabelSelector;
  sideEffects: string;
  timeoutSeconds?: int32;
  admissionReviewVersions: string[];
  matchPolicy?: string;
  objectSelector?: LabelSelector;
}

// admissionregistration/v1
interface WebhookClientConfig {
  service?: ServiceReference;
  caBundle?: bytes;
  url?: string;
}

// admissionregistration/v1alpha1
interface MatchResources {
  namespaceSelector?: LabelSelector;
  objectSelector?: LabelSelector;
  resourceRules?: NamedRuleWithOperations[];
  excludeResourceRules?: NamedRuleWithOperations[];
  matchPolicy?: string;
}

// admissionregistration/v1alpha1
interface NamedRuleWithOperations {
  resourceNames?: string[];
  operations?: string[];
  apiGroups?: string[];
  apiVersions?: string[];
  resources?: string[];
  scope?: string;
}

// admissionregistration/v1alpha1
interface ParamKind {
  apiVersion?: string;
  kind?: string;
}

// admissionregistration/v1alpha1
interface ParamRef {
  name?: string;
  namespace?: string;
}

// admissionregistration/v1alpha1
interface ValidatingAdmissionPolicyBindingSpec {
  policyName?: string;
  paramRef?: ParamRef;
  matchResources?: MatchResources;
}

// admissionregistration/v1alpha1
interface ValidatingAdmissionPolicySpec {
  paramKind?: ParamKind;
  matchConstraints?: MatchResources;
  validations: Validation[];
  failurePolicy?: string;
}

// admissionregistration/v1alpha1
interface Validation {
  expression: string;
  message?: string;
  reason?: string;
}

// apiextensions/v1
interface CustomResourceColumnDefinition {
  name: string;
  type: string;
  format?: string;
  description?: string;
  priority?: int32;
  jsonPath: string;
}

// apiextensions/v1
interface CustomResourceConversion {
  strategy: string;
  webhook?: WebhookConversion;
}

// apiextensions/v1
interface CustomResourceDefinitionCondition {
  type: string;
  status: string;
  lastTransitionTime?: time;
  reason?: string;
  message?: string;
}

// apiextensions/v1
interface CustomResourceDefinitionNames {
  plural: string;
  singular?: string;
  shortNames?: string[];
  kind: string;
  listKind?: string;
  categories?: string[];
}

// apiextensions/v1
interface CustomResourceDefinitionSpec {
  group: string;
  names: CustomResourceDefinitionNames;
  scope: string;
  versions: CustomResourceDefinitionVersion[];
  conversion?: CustomResourceConversion;
  preserveUnknownFields?: bool;
}

// apiextensions/v1
interface CustomResourceDefinitionStatus {
  conditions?: CustomResourceDefinitionCondition[];
  acceptedNames?: CustomResourceDefinitionNames;
  storedVersions?: string[];
}

// apiextensions/v1
interface CustomResourceDefinitionVersion {
  name: string;
  served: bool;
  storage: bool;
  schema?: CustomResourceValidation;
  subresources?: CustomResourceSubresources;
  additionalPrinterColumns?: CustomResourceColumnDefinition[];
  deprecated?: bool;
  deprecationWarning?: string;
}

// apiextensions/v1
interface CustomResourceSubresourceScale {
  specReplicasPath: string;
  statusReplicasPath: string;
  labelSelectorPath?: string;
}

// apiextensions/v1
interface CustomResourceSubresourceStatus {}

// apiextensions/v1
interface CustomResourceSubresources {
  status?: CustomResourceSubresourceStatus;
  scale?: CustomResourceSubresourceScale;
}

// apiextensions/v1
interface CustomResourceValidation {
  openAPIV3Schema?: JSONSchemaProps;
}

// apiextensions/v1
interface ExternalDocumentation {
  description?: string;
  url?: string;
}

// apiextensions/v1
interface JSONSchemaProps {
  id?: string;
  $schema?: string;
  $ref?: string;
  description?: string;
  type?: string;
  format?: string;
  title?: string;
  default?: json;
  maximum?: double;
  exclusiveMaximum?: bool;
  minimum?: double;
  exclusiveMinimum?: bool;
  maxLength?: int64;
  minLength?: int64;
  pattern?: string;
  maxItems?: int64;
  minItems?: int64;
  uniqueItems?: bool;
  multipleOf?: double;
  enum?: json[];
  maxProperties?: int64;
  minProperties?: int64;
  required?: string[];
  items?: JSONSchemaProps | JSONSchemaProps[];
  allOf?: JSONSchemaProps[];
  oneOf?: JSONSchemaProps[];
  anyOf?: JSONSchemaProps[];
  not?: JSONSchemaProps;
  properties?: Record<string, JSONSchemaProps>;
  additionalProperties?: bool | JSONSchemaProps;
  patternProperties?: Record<string, JSONSchemaProps>;
  dependencies?: Record<string, JSONSchemaProps | string[]>;
  additionalItems?: bool | JSONSchemaProps;
  definitions?: Record<string, JSONSchemaProps>;
  externalDocs?: ExternalDocumentation;
  example?: json;
  nullable?: bool;
  "x-platform-preserve-unknown-fields"?: bool;
  "x-platform-embedded-resource"?: bool;
  "x-platform-int-or-string"?: bool;
  "x-platform-list-map-keys"?: string[];
  "x-platform-list-type"?: string;
  "x-platform-map-type"?: string;
  "x-platform-validations"?: ValidationRule[];
}

// apiextensions/v1
interface ServiceReference {
  namespace: string;
  name: string;
  path?: string;
  port?: int32;
}

// apiextensions/v1
interface ValidationRule {
  rule: string;
  message?: string;
}

// apiextensions/v1
interface WebhookClientConfig {
  service?: ServiceReference;
  caBundle?: bytes;
  url?: string;
}

// apiextensions/v1
interface WebhookConversion {
  clientConfig?: WebhookClientConfig;
  conversionReviewVersions: string[];
}

// apiregistration/v1
interface APIServiceCondition {
  type: string;
  status: string;
  lastTransitionTime?: time;
  reason?: string;
  message?: string;
}

// apiregistration/v1
interface APIServiceSpec {
  service?: ServiceReference;
  group?: string;
  version?: string;
  insecureSkipTLSVerify?: bool;
  caBundle?: bytes;
  groupPriorityMinimum: int32;
  versionPriority: int32;
}

// apiregistration/v1
interface APIServiceStatus {
  conditions?: APIServiceCondition[];
}

// apiregistration/v1
interface ServiceReference {
  namespace?: string;
  name?: string;
  port?: int32;
}

// apps/v1
interface DaemonSetCondition {
  type: string;
  status: string;
  lastTransitionTime?: time;
  reason?: string;
  message?: string;
}

// apps/v1
interface DaemonSetSpec {
  selector: LabelSelector;
  template: PodTemplateSpec;
  updateStrategy?: DaemonSetUpdateStrategy;
  minReadySeconds?: int32;
  revisionHistoryLimit?: int32;
}

// apps/v1
interface DaemonSetStatus {
  currentNumberScheduled: int32;
  numberMisscheduled: int32;
  desiredNumberScheduled: int32;
  numberReady: int32;
  observedGeneration?: int64;
  updatedNumberScheduled?: int32;
  numberAvailable?: int32;
  numberUnavailable?: int32;
  collisionCount?: int32;
  conditions?: DaemonSetCondition[];
}

// apps/v1
interface DaemonSetUpdateStrategy {
  type?: string;
  rollingUpdate?: RollingUpdateDaemonSet;
}

// apps/v1
interface DeploymentCondition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastUpdateTime?: time;
  lastTransitionTime?: time;
}

// apps/v1
interface DeploymentSpec {
  replicas?: int32;
  selector: LabelSelector;
  template: PodTemplateSpec;
  strategy?: DeploymentStrategy;
  minReadySeconds?: int32;
  revisionHistoryLimit?: int32;
  paused?: bool;
  progressDeadlineSeconds?: int32;
}

// apps/v1
interface DeploymentStatus {
  observedGeneration?: int64;
  replicas?: int32;
  updatedReplicas?: int32;
  availableReplicas?: int32;
  unavailableReplicas?: int32;
  conditions?: DeploymentCondition[];
  readyReplicas?: int32;
  collisionCount?: int32;
}

// apps/v1
interface DeploymentStrategy {
  type?: string;
  rollingUpdate?: RollingUpdateDeployment;
}

// apps/v1
interface ReplicaSetCondition {
  type: string;
  status: string;
  lastTransitionTime?: time;
  reason?: string;
  message?: string;
}

// apps/v1
interface ReplicaSetSpec {
  replicas?: int32;
  selector: LabelSelector;
  template?: PodTemplateSpec;
  minReadySeconds?: int32;
}

// apps/v1
interface ReplicaSetStatus {
  replicas: int32;
  fullyLabeledReplicas?: int32;
  observedGeneration?: int64;
  readyReplicas?: int32;
  availableReplicas?: int32;
  conditions?: ReplicaSetCondition[];
}

// apps/v1
interface RollingUpdateDaemonSet {
  maxUnavailable?: intOrString;
  maxSurge?: intOrString;
}

// apps/v1
interface RollingUpdateDeployment {
  maxUnavailable?: intOrString;
  maxSurge?: intOrString;
}

// apps/v1
interface RollingUpdateStatefulSetStrategy {
  partition?: int32;
  maxUnavailable?: intOrString;
}

// apps/v1
interface StatefulSetCondition {
  type: string;
  status: string;
  lastTransitionTime?: time;
  reason?: string;
  message?: string;
}

// apps/v1
interface StatefulSetOrdinals {
  start?: int32;
}

// apps/v1
interface StatefulSetPersistentVolumeClaimRetentionPolicy {
  whenDeleted?: string;
  whenScaled?: string;
}

// apps/v1
interface StatefulSetSpec {
  replicas?: int32;
  selector: LabelSelector;
  template: PodTemplateSpec;
  volumeClaimTemplates?: PersistentVolumeClaim[];
  serviceName: string;
  podManagementPolicy?: string;
  updateStrategy?: StatefulSetUpdateStrategy;
  revisionHistoryLimit?: int32;
  minReadySeconds?: int32;
  persistentVolumeClaimRetentionPolicy?: StatefulSetPersistentVolumeClaimRetentionPolicy;
  ordinals?: StatefulSetOrdinals;
}

// apps/v1
interface StatefulSetStatus {
  observedGeneration?: int64;
  replicas: int32;
  readyReplicas?: int32;
  currentReplicas?: int32;
  updatedReplicas?: int32;
  currentRevision?: string;
  updateRevision?: string;
  collisionCount?: int32;
  conditions?: StatefulSetCondition[];
  availableReplicas?: int32;
}

// apps/v1
interface StatefulSetUpdateStrategy {
  type?: string;
  rollingUpdate?: RollingUpdateStatefulSetStrategy;
}

// authentication/v1
interface TokenReviewSpec {
  token?: string;
  audiences?: string[];
}

// authentication/v1
interface TokenReviewStatus {
  authenticated?: bool;
  user?: UserInfo;
  error?: string;
  audiences?: string[];
}

// authentication/v1
interface UserInfo {
  username?: string;
  uid?: string;
  groups?: string[];
  extra?: Record<string, string[]>;
}

// authentication/v1alpha1
interface SelfSubjectReviewStatus {
  userInfo?: UserInfo;
}

// authorization/v1
interface NonResourceAttributes {
  path?: string;
  verb?: string;
}

// authorization/v1
interface NonResourceRule {
  verbs: string[];
  nonResourceURLs?: string[];
}

// authorization/v1
interface ResourceAttributes {
  namespace?: string;
  verb?: string;
  group?: string;
  version?: string;
  resource?: string;
  subresource?: string;
  name?: string;
}

// authorization/v1
interface ResourceRule {
  verbs: string[];
  apiGroups?: string[];
  resources?: string[];
  resourceNames?: string[];
}

// authorization/v1
interface SelfSubjectAccessReviewSpec {
  resourceAttributes?: ResourceAttributes;
  nonResourceAttributes?: NonResourceAttributes;
}

// authorization/v1
interface SelfSubjectRulesReviewSpec {
  namespace?: string;
}

// authorization/v1
interface SubjectAccessReviewSpec {
  resourceAttributes?: ResourceAttributes;
  nonResourceAttributes?: NonResourceAttributes;
  user?: string;
  groups?: string[];
  extra?: Record<string, string[]>;
  uid?: string;
}

// authorization/v1
interface SubjectAccessReviewStatus {
  allowed: bool;
  denied?: bool;
  reason?: string;
  evaluationError?: string;
}

// authorization/v1
interface SubjectRulesReviewStatus {
  resourceRules: ResourceRule[];
  nonResourceRules: NonResourceRule[];
  incomplete: bool;
  evaluationError?: string;
}

// autoscaling/v1
interface CrossVersionObjectReference {
  kind: string;
  name: string;
  apiVersion?: string;
}

// autoscaling/v1
interface HorizontalPodAutoscalerSpec {
  scaleTargetRef: CrossVersionObjectReference;
  minReplicas?: int32;
  maxReplicas: int32;
  targetCPUUtilizationPercentage?: int32;
}

// autoscaling/v1
interface HorizontalPodAutoscalerStatus {
  observedGeneration?: int64;
  lastScaleTime?: time;
  currentReplicas: int32;
  desiredReplicas: int32;
  currentCPUUtilizationPercentage?: int32;
}

// autoscaling/v2
interface ContainerResourceMetricSource {
  name: string;
  target: MetricTarget;
  container: string;
}

// autoscaling/v2
interface ContainerResourceMetricStatus {
  name: string;
  current: MetricValueStatus;
  container: string;
}

// autoscaling/v2
interface CrossVersionObjectReference {
  kind: string;
  name: string;
  apiVersion?: string;
}

// autoscaling/v2
interface ExternalMetricSource {
  metric: MetricIdentifier;
  target: MetricTarget;
}

// autoscaling/v2
interface ExternalMetricStatus {
  metric: MetricIdentifier;
  current: MetricValueStatus;
}

// autoscaling/v2
interface HPAScalingPolicy {
  type: string;
  value: int32;
  periodSeconds: int32;
}

// autoscaling/v2
interface HPAScalingRules {
  selectPolicy?: string;
  policies?: HPAScalingPolicy[];
  stabilizationWindowSeconds?: int32;
}

// autoscaling/v2
interface HorizontalPodAutoscalerBehavior {
  scaleUp?: HPAScalingRules;
  scaleDown?: HPAScalingRules;
}

// autoscaling/v2
interface HorizontalPodAutoscalerCondition {
  type: string;
  status: string;
  lastTransitionTime?: time;
  reason?: string;
  message?: string;
}

// autoscaling/v2
interface HorizontalPodAutoscalerSpec {
  scaleTargetRef: CrossVersionObjectReference;
  minReplicas?: int32;
  maxReplicas: int32;
  metrics?: MetricSpec[];
  behavior?: HorizontalPodAutoscalerBehavior;
}

// autoscaling/v2
interface HorizontalPodAutoscalerStatus {
  observedGeneration?: int64;
  lastScaleTime?: time;
  currentReplicas?: int32;
  desiredReplicas: int32;
  currentMetrics?: MetricStatus[];
  conditions?: HorizontalPodAutoscalerCondition[];
}

// autoscaling/v2
interface MetricIdentifier {
  name: string;
  selector?: LabelSelector;
}

// autoscaling/v2
interface MetricSpec {
  type: string;
  object?: ObjectMetricSource;
  pods?: PodsMetricSource;
  resource?: ResourceMetricSource;
  external?: ExternalMetricSource;
  containerResource?: ContainerResourceMetricSource;
}

// autoscaling/v2
interface MetricStatus {
  type: string;
  object?: ObjectMetricStatus;
  pods?: PodsMetricStatus;
  resource?: ResourceMetricStatus;
  external?: ExternalMetricStatus;
  containerResource?: ContainerResourceMetricStatus;
}

// autoscaling/v2
interface MetricTarget {
  type: string;
  value?: quantity;
  averageValue?: quantity;
  averageUtilization?: int32;
}

// autoscaling/v2
interface MetricValueStatus {
  value?: quantity;
  averageValue?: quantity;
  averageUtilization?: int32;
}

// autoscaling/v2
interface ObjectMetricSource {
  describedObject: CrossVersionObjectReference;
  target: MetricTarget;
  metric: MetricIdentifier;
}

// autoscaling/v2
interface ObjectMetricStatus {
  metric: MetricIdentifier;
  current: MetricValueStatus;
  describedObject: CrossVersionObjectReference;
}

// autoscaling/v2
interface PodsMetricSource {
  metric: MetricIdentifier;
  target: MetricTarget;
}

// autoscaling/v2
interface PodsMetricStatus {
  metric: MetricIdentifier;
  current: MetricValueStatus;
}

// autoscaling/v2
interface ResourceMetricSource {
  name: string;
  target: MetricTarget;
}

// autoscaling/v2
interface ResourceMetricStatus {
  name: string;
  current: MetricValueStatus;
}

// batch/v1
interface CronJobSpec {
  schedule: string;
  startingDeadlineSeconds?: int64;
  concurrencyPolicy?: string;
  suspend?: bool;
  jobTemplate: JobTemplateSpec;
  successfulJobsHistoryLimit?: int32;
  failedJobsHistoryLimit?: int32;
  timeZone?: string;
}

// batch/v1
interface CronJobStatus {
  active?: ObjectReference[];
  lastScheduleTime?: time;
  lastSuccessfulTime?: time;
}

// batch/v1
interface JobCondition {
  type: string;
  status: string;
  lastProbeTime?: time;
  lastTransitionTime?: time;
  reason?: string;
  message?: string;
}

// batch/v1
interface JobSpec {
  parallelism?: int32;
  completions?: int32;
  activeDeadlineSeconds?: int64;
  selector?: LabelSelector;
  manualSelector?: bool;
  template: PodTemplateSpec;
  backoffLimit?: int32;
  ttlSecondsAfterFinished?: int32;
  completionMode?: string;
  suspend?: bool;
  podFailurePolicy?: PodFailurePolicy;
}

// batch/v1
interface JobStatus {
  conditions?: JobCondition[];
  startTime?: time;
  completionTime?: time;
  active?: int32;
  succeeded?: int32;
  failed?: int32;
  completedIndexes?: string;
  uncountedTerminatedPods?: UncountedTerminatedPods;
  ready?: int32;
}

// batch/v1
interface JobTemplateSpec {
  metadata?: ObjectMeta;
  spec?: JobSpec;
}

// batch/v1
interface PodFailurePolicy {
  rules: PodFailurePolicyRule[];
}

// batch/v1
interface PodFailurePolicyOnExitCodesRequirement {
  containerName?: string;
  operator: string;
  values: int32[];
}

// batch/v1
interface PodFailurePolicyOnPodConditionsPattern {
  type: string;
  status: string;
}

// batch/v1
interface PodFailurePolicyRule {
  action: string;
  onExitCodes?: PodFailurePolicyOnExitCodesRequirement;
  onPodConditions?: PodFailurePolicyOnPodConditionsPattern[];
}

// batch/v1
interface UncountedTerminatedPods {
  succeeded?: string[];
  failed?: string[];
}

// certificates/v1
interface CertificateSigningRequestCondition {
  type: string;
  reason?: string;
  message?: string;
  lastUpdateTime?: time;
  lastTransitionTime?: time;
  status: string;
}

// certificates/v1
interface CertificateSigningRequestSpec {
  request: bytes;
  username?: string;
  uid?: string;
  groups?: string[];
  usages?: string[];
  extra?: Record<string, string[]>;
  signerName: string;
  expirationSeconds?: int32;
}

// certificates/v1
interface CertificateSigningRequestStatus {
  conditions?: CertificateSigningRequestCondition[];
  certificate?: bytes;
}

// coordination/v1
interface LeaseSpec {
  holderIdentity?: string;
  leaseDurationSeconds?: int32;
  acquireTime?: microTime;
  renewTime?: microTime;
  leaseTransitions?: int32;
}

// core/v1
interface AWSElasticBlockStoreVolumeSource {
  volumeID: string;
  fsType?: string;
  partition?: int32;
  readOnly?: bool;
}

// core/v1
interface Affinity {
  nodeAffinity?: NodeAffinity;
  podAffinity?: PodAffinity;
  podAntiAffinity?: PodAntiAffinity;
}

// core/v1
interface AttachedVolume {
  name: string;
  devicePath: string;
}

// core/v1
interface AzureDiskVolumeSource {
  diskName: string;
  diskURI: string;
  cachingMode?: string;
  fsType?: string;
  readOnly?: bool;
  kind?: string;
}

// core/v1
interface AzureFilePersistentVolumeSource {
  secretName: string;
  shareName: string;
  readOnly?: bool;
  secretNamespace?: string;
}

// core/v1
interface AzureFileVolumeSource {
  secretName: string;
  shareName: string;
  readOnly?: bool;
}

// core/v1
interface CSIPersistentVolumeSource {
  driver: string;
  volumeHandle: string;
  readOnly?: bool;
  fsType?: string;
  volumeAttributes?: Record<string, string>;
  controllerPublishSecretRef?: SecretReference;
  nodeStageSecretRef?: SecretReference;
  nodePublishSecretRef?: SecretReference;
  controllerExpandSecretRef?: SecretReference;
  nodeExpandSecretRef?: SecretReference;
}

// core/v1
interface CSIVolumeSource {
  driver: string;
  readOnly?: bool;
  fsType?: string;
  volumeAttributes?: Record<string, string>;
  nodePublishSecretRef?: LocalObjectReference;
}

// core/v1
interface Capabilities {
  add?: string[];
  drop?: string[];
}

// core/v1
interface CephFSPersistentVolumeSource {
  monitors: string[];
  path?: string;
  user?: string;
  secretFile?: string;
  secretRef?: SecretReference;
  readOnly?: bool;
}

// core/v1
interface CephFSVolumeSource {
  monitors: string[];
  path?: string;
  user?: string;
  secretFile?: string;
  secretRef?: LocalObjectReference;
  readOnly?: bool;
}

// core/v1
interface CinderPersistentVolumeSource {
  volumeID: string;
  fsType?: string;
  readOnly?: bool;
  secretRef?: SecretReference;
}

// core/v1
interface CinderVolumeSource {
  volumeID: string;
  fsType?: string;
  readOnly?: bool;
  secretRef?: LocalObjectReference;
}

// core/v1
interface ClaimSource {
  resourceClaimName?: string;
  resourceClaimTemplateName?: string;
}

// core/v1
interface ClientIPConfig {
  timeoutSeconds?: int32;
}

// core/v1
interface ComponentCondition {
  type: string;
  status: string;
  message?: string;
  error?: string;
}

// core/v1
interface ConfigMapEnvSource {
  name?: string;
  optional?: bool;
}

// core/v1
interface ConfigMapKeySelector {
  name?: string;
  key: string;
  optional?: bool;
}

// core/v1
interface ConfigMapNodeConfigSource {
  namespace: string;
  name: string;
  uid?: string;
  resourceVersion?: string;
  kubeletConfigKey: string;
}

// core/v1
interface ConfigMapProjection {
  name?: string;
  items?: KeyToPath[];
  optional?: bool;
}

// core/v1
interface ConfigMapVolumeSource {
  name?: string;
  items?: KeyToPath[];
  defaultMode?: int32;
  optional?: bool;
}

// core/v1
interface Container {
  name: string;
  image?: string;
  command?: string[];
  args?: string[];
  workingDir?: string;
  ports?: ContainerPort[];
  env?: EnvVar[];
  resources?: ResourceRequirements;
  volumeMounts?: VolumeMount[];
  livenessProbe?: Probe;
  readinessProbe?: Probe;
  lifecycle?: Lifecycle;
  terminationMessagePath?: string;
  imagePullPolicy?: string;
  securityContext?: SecurityContext;
  stdin?: bool;
  stdinOnce?: bool;
  tty?: bool;
  envFrom?: EnvFromSource[];
  terminationMessagePolicy?: string;
  volumeDevices?: VolumeDevice[];
  startupProbe?: Probe;
}

// core/v1
interface ContainerImage {
  names?: string[];
  sizeBytes?: int64;
}

// core/v1
interface ContainerPort {
  name?: string;
  hostPort?: int32;
  containerPort: int32;
  protocol?: string;
  hostIP?: string;
}

// core/v1
interface ContainerState {
  waiting?: ContainerStateWaiting;
  running?: ContainerStateRunning;
  terminated?: ContainerStateTerminated;
}

// core/v1
interface ContainerStateRunning {
  startedAt?: time;
}

// core/v1
interface ContainerStateTerminated {
  exitCode: int32;
  signal?: int32;
  reason?: string;
  message?: string;
  startedAt?: time;
  finishedAt?: time;
  containerID?: string;
}

// core/v1
interface ContainerStateWaiting {
  reason?: string;
  message?: string;
}

// core/v1
interface ContainerStatus {
  name: string;
  state?: ContainerState;
  lastState?: ContainerState;
  ready: bool;
  restartCount: int32;
  image: string;
  imageID: string;
  containerID?: string;
  started?: bool;
}

// core/v1
interface DaemonEndpoint {
  Port: int32;
}

// core/v1
interface DownwardAPIProjection {
  items?: DownwardAPIVolumeFile[];
}

// core/v1
interface DownwardAPIVolumeFile {
  path: string;
  fieldRef?: ObjectFieldSelector;
  resourceFieldRef?: ResourceFieldSelector;
  mode?: int32;
}

// core/v1
interface DownwardAPIVolumeSource {
  items?: DownwardAPIVolumeFile[];
  defaultMode?: int32;
}

// core/v1
interface EmptyDirVolumeSource {
  medium?: string;
  sizeLimit?: quantity;
}

// core/v1
interface EndpointAddress {
  ip: string;
  targetRef?: ObjectReference;
  hostname?: string;
  nodeName?: string;
}

// core/v1
interface EndpointPort {
  name?: string;
  port: int32;
  protocol?: string;
  appProtocol?: string;
}

// core/v1
interface EndpointSubset {
  addresses?: EndpointAddress[];
  notReadyAddresses?: EndpointAddress[];
  ports?: EndpointPort[];
}

// core/v1
interface EnvFromSource {
  prefix?: string;
  configMapRef?: ConfigMapEnvSource;
  secretRef?: SecretEnvSource;
}

// core/v1
interface EnvVar {
  name: string;
  value?: string;
  valueFrom?: EnvVarSource;
}

// core/v1
interface EnvVarSource {
  fieldRef?: ObjectFieldSelector;
  resourceFieldRef?: ResourceFieldSelector;
  configMapKeyRef?: ConfigMapKeySelector;
  secretKeyRef?: SecretKeySelector;
}

// core/v1
interface EphemeralContainer {
  name: string;
  image?: string;
  command?: string[];
  args?: string[];
  workingDir?: string;
  ports?: ContainerPort[];
  env?: EnvVar[];
  resources?: ResourceRequirements;
  volumeMounts?: VolumeMount[];
  livenessProbe?: Probe;
  readinessProbe?: Probe;
  lifecycle?: Lifecycle;
  terminationMessagePath?: string;
  imagePullPolicy?: string;
  securityContext?: SecurityContext;
  stdin?: bool;
  stdinOnce?: bool;
  tty?: bool;
  envFrom?: EnvFromSource[];
  terminationMessagePolicy?: string;
  volumeDevices?: VolumeDevice[];
  startupProbe?: Probe;
  targetContainerName?: string;
}

// core/v1
interface EphemeralVolumeSource {
  volumeClaimTemplate?: PersistentVolumeClaimTemplate;
}

// core/v1
interface EventSeries {
  count?: int32;
  lastObservedTime?: microTime;
}

// core/v1
interface EventSource {
  component?: string;
  host?: string;
}

// core/v1
interface ExecAction {
  command?: string[];
}

// core/v1
interface FCVolumeSource {
  targetWWNs?: string[];
  lun?: int32;
  fsType?: string;
  readOnly?: bool;
  wwids?: string[];
}

// core/v1
interface FlexPersistentVolumeSource {
  driver: string;
  fsType?: string;
  secretRef?: SecretReference;
  readOnly?: bool;
  options?: Record<string, string>;
}

// core/v1
interface FlexVolumeSource {
  driver: string;
  fsType?: string;
  secretRef?: LocalObjectReference;
  readOnly?: bool;
  options?: Record<string, string>;
}

// core/v1
interface FlockerVolumeSource {
  datasetName?: string;
  datasetUUID?: string;
}

// core/v1
interface GCEPersistentDiskVolumeSource {
  pdName: string;
  fsType?: string;
  partition?: int32;
  readOnly?: bool;
}

// core/v1
interface GRPCAction {
  port: int32;
  service?: string;
}

// core/v1
interface GitRepoVolumeSource {
  repository: string;
  revision?: string;
  directory?: string;
}

// core/v1
interface GlusterfsPersistentVolumeSource {
  endpoints: string;
  path: string;
  readOnly?: bool;
  endpointsNamespace?: string;
}

// core/v1
interface GlusterfsVolumeSource {
  endpoints: string;
  path: string;
  readOnly?: bool;
}

// core/v1
interface HTTPGetAction {
  path?: string;
  port: intOrString;
  host?: string;
  scheme?: string;
  httpHeaders?: HTTPHeader[];
}

// core/v1
interface HTTPHeader {
  name: string;
  value: string;
}

// core/v1
interface HostAlias {
  ip?: string;
  hostnames?: string[];
}

// core/v1
interface HostPathVolumeSource {
  path: string;
  type?: string;
}

// core/v1
interface ISCSIPersistentVolumeSource {
  targetPortal: string;
  iqn: string;
  lun: int32;
  iscsiInterface?: string;
  fsType?: string;
  readOnly?: bool;
  portals?: string[];
  chapAuthDiscovery?: bool;
  secretRef?: SecretReference;
  chapAuthSession?: bool;
  initiatorName?: string;
}

// core/v1
interface ISCSIVolumeSource {
  targetPortal: string;
  iqn: string;
  lun: int32;
  iscsiInterface?: string;
  fsType?: string;
  readOnly?: bool;
  portals?: string[];
  chapAuthDiscovery?: bool;
  secretRef?: LocalObjectReference;
  chapAuthSession?: bool;
  initiatorName?: string;
}

// core/v1
interface KeyToPath {
  key: string;
  path: string;
  mode?: int32;
}

// core/v1
interface Lifecycle {
  postStart?: LifecycleHandler;
  preStop?: LifecycleHandler;
}

// core/v1
interface LifecycleHandler {
  exec?: ExecAction;
  httpGet?: HTTPGetAction;
  tcpSocket?: TCPSocketAction;
}

// core/v1
interface LimitRangeItem {
  type: string;
  max?: Record<string, quantity>;
  min?: Record<string, quantity>;
  default?: Record<string, quantity>;
  defaultRequest?: Record<string, quantity>;
  maxLimitRequestRatio?: Record<string, quantity>;
}

// core/v1
interface LimitRangeSpec {
  limits: LimitRangeItem[];
}

// core/v1
interface LoadBalancerIngress {
  ip?: string;
  hostname?: string;
  ports?: PortStatus[];
}

// core/v1
interface LoadBalancerStatus {
  ingress?: LoadBalancerIngress[];
}

// core/v1
interface LocalObjectReference {
  name?: string;
}

// core/v1
interface LocalVolumeSource {
  path: string;
  fsType?: string;
}

// core/v1
interface NFSVolumeSource {
  server: string;
  path: string;
  readOnly?: bool;
}

// core/v1
interface NamespaceCondition {
  type: string;
  status: string;
  lastTransitionTime?: time;
  reason?: string;
  message?: string;
}

// core/v1
interface NamespaceSpec {
  finalizers?: string[];
}

// core/v1
interface NamespaceStatus {
  phase?: string;
  conditions?: NamespaceCondition[];
}

// core/v1
interface NodeAddress {
  type: string;
  address: string;
}

// core/v1
interface NodeAffinity {
  requiredDuringSchedulingIgnoredDuringExecution?: NodeSelector;
  preferredDuringSchedulingIgnoredDuringExecution?: PreferredSchedulingTerm[];
}

// core/v1
interface NodeCondition {
  type: string;
  status: string;
  lastHeartbeatTime?: time;
  lastTransitionTime?: time;
  reason?: string;
  message?: string;
}

// core/v1
interface NodeConfigSource {
  configMap?: ConfigMapNodeConfigSource;
}

// core/v1
interface NodeConfigStatus {
  assigned?: NodeConfigSource;
  active?: NodeConfigSource;
  lastKnownGood?: NodeConfigSource;
  error?: string;
}

// core/v1
interface NodeDaemonEndpoints {
  kubeletEndpoint?: DaemonEndpoint;
}

// core/v1
interface NodeSelector {
  nodeSelectorTerms: NodeSelectorTerm[];
}

// core/v1
interface NodeSelectorRequirement {
  key: string;
  operator: string;
  values?: string[];
}

// core/v1
interface NodeSelectorTerm {
  matchExpressions?: NodeSelectorRequirement[];
  matchFields?: NodeSelectorRequirement[];
}

// core/v1
interface NodeSpec {
  podCIDR?: string;
  externalID?: string;
  providerID?: string;
  unschedulable?: bool;
  taints?: Taint[];
  configSource?: NodeConfigSource;
  podCIDRs?: string[];
}

// core/v1
interface NodeStatus {
  capacity?: Record<string, quantity>;
  allocatable?: Record<string, quantity>;
  phase?: string;
  conditions?: NodeCondition[];
  addresses?: NodeAddress[];
  daemonEndpoints?: NodeDaemonEndpoints;
  nodeInfo?: NodeSystemInfo;
  images?: ContainerImage[];
  volumesInUse?: string[];
  volumesAttached?: AttachedVolume[];
  config?: NodeConfigStatus;
}

// core/v1
interface NodeSystemInfo {
  machineID: string;
  systemUUID: string;
  bootID: string;
  kernelVersion: string;
  osImage: string;
  containerRuntimeVersion: string;
  kubeletVersion: string;
  kubeProxyVersion: string;
  operatingSystem: string;
  architecture: string;
}

// core/v1
interface ObjectFieldSelector {
  apiVersion?: string;
  fieldPath: string;
}

// core/v1
interface ObjectReference {
  kind?: string;
  namespace?: string;
  name?: string;
  uid?: string;
  apiVersion?: string;
  resourceVersion?: string;
  fieldPath?: string;
}

// core/v1
interface PersistentVolumeClaim {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
  spec?: PersistentVolumeClaimSpec;
  status?: PersistentVolumeClaimStatus;
}

// core/v1
interface PersistentVolumeClaimCondition {
  type: string;
  status: string;
  lastProbeTime?: time;
  lastTransitionTime?: time;
  reason?: string;
  message?: string;
}

// core/v1
interface PersistentVolumeClaimSpec {
  accessModes?: string[];
  resources?: ResourceRequirements;
  volumeName?: string;
  selector?: LabelSelector;
  storageClassName?: string;
  volumeMode?: string;
  dataSource?: TypedLocalObjectReference;
  dataSourceRef?: TypedObjectReference;
}

// core/v1
interface PersistentVolumeClaimStatus {
  phase?: string;
  accessModes?: string[];
  capacity?: Record<string, quantity>;
  conditions?: PersistentVolumeClaimCondition[];
  allocatedResources?: Record<string, quantity>;
  resizeStatus?: string;
}

// core/v1
interface PersistentVolumeClaimTemplate {
  metadata?: ObjectMeta;
  spec: PersistentVolumeClaimSpec;
}

// core/v1
interface PersistentVolumeClaimVolumeSource {
  claimName: string;
  readOnly?: bool;
}

// core/v1
interface PersistentVolumeSpec {
  capacity?: Record<string, quantity>;
  gcePersistentDisk?: GCEPersistentDiskVolumeSource;
  awsElasticBlockStore?: AWSElasticBlockStoreVolumeSource;
  hostPath?: HostPathVolumeSource;
  glusterfs?: GlusterfsPersistentVolumeSource;
  nfs?: NFSVolumeSource;
  rbd?: RBDPersistentVolumeSource;
  iscsi?: ISCSIPersistentVolumeSource;
  cinder?: CinderPersistentVolumeSource;
  cephfs?: CephFSPersistentVolumeSource;
  fc?: FCVolumeSource;
  flocker?: FlockerVolumeSource;
  flexVolume?: FlexPersistentVolumeSource;
  azureFile?: AzureFilePersistentVolumeSource;
  vsphereVolume?: VsphereVirtualDiskVolumeSource;
  quobyte?: QuobyteVolumeSource;
  azureDisk?: AzureDiskVolumeSource;
  photonPersistentDisk?: PhotonPersistentDiskVolumeSource;
  portworxVolume?: PortworxVolumeSource;
  scaleIO?: ScaleIOPersistentVolumeSource;
  local?: LocalVolumeSource;
  storageos?: StorageOSPersistentVolumeSource;
  csi?: CSIPersistentVolumeSource;
  accessModes?: string[];
  claimRef?: ObjectReference;
  persistentVolumeReclaimPolicy?: string;
  storageClassName?: string;
  mountOptions?: string[];
  volumeMode?: string;
  nodeAffinity?: VolumeNodeAffinity;
}

// core/v1
interface PersistentVolumeStatus {
  phase?: string;
  message?: string;
  reason?: string;
}

// core/v1
interface PhotonPersistentDiskVolumeSource {
  pdID: string;
  fsType?: string;
}

// core/v1
interface PodAffinity {
  requiredDuringSchedulingIgnoredDuringExecution?: PodAffinityTerm[];
  preferredDuringSchedulingIgnoredDuringExecution?: WeightedPodAffinityTerm[];
}

// core/v1
interface PodAffinityTerm {
  labelSelector?: LabelSelector;
  namespaces?: string[];
  topologyKey: string;
  namespaceSelector?: LabelSelector;
}

// core/v1
interface PodAntiAffinity {
  requiredDuringSchedulingIgnoredDuringExecution?: PodAffinityTerm[];
  preferredDuringSchedulingIgnoredDuringExecution?: WeightedPodAffinityTerm[];
}

// core/v1
interface PodCondition {
  type: string;
  status: string;
  lastProbeTime?: time;
  lastTransitionTime?: time;
  reason?: string;
  message?: string;
}

// core/v1
interface PodDNSConfig {
  nameservers?: string[];
  searches?: string[];
  options?: PodDNSConfigOption[];
}

// core/v1
interface PodDNSConfigOption {
  name?: string;
  value?: string;
}

// core/v1
interface PodIP {
  ip?: string;
}

// core/v1
interface PodOS {
  name: string;
}

// core/v1
interface PodReadinessGate {
  conditionType: string;
}

// core/v1
interface PodResourceClaim {
  name: string;
  source?: ClaimSource;
}

// core/v1
interface PodSchedulingGate {
  name: string;
}

// core/v1
interface PodSecurityContext {
  seLinuxOptions?: SELinuxOptions;
  runAsUser?: int64;
  runAsNonRoot?: bool;
  supplementalGroups?: int64[];
  fsGroup?: int64;
  runAsGroup?: int64;
  sysctls?: Sysctl[];
  windowsOptions?: WindowsSecurityContextOptions;
  fsGroupChangePolicy?: string;
  seccompProfile?: SeccompProfile;
}

// core/v1
interface PodSpec {
  volumes?: Volume[];
  containers: Container[];
  restartPolicy?: string;
  terminationGracePeriodSeconds?: int64;
  activeDeadlineSeconds?: int64;
  dnsPolicy?: string;
  nodeSelector?: Record<string, string>;
  serviceAccountName?: string;
  serviceAccount?: string;
  nodeName?: string;
  hostNetwork?: bool;
  hostPID?: bool;
  hostIPC?: bool;
  securityContext?: PodSecurityContext;
  imagePullSecrets?: LocalObjectReference[];
  hostname?: string;
  subdomain?: string;
  affinity?: Affinity;
  schedulerName?: string;
  initContainers?: Container[];
  automountServiceAccountToken?: bool;
  tolerations?: Toleration[];
  hostAliases?: HostAlias[];
  priorityClassName?: string;
  priority?: int32;
  dnsConfig?: PodDNSConfig;
  shareProcessNamespace?: bool;
  readinessGates?: PodReadinessGate[];
  runtimeClassName?: string;
  enableServiceLinks?: bool;
  preemptionPolicy?: string;
  overhead?: Record<string, quantity>;
  topologySpreadConstraints?: TopologySpreadConstraint[];
  ephemeralContainers?: EphemeralContainer[];
  setHostnameAsFQDN?: bool;
  os?: PodOS;
  hostUsers?: bool;
  schedulingGates?: PodSchedulingGate[];
  resourceClaims?: PodResourceClaim[];
}

// core/v1
interface PodStatus {
  phase?: string;
  conditions?: PodCondition[];
  message?: string;
  reason?: string;
  hostIP?: string;
  podIP?: string;
  startTime?: time;
  containerStatuses?: ContainerStatus[];
  qosClass?: string;
  initContainerStatuses?: ContainerStatus[];
  nominatedNodeName?: string;
  podIPs?: PodIP[];
  ephemeralContainerStatuses?: ContainerStatus[];
}

// core/v1
interface PodTemplateSpec {
  metadata?: ObjectMeta;
  spec?: PodSpec;
}

// core/v1
interface PortStatus {
  port: int32;
  protocol: string;
  error?: string;
}

// core/v1
interface PortworxVolumeSource {
  volumeID: string;
  fsType?: string;
  readOnly?: bool;
}

// core/v1
interface PreferredSchedulingTerm {
  weight: int32;
  preference: NodeSelectorTerm;
}

// core/v1
interface Probe {
  exec?: ExecAction;
  httpGet?: HTTPGetAction;
  tcpSocket?: TCPSocketAction;
  grpc?: GRPCAction;
  initialDelaySeconds?: int32;
  timeoutSeconds?: int32;
  periodSeconds?: int32;
  successThreshold?: int32;
  failureThreshold?: int32;
  terminationGracePeriodSeconds?: int64;
}

// core/v1
interface ProjectedVolumeSource {
  sources?: VolumeProjection[];
  defaultMode?: int32;
}

// core/v1
interface QuobyteVolumeSource {
  registry: string;
  volume: string;
  readOnly?: bool;
  user?: string;
  group?: string;
  tenant?: string;
}

// core/v1
interface RBDPersistentVolumeSource {
  monitors: string[];
  image: string;
  fsType?: string;
  pool?: string;
  user?: string;
  keyring?: string;
  secretRef?: SecretReference;
  readOnly?: bool;
}

// core/v1
interface RBDVolumeSource {
  monitors: string[];
  image: string;
  fsType?: string;
  pool?: string;
  user?: string;
  keyring?: string;
  secretRef?: LocalObjectReference;
  readOnly?: bool;
}

// core/v1
interface ReplicationControllerCondition {
  type: string;
  status: string;
  lastTransitionTime?: time;
  reason?: string;
  message?: string;
}

// core/v1
interface ReplicationControllerSpec {
  replicas?: int32;
  selector?: Record<string, string>;
  template?: PodTemplateSpec;
  minReadySeconds?: int32;
}

// core/v1
interface ReplicationControllerStatus {
  replicas: int32;
  fullyLabeledReplicas?: int32;
  observedGeneration?: int64;
  readyReplicas?: int32;
  availableReplicas?: int32;
  conditions?: ReplicationControllerCondition[];
}

// core/v1
interface ResourceClaim {
  name: string;
}

// core/v1
interface ResourceFieldSelector {
  containerName?: string;
  resource: string;
  divisor?: quantity;
}

// core/v1
interface ResourceQuotaSpec {
  hard?: Record<string, quantity>;
  scopes?: string[];
  scopeSelector?: ScopeSelector;
}

// core/v1
interface ResourceQuotaStatus {
  hard?: Record<string, quantity>;
  used?: Record<string, quantity>;
}

// core/v1
interface ResourceRequirements {
  limits?: Record<string, quantity>;
  requests?: Record<string, quantity>;
  claims?: ResourceClaim[];
}

// core/v1
interface SELinuxOptions {
  user?: string;
  role?: string;
  type?: string;
  level?: string;
}

// core/v1
interface ScaleIOPersistentVolumeSource {
  gateway: string;
  system: string;
  secretRef: SecretReference;
  sslEnabled?: bool;
  protectionDomain?: string;
  storagePool?: string;
  storageMode?: string;
  volumeName?: string;
  fsType?: string;
  readOnly?: bool;
}

// core/v1
interface ScaleIOVolumeSource {
  gateway: string;
  system: string;
  secretRef: LocalObjectReference;
  sslEnabled?: bool;
  protectionDomain?: string;
  storagePool?: string;
  storageMode?: string;
  volumeName?: string;
  fsType?: string;
  readOnly?: bool;
}

// core/v1
interface ScopeSelector {
  matchExpressions?: ScopedResourceSelectorRequirement[];
}

// core/v1
interface ScopedResourceSelectorRequirement {
  scopeName: string;
  operator: string;
  values?: string[];
}

// core/v1
interface SeccompProfile {
  type: string;
  localhostProfile?: string;
}

// core/v1
interface SecretEnvSource {
  name?: string;
  optional?: bool;
}

// core/v1
interface SecretKeySelector {
  name?: string;
  key: string;
  optional?: bool;
}

// core/v1
interface SecretProjection {
  name?: string;
  items?: KeyToPath[];
  optional?: bool;
}

// core/v1
interface SecretReference {
  name?: string;
  namespace?: string;
}

// core/v1
interface SecretVolumeSource {
  secretName?: string;
  items?: KeyToPath[];
  defaultMode?: int32;
  optional?: bool;
}

// core/v1
interface SecurityContext {
  capabilities?: Capabilities;
  privileged?: bool;
  seLinuxOptions?: SELinuxOptions;
  runAsUser?: int64;
  runAsNonRoot?: bool;
  readOnlyRootFilesystem?: bool;
  allowPrivilegeEscalation?: bool;
  runAsGroup?: int64;
  procMount?: string;
  windowsOptions?: WindowsSecurityContextOptions;
  seccompProfile?: SeccompProfile;
}

// core/v1
interface ServiceAccountTokenProjection {
  audience?: string;
  expirationSeconds?: int64;
  path: string;
}

// core/v1
interface ServicePort {
  name?: string;
  protocol?: string;
  port: int32;
  targetPort?: intOrString;
  nodePort?: int32;
  appProtocol?: string;
}

// core/v1
interface ServiceSpec {
  ports?: ServicePort[];
  selector?: Record<string, string>;
  clusterIP?: string;
  type?: string;
  externalIPs?: string[];
  sessionAffinity?: string;
  loadBalancerIP?: string;
  loadBalancerSourceRanges?: string[];
  externalName?: string;
  externalTrafficPolicy?: string;
  healthCheckNodePort?: int32;
  publishNotReadyAddresses?: bool;
  sessionAffinityConfig?: SessionAffinityConfig;
  ipFamilyPolicy?: string;
  clusterIPs?: string[];
  ipFamilies?: string[];
  allocateLoadBalancerNodePorts?: bool;
  loadBalancerClass?: string;
  internalTrafficPolicy?: string;
}

// core/v1
interface ServiceStatus {
  loadBalancer?: LoadBalancerStatus;
  conditions?: Condition[];
}

// core/v1
interface SessionAffinityConfig {
  clientIP?: ClientIPConfig;
}

// core/v1
interface StorageOSPersistentVolumeSource {
  volumeName?: string;
  volumeNamespace?: string;
  fsType?: string;
  readOnly?: bool;
  secretRef?: ObjectReference;
}

// core/v1
interface StorageOSVolumeSource {
  volumeName?: string;
  volumeNamespace?: string;
  fsType?: string;
  readOnly?: bool;
  secretRef?: LocalObjectReference;
}

// core/v1
interface Sysctl {
  name: string;
  value: string;
}

// core/v1
interface TCPSocketAction {
  port: intOrString;
  host?: string;
}

// core/v1
interface Taint {
  key: string;
  value?: string;
  effect: string;
  timeAdded?: time;
}

// core/v1
interface Toleration {
  key?: string;
  operator?: string;
  value?: string;
  effect?: string;
  tolerationSeconds?: int64;
}

// core/v1
interface TopologySelectorLabelRequirement {
  key: string;
  values: string[];
}

// core/v1
interface TopologySelectorTerm {
  matchLabelExpressions?: TopologySelectorLabelRequirement[];
}

// core/v1
interface TopologySpreadConstraint {
  maxSkew: int32;
  topologyKey: string;
  whenUnsatisfiable: string;
  labelSelector?: LabelSelector;
  minDomains?: int32;
  nodeAffinityPolicy?: string;
  nodeTaintsPolicy?: string;
  matchLabelKeys?: string[];
}

// core/v1
interface TypedLocalObjectReference {
  apiGroup?: string;
  kind: string;
  name: string;
}

// core/v1
interface TypedObjectReference {
  apiGroup?: string;
  kind: string;
  name: string;
  namespace?: string;
}

// core/v1
interface Volume {
  name: string;
  hostPath?: HostPathVolumeSource;
  emptyDir?: EmptyDirVolumeSource;
  gcePersistentDisk?: GCEPersistentDiskVolumeSource;
  awsElasticBlockStore?: AWSElasticBlockStoreVolumeSource;
  gitRepo?: GitRepoVolumeSource;
  secret?: SecretVolumeSource;
  nfs?: NFSVolumeSource;
  iscsi?: ISCSIVolumeSource;
  glusterfs?: GlusterfsVolumeSource;
  persistentVolumeClaim?: PersistentVolumeClaimVolumeSource;
  rbd?: RBDVolumeSource;
  flexVolume?: FlexVolumeSource;
  cinder?: CinderVolumeSource;
  cephfs?: CephFSVolumeSource;
  flocker?: FlockerVolumeSource;
  downwardAPI?: DownwardAPIVolumeSource;
  fc?: FCVolumeSource;
  azureFile?: AzureFileVolumeSource;
  configMap?: ConfigMapVolumeSource;
  vsphereVolume?: VsphereVirtualDiskVolumeSource;
  quobyte?: QuobyteVolumeSource;
  azureDisk?: AzureDiskVolumeSource;
  photonPersistentDisk?: PhotonPersistentDiskVolumeSource;
  portworxVolume?: PortworxVolumeSource;
  scaleIO?: ScaleIOVolumeSource;
  projected?: ProjectedVolumeSource;
  storageos?: StorageOSVolumeSource;
  csi?: CSIVolumeSource;
  ephemeral?: EphemeralVolumeSource;
}

// core/v1
interface VolumeDevice {
  name: string;
  devicePath: string;
}

// core/v1
interface VolumeMount {
  name: string;
  readOnly?: bool;
  mountPath: string;
  subPath?: string;
  mountPropagation?: string;
  subPathExpr?: string;
}

// core/v1
interface VolumeNodeAffinity {
  required?: NodeSelector;
}

// core/v1
interface VolumeProjection {
  secret?: SecretProjection;
  downwardAPI?: DownwardAPIProjection;
  configMap?: ConfigMapProjection;
  serviceAccountToken?: ServiceAccountTokenProjection;
}

// core/v1
interface VsphereVirtualDiskVolumeSource {
  volumePath: string;
  fsType?: string;
  storagePolicyName?: string;
  storagePolicyID?: string;
}

// core/v1
interface WeightedPodAffinityTerm {
  weight: int32;
  podAffinityTerm: PodAffinityTerm;
}

// core/v1
interface WindowsSecurityContextOptions {
  gmsaCredentialSpecName?: string;
  gmsaCredentialSpec?: string;
  runAsUserName?: string;
  hostProcess?: bool;
}

// discovery/v1
interface Endpoint {
  addresses: string[];
  conditions?: EndpointConditions;
  hostname?: string;
  targetRef?: ObjectReference;
  deprecatedTopology?: Record<string, string>;
  nodeName?: string;
  zone?: string;
  hints?: EndpointHints;
}

// discovery/v1
interface EndpointConditions {
  ready?: bool;
  serving?: bool;
  terminating?: bool;
}

// discovery/v1
interface EndpointHints {
  forZones?: ForZone[];
}

// discovery/v1
interface EndpointPort {
  name?: string;
  protocol?: string;
  port?: int32;
  appProtocol?: string;
}

// discovery/v1
interface ForZone {
  name: string;
}

// events/v1
interface EventSeries {
  count: int32;
  lastObservedTime: microTime;
}

// flowcontrol.apiserver/v1beta2
interface FlowDistinguisherMethod {
  type: string;
}

// flowcontrol.apiserver/v1beta2
interface FlowSchemaCondition {
  type?: string;
  status?: string;
  lastTransitionTime?: time;
  reason?: string;
  message?: string;
}

// flowcontrol.apiserver/v1beta2
interface FlowSchemaSpec {
  priorityLevelConfiguration: PriorityLevelConfigurationReference;
  matchingPrecedence?: int32;
  distinguisherMethod?: FlowDistinguisherMethod;
  rules?: PolicyRulesWithSubjects[];
}

// flowcontrol.apiserver/v1beta2
interface FlowSchemaStatus {
  conditions?: FlowSchemaCondition[];
}

// flowcontrol.apiserver/v1beta2
interface GroupSubject {
  name: string;
}

// flowcontrol.apiserver/v1beta2
interface LimitResponse {
  type: string;
  queuing?: QueuingConfiguration;
}

// flowcontrol.apiserver/v1beta2
interface LimitedPriorityLevelConfiguration {
  assuredConcurrencyShares?: int32;
  limitResponse?: LimitResponse;
  lendablePercent?: int32;
  borrowingLimitPercent?: int32;
}

// flowcontrol.apiserver/v1beta2
interface NonResourcePolicyRule {
  verbs: string[];
  nonResourceURLs: string[];
}

// flowcontrol.apiserver/v1beta2
interface PolicyRulesWithSubjects {
  subjects: Subject[];
  resourceRules?: ResourcePolicyRule[];
  nonResourceRules?: NonResourcePolicyRule[];
}

// flowcontrol.apiserver/v1beta2
interface PriorityLevelConfigurationCondition {
  type?: string;
  status?: string;
  lastTransitionTime?: time;
  reason?: string;
  message?: string;
}

// flowcontrol.apiserver/v1beta2
interface PriorityLevelConfigurationReference {
  name: string;
}

// flowcontrol.apiserver/v1beta2
interface PriorityLevelConfigurationSpec {
  type: string;
  limited?: LimitedPriorityLevelConfiguration;
}

// flowcontrol.apiserver/v1beta2
interface PriorityLevelConfigurationStatus {
  conditions?: PriorityLevelConfigurationCondition[];
}

// flowcontrol.apiserver/v1beta2
interface QueuingConfiguration {
  queues?: int32;
  handSize?: int32;
  queueLengthLimit?: int32;
}

// flowcontrol.apiserver/v1beta2
interface ResourcePolicyRule {
  verbs: string[];
  apiGroups: string[];
  resources: string[];
  clusterScope?: bool;
  namespaces?: string[];
}

// flowcontrol.apiserver/v1beta2
interface ServiceAccountSubject {
  namespace: string;
  name: string;
}

// flowcontrol.apiserver/v1beta2
interface Subject {
  kind: string;
  user?: UserSubject;
  group?: GroupSubject;
  serviceAccount?: ServiceAccountSubject;
}

// flowcontrol.apiserver/v1beta2
interface UserSubject {
  name: string;
}

// flowcontrol.apiserver/v1beta3
interface FlowDistinguisherMethod {
  type: string;
}

// flowcontrol.apiserver/v1beta3
interface FlowSchemaCondition {
  type?: string;
  status?: string;
  lastTransitionTime?: time;
  reason?: string;
  message?: string;
}

// flowcontrol.apiserver/v1beta3
interface FlowSchemaSpec {
  priorityLevelConfiguration: PriorityLevelConfigurationReference;
  matchingPrecedence?: int32;
  distinguisherMethod?: FlowDistinguisherMethod;
  rules?: PolicyRulesWithSubjects[];
}

// flowcontrol.apiserver/v1beta3
interface FlowSchemaStatus {
  conditions?: FlowSchemaCondition[];
}

// flowcontrol.apiserver/v1beta3
interface GroupSubject {
  name: string;
}

// flowcontrol.apiserver/v1beta3
interface LimitResponse {
  type: string;
  queuing?: QueuingConfiguration;
}

// flowcontrol.apiserver/v1beta3
interface LimitedPriorityLevelConfiguration {
  nominalConcurrencyShares?: int32;
  limitResponse?: LimitResponse;
  lendablePercent?: int32;
  borrowingLimitPercent?: int32;
}

// flowcontrol.apiserver/v1beta3
interface NonResourcePolicyRule {
  verbs: string[];
  nonResourceURLs: string[];
}

// flowcontrol.apiserver/v1beta3
interface PolicyRulesWithSubjects {
  subjects: Subject[];
  resourceRules?: ResourcePolicyRule[];
  nonResourceRules?: NonResourcePolicyRule[];
}

// flowcontrol.apiserver/v1beta3
interface PriorityLevelConfigurationCondition {
  type?: string;
  status?: string;
  lastTransitionTime?: time;
  reason?: string;
  message?: string;
}

// flowcontrol.apiserver/v1beta3
interface PriorityLevelConfigurationReference {
  name: string;
}

// flowcontrol.apiserver/v1beta3
interface PriorityLevelConfigurationSpec {
  type: string;
  limited?: LimitedPriorityLevelConfiguration;
}

// flowcontrol.apiserver/v1beta3
interface PriorityLevelConfigurationStatus {
  conditions?: PriorityLevelConfigurationCondition[];
}

// flowcontrol.apiserver/v1beta3
interface QueuingConfiguration {
  queues?: int32;
  handSize?: int32;
  queueLengthLimit?: int32;
}

// flowcontrol.apiserver/v1beta3
interface ResourcePolicyRule {
  verbs: string[];
  apiGroups: string[];
  resources: string[];
  clusterScope?: bool;
  namespaces?: string[];
}

// flowcontrol.apiserver/v1beta3
interface ServiceAccountSubject {
  namespace: string;
  name: string;
}

// flowcontrol.apiserver/v1beta3
interface Subject {
  kind: string;
  user?: UserSubject;
  group?: GroupSubject;
  serviceAccount?: ServiceAccountSubject;
}

// flowcontrol.apiserver/v1beta3
interface UserSubject {
  name: string;
}

// history/v1alpha1
interface UndoConflict {
  apiVersion: string;
  kind: string;
  namespace?: string;
  name: string;
  path?: string;
  reason: string;
  managers?: string[];
  before?: string;
  after?: string;
  now?: string;
  contents?: string;
}

// history/v1alpha1
interface UndoSpec {
  change?: string;
  user?: string;
  manager?: string;
  from?: time;
  to?: time;
  resources?: string[];
  namespace?: string;
}

// history/v1alpha1
interface UndoStatus {
  message?: string;
  resourceVersion?: string;
  objects?: UndoneObject[];
  conflicts?: UndoConflict[];
  moreConflicts?: int32;
}

// history/v1alpha1
interface UndoneField {
  path: string;
  from?: string;
  to?: string;
}

// history/v1alpha1
interface UndoneObject {
  action: string;
  apiVersion: string;
  kind: string;
  namespace?: string;
  name: string;
  fields?: UndoneField[];
  moreFields?: int32;
  notes?: string[];
}

// insight/v1
interface AccessCheck {
  subject?: SubjectAccessReviewSpec;
  self?: SelfSubjectAccessReviewSpec;
}

// insight/v1
interface AccessCheckResult {
  allowed: bool;
  denied?: bool;
  reason?: string;
  evaluationError?: string;
  names?: string[];
  moreNames?: bool;
}

// insight/v1
interface AccessExplanationStatus {
  allowed: bool;
  denied?: bool;
  reason?: string;
  evaluationError?: string;
  decidedBy?: string;
  authorizers?: AuthorizerOpinion[];
  grants?: AccessGrant[];
  moreGrants?: bool;
  nearMisses?: NearMiss[];
  nearMissesLeftOut?: int32;
  faults?: BindingFault[];
  faultsLeftOut?: int32;
  namespacesLeftOut?: int32;
  notes?: string[];
  allowedGroups?: AllowedGroup[];
  moreAllowedGroups?: bool;
}

// insight/v1
interface AccessGrant {
  binding: BindingReference;
  role: RoleReference;
  subject: BoundSubject;
  rule: ShownRule;
  ruleIndex: int32;
  aggregatedFrom?: string[];
}

// insight/v1
interface AllowedGroup {
  name: string;
  grants: SubjectGrant[];
  moreGrants?: bool;
}

// insight/v1
interface AllowedSubject {
  kind: string;
  namespace?: string;
  name: string;
  members?: string;
  grants: SubjectGrant[];
  moreGrants?: bool;
}

// insight/v1
interface AuthorizerOpinion {
  name: string;
  opinion: string;
  reason?: string;
}

// insight/v1
interface BindingFault {
  binding: BindingReference;
  role?: RoleReference;
  fault: string;
  message: string;
}

// insight/v1
interface BindingReference {
  kind: string;
  namespace?: string;
  name: string;
}

// insight/v1
interface BoundSubject {
  kind: string;
  namespace?: string;
  name: string;
}

// insight/v1
interface BulkAccessReviewSpec {
  checks: AccessCheck[];
  listNames?: bool;
}

// insight/v1
interface BulkAccessReviewStatus {
  results: AccessCheckResult[];
}

// insight/v1
interface MissingPart {
  part: string;
  wanted?: string;
  given?: string[];
  message: string;
}

// insight/v1
interface NearMiss {
  binding: BindingReference;
  role: RoleReference;
  subject: BoundSubject;
  rule: ShownRule;
  ruleIndex: int32;
  aggregatedFrom?: string[];
  missing: MissingPart[];
}

// insight/v1
interface RoleReference {
  kind: string;
  namespace?: string;
  name: string;
}

// insight/v1
interface ShownRule {
  verbs: string[];
  apiGroups?: string[];
  resources?: string[];
  resourceNames?: string[];
  nonResourceURLs?: string[];
  entriesLeftOut?: int32;
}

// insight/v1
interface SubjectAccessListSpec {
  resourceAttributes?: ResourceAttributes;
  nonResourceAttributes?: NonResourceAttributes;
  limit?: int32;
  continue?: string;
}

// insight/v1
interface SubjectAccessListStatus {
  subjects: AllowedSubject[];
  continue?: string;
  unlisted?: UnlistedAccess[];
}

// insight/v1
interface SubjectGrant {
  binding: BindingReference;
  role: RoleReference;
  rule: ShownRule;
  ruleIndex: int32;
  aggregatedFrom?: string[];
}

// insight/v1
interface UnlistedAccess {
  authorizer: string;
  message: string;
}

// internal.apiserver/v1alpha1
interface ServerStorageVersion {
  apiServerID?: string;
  encodingVersion?: string;
  decodableVersions?: string[];
}

// internal.apiserver/v1alpha1
interface StorageVersionCondition {
  type: string;
  status: string;
  observedGeneration?: int64;
  lastTransitionTime?: time;
  reason: string;
  message?: string;
}

// internal.apiserver/v1alpha1
interface StorageVersionSpec {}

// internal.apiserver/v1alpha1
interface StorageVersionStatus {
  storageVersions?: ServerStorageVersion[];
  commonEncodingVersion?: string;
  conditions?: StorageVersionCondition[];
}

// meta/v1
interface Condition {
  type: string;
  status: string;
  observedGeneration?: int64;
  lastTransitionTime: time;
  reason: string;
  message: string;
}

// meta/v1
interface LabelSelector {
  matchLabels?: Record<string, string>;
  matchExpressions?: LabelSelectorRequirement[];
}

// meta/v1
interface LabelSelectorRequirement {
  key: string;
  operator: string;
  values?: string[];
}

// meta/v1
interface ManagedFieldsEntry {
  manager?: string;
  operation?: string;
  apiVersion?: string;
  time?: time;
  fieldsType?: string;
  fieldsV1?: fieldsV1;
  subresource?: string;
}

// meta/v1
interface ObjectMeta {
  name?: string;
  generateName?: string;
  namespace?: string;
  selfLink?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: int64;
  creationTimestamp?: time;
  deletionTimestamp?: time;
  deletionGracePeriodSeconds?: int64;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
  finalizers?: string[];
  managedFields?: ManagedFieldsEntry[];
}

// meta/v1
interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: bool;
  blockOwnerDeletion?: bool;
}

// networking/v1
interface HTTPIngressPath {
  path?: string;
  backend: IngressBackend;
  pathType: string;
}

// networking/v1
interface HTTPIngressRuleValue {
  paths: HTTPIngressPath[];
}

// networking/v1
interface IPBlock {
  cidr: string;
  except?: string[];
}

// networking/v1
interface IngressBackend {
  resource?: TypedLocalObjectReference;
  service?: IngressServiceBackend;
}

// networking/v1
interface IngressClassParametersReference {
  apiGroup?: string;
  kind: string;
  name: string;
  scope?: string;
  namespace?: string;
}

// networking/v1
interface IngressClassSpec {
  controller?: string;
  parameters?: IngressClassParametersReference;
}

// networking/v1
interface IngressLoadBalancerIngress {
  ip?: string;
  hostname?: string;
  ports?: IngressPortStatus[];
}

// networking/v1
interface IngressLoadBalancerStatus {
  ingress?: IngressLoadBalancerIngress[];
}

// networking/v1
interface IngressPortStatus {
  port: int32;
  protocol: string;
  error?: string;
}

// networking/v1
interface IngressRule {
  host?: string;
  http?: HTTPIngressRuleValue;
}

// networking/v1
interface IngressServiceBackend {
  name: string;
  port?: ServiceBackendPort;
}

// networking/v1
interface IngressSpec {
  defaultBackend?: IngressBackend;
  tls?: IngressTLS[];
  rules?: IngressRule[];
  ingressClassName?: string;
}

// networking/v1
interface IngressStatus {
  loadBalancer?: IngressLoadBalancerStatus;
}

// networking/v1
interface IngressTLS {
  hosts?: string[];
  secretName?: string;
}

// networking/v1
interface NetworkPolicyEgressRule {
  ports?: NetworkPolicyPort[];
  to?: NetworkPolicyPeer[];
}

// networking/v1
interface NetworkPolicyIngressRule {
  ports?: NetworkPolicyPort[];
  from?: NetworkPolicyPeer[];
}

// networking/v1
interface NetworkPolicyPeer {
  podSelector?: LabelSelector;
  namespaceSelector?: LabelSelector;
  ipBlock?: IPBlock;
}

// networking/v1
interface NetworkPolicyPort {
  protocol?: string;
  port?: intOrString;
  endPort?: int32;
}

// networking/v1
interface NetworkPolicySpec {
  podSelector: LabelSelector;
  ingress?: NetworkPolicyIngressRule[];
  egress?: NetworkPolicyEgressRule[];
  policyTypes?: string[];
}

// networking/v1
interface NetworkPolicyStatus {
  conditions?: Condition[];
}

// networking/v1
interface ServiceBackendPort {
  name?: string;
  number?: int32;
}

// networking/v1alpha1
interface ClusterCIDRSpec {
  nodeSelector?: NodeSelector;
  perNodeHostBits: int32;
  ipv4?: string;
  ipv6?: string;
}

// node/v1
interface Overhead {
  podFixed?: Record<string, quantity>;
}

// node/v1
interface Scheduling {
  nodeSelector?: Record<string, string>;
  tolerations?: Toleration[];
}

// policy/v1
interface PodDisruptionBudgetSpec {
  minAvailable?: intOrString;
  selector?: LabelSelector;
  maxUnavailable?: intOrString;
  unhealthyPodEvictionPolicy?: string;
}

// policy/v1
interface PodDisruptionBudgetStatus {
  observedGeneration?: int64;
  disruptedPods?: Record<string, time>;
  disruptionsAllowed: int32;
  currentHealthy: int32;
  desiredHealthy: int32;
  expectedPods: int32;
  conditions?: Condition[];
}

// rbac.authorization/v1
interface AggregationRule {
  clusterRoleSelectors?: LabelSelector[];
}

// rbac.authorization/v1
interface PolicyRule {
  verbs: string[];
  apiGroups?: string[];
  resources?: string[];
  resourceNames?: string[];
  nonResourceURLs?: string[];
}

// rbac.authorization/v1
interface RoleRef {
  apiGroup: string;
  kind: string;
  name: string;
}

// rbac.authorization/v1
interface Subject {
  kind: string;
  apiGroup?: string;
  name: string;
  namespace?: string;
}

// resource/v1alpha1
interface AllocationResult {
  resourceHandle?: string;
  availableOnNodes?: NodeSelector;
  shareable?: bool;
}

// resource/v1alpha1
interface PodSchedulingSpec {
  selectedNode?: string;
  potentialNodes?: string[];
}

// resource/v1alpha1
interface PodSchedulingStatus {
  resourceClaims?: ResourceClaimSchedulingStatus[];
}

// resource/v1alpha1
interface ResourceClaimConsumerReference {
  apiGroup?: string;
  resource: string;
  name: string;
  uid: string;
}

// resource/v1alpha1
interface ResourceClaimParametersReference {
  apiGroup?: string;
  kind: string;
  name: string;
}

// resource/v1alpha1
interface ResourceClaimSchedulingStatus {
  name?: string;
  unsuitableNodes?: string[];
}

// resource/v1alpha1
interface ResourceClaimSpec {
  resourceClassName: string;
  parametersRef?: ResourceClaimParametersReference;
  allocationMode?: string;
}

// resource/v1alpha1
interface ResourceClaimStatus {
  driverName?: string;
  allocation?: AllocationResult;
  reservedFor?: ResourceClaimConsumerReference[];
  deallocationRequested?: bool;
}

// resource/v1alpha1
interface ResourceClaimTemplateSpec {
  metadata?: ObjectMeta;
  spec: ResourceClaimSpec;
}

// resource/v1alpha1
interface ResourceClassParametersReference {
  apiGroup?: string;
  kind: string;
  name: string;
  namespace?: string;
}

// storage/v1
interface CSIDriverSpec {
  attachRequired?: bool;
  podInfoOnMount?: bool;
  volumeLifecycleModes?: string[];
  storageCapacity?: bool;
  fsGroupPolicy?: string;
  tokenRequests?: TokenRequest[];
  requiresRepublish?: bool;
  seLinuxMount?: bool;
}

// storage/v1
interface CSINodeDriver {
  name: string;
  nodeID: string;
  topologyKeys?: string[];
  allocatable?: VolumeNodeResources;
}

// storage/v1
interface CSINodeSpec {
  drivers: CSINodeDriver[];
}

// storage/v1
interface TokenRequest {
  audience: string;
  expirationSeconds?: int64;
}

// storage/v1
interface VolumeAttachmentSource {
  persistentVolumeName?: string;
  inlineVolumeSpec?: PersistentVolumeSpec;
}

// storage/v1
interface VolumeAttachmentSpec {
  attacher: string;
  source: VolumeAttachmentSource;
  nodeName: string;
}

// storage/v1
interface VolumeAttachmentStatus {
  attached: bool;
  attachmentMetadata?: Record<string, string>;
  attachError?: VolumeError;
  detachError?: VolumeError;
}

// storage/v1
interface VolumeError {
  time?: time;
  message?: string;
}

// storage/v1
interface VolumeNodeResources {
  count?: int32;
}

// tenancy/v1alpha1
interface WorkspaceAdmin {
  kind: string;
  name: string;
}

// tenancy/v1alpha1
interface WorkspaceBase {
  workspace?: string;
  uid?: string;
  resourceVersion: string;
}

// tenancy/v1alpha1
interface WorkspaceConflict {
  apiVersion: string;
  kind: string;
  namespace?: string;
  name: string;
  path?: string;
  reason: string;
  base?: string;
  theirs?: string;
  ours?: string;
  theirManagers?: string[];
  ourManagers?: string[];
  resolution?: string;
  contents?: string;
}

// tenancy/v1alpha1
interface WorkspaceDiffSpec {
  workspace: string;
  to?: string;
  sinceStart?: bool;
}

// tenancy/v1alpha1
interface WorkspaceDiffStatus {
  message?: string;
  objects?: WorkspaceObjectChange[];
  moreObjects?: int32;
  hidden?: int32;
}

// tenancy/v1alpha1
interface WorkspaceFieldChange {
  path: string;
  from?: string;
  to?: string;
  managers?: string[];
  changedIn?: string;
}

// tenancy/v1alpha1
interface WorkspaceMergeSpec {
  workspace: string;
  into?: string;
  strategy?: string;
}

// tenancy/v1alpha1
interface WorkspaceMergeStatus {
  message?: string;
  resourceVersion?: string;
  objects?: WorkspaceObjectChange[];
  conflicts?: WorkspaceConflict[];
  moreConflicts?: int32;
  hidden?: int32;
}

// tenancy/v1alpha1
interface WorkspaceObjectChange {
  apiVersion: string;
  kind: string;
  namespace?: string;
  name: string;
  action: string;
  fields?: WorkspaceFieldChange[];
  moreFields?: int32;
  notes?: string[];
}

// tenancy/v1alpha1
interface WorkspacePreviewResult {
  operation: string;
  code: int32;
  message?: string;
  warnings?: string[];
}

// tenancy/v1alpha1
interface WorkspacePreviewSpec {
  workspace?: string;
  operations: Operation[];
  timeoutSeconds?: int32;
  keepSeconds?: int32;
  namespace?: string;
}

// tenancy/v1alpha1
interface WorkspacePreviewStatus {
  message?: string;
  results?: WorkspacePreviewResult[];
  objects?: WorkspaceObjectChange[];
  consequences?: WorkspaceObjectChange[];
  moreObjects?: int32;
  hidden?: int32;
  settled?: bool;
  workspace?: string;
  notes?: string[];
}

// tenancy/v1alpha1
interface WorkspaceRebaseSpec {
  workspace: string;
  resourceVersion?: string;
  strategy?: string;
}

// tenancy/v1alpha1
interface WorkspaceRebaseStatus {
  message?: string;
  resourceVersion?: string;
  objects?: WorkspaceObjectChange[];
  conflicts?: WorkspaceConflict[];
  moreConflicts?: int32;
  hidden?: int32;
}

// tenancy/v1alpha1
interface WorkspaceSource {
  workspace?: string;
  resourceVersion?: string;
  time?: time;
}

// tenancy/v1alpha1
interface WorkspaceSpec {
  from?: WorkspaceSource;
  expirationSeconds?: int32;
  admins?: WorkspaceAdmin[];
  isolated?: bool;
}

// tenancy/v1alpha1
interface WorkspaceStatus {
  phase?: string;
  url?: string;
  bases?: WorkspaceBase[];
  objects?: int64;
  bytes?: int64;
  lastUsedTime?: time;
}

// transactions/v1alpha1
interface Operation {
  verb: string;
  apiVersion?: string;
  kind?: string;
  namespace?: string;
  name?: string;
  subresource?: string;
  object?: json;
  patch?: json;
  patchType?: string;
  fieldManager?: string;
  fieldValidation?: string;
  force?: bool;
  propagationPolicy?: string;
  gracePeriodSeconds?: int64;
  preconditions?: OperationPreconditions;
}

// transactions/v1alpha1
interface OperationPreconditions {
  uid?: string;
  resourceVersion?: string;
}

// transactions/v1alpha1
interface OperationResult {
  code: int32;
  object?: json;
  warnings?: string[];
}

// transactions/v1alpha1
interface TransactionSpec {
  operations: Operation[];
}

// transactions/v1alpha1
interface TransactionStatus {
  resourceVersion?: string;
  results?: OperationResult[];
}
