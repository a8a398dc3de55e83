import type { ApiServices } from "../aggregation/api-services.ts";
import type { FailedAuthenticationLog } from "./metrics/failed-authentications.ts";
import type { RequestLog } from "./metrics/request-log.ts";
import type { RequestObserver } from "./metrics/access-log.ts";
import type { Clock } from "../base/time/clock.ts";
import type { UserInfo } from "../base/user-info.ts";
import type { Attributes } from "../authorization/authorizer.ts";
import type { MaybePromise } from "../base/turns/maybe-promise.ts";
import type { Authenticator } from "../authentication/authenticator.ts";
import type { StatusError } from "../base/status-error.ts";
import type { AuthorizerChain } from "../authorization/authorizer-chain.ts";
import type { FairReading, FairTurns } from "../flow/fair-turns.ts";
import type { SharedBudget } from "../flow/shared-budget.ts";
import type { LargeRequests } from "../flow/large-requests.ts";
import type { Auditor } from "./audit/auditor.ts";
import type { Encodings } from "./encodings/choose.ts";
import type { MergeStrategy } from "../fields/merge/merge-fields.ts";
import type { MergeOutcome } from "../resources/branches/merge-branch.ts";
import type { Engine, Target } from "../resources/engine/engine.ts";
import type { FaultSwitch } from "../resources/engine/request-faults.ts";
import type { ReviewHandler } from "../resources/writes/review.ts";
import type { ApiObject } from "../schema/kind.ts";
import type { WorkspaceBase } from "../kinds/tenancy/workspace.ts";
import type { Branch } from "../resources/branches/branch.ts";
import type { ResponseBacklogs } from "./transport/response-backlog.ts";
import type { BodyBudget } from "./transport/body-budget.ts";
import type { HandlerGuard } from "./transport/http-exchange.ts";
import type { BackendSockets } from "./backends/backend-sockets.ts";
import type { ConnectionRules } from "./backends/rules.ts";
import type { ConnectionObserver } from "./transport/connection.ts";
import type { RequestLimiter } from "./request/context.ts";
import type { WatchCounts } from "./limits/fair-limiter.ts";
import type { AuthenticationMetrics } from "./metrics/authentication-metrics.ts";
import type { ImpersonationMetrics } from "./metrics/impersonation-metrics.ts";
import type { RequestMetrics } from "./metrics/request-metrics.ts";
import type { RequestContext, RequestIds, ResourceContext } from "./request/context.ts";
import type { WelcomeFacts } from "./request/visitor.ts";
import type { RequestTracing } from "./request/request-trace.ts";
import type { PathHandler, PathTable } from "./request/path-table.ts";
import type { ViewRule } from "../authorization/user-view.ts";
import type { OpenStreams } from "./transport/open-streams.ts";

/** Who asks. */
export interface AuthenticationServices {
  readonly authenticator: Authenticator;
  readonly callers: AuthenticationMetrics;
  /** Counts impersonation with the gate ConstrainedImpersonation. */
  readonly impersonations: ImpersonationMetrics;
}

/** What a user may do and see, and the answers to reviews. */
export interface AuthorizationServices {
  readonly authorizer: AuthorizerChain;
  /** Whether authorizers see the selectors of requests (feature gate AuthorizeWithSelectors). */
  readonly authorizesSelectors: boolean;
  /** What lists and watches with `view=mine` show. */
  readonly viewRule: ViewRule;
  /** Handlers of POSTs of virtual kinds, by kind name. */
  readonly reviews: ReadonlyMap<string, ReviewHandler>;
}

/** The order and number of requests: fair between users. */
export interface FlowServices {
  /** Limits concurrent requests. */
  readonly limits: RequestLimiter;
  /** Order of requests that arrive together. */
  readonly turns: FairTurns;
  /** Limits the memory of large requests. */
  readonly largeRequests: LargeRequests;
  /** Decides which connections are read while several users are active. */
  readonly reading: FairReading;
}

/** Limits of the memory of requests and responses. */
export interface MemoryBudgets {
  readonly bodies: BodyBudget;
  /** Limits the bytes of lists that are encoded before their first byte is sent. */
  readonly bufferedLists: SharedBudget;
  /** Limits the memory of the items of sorted lists. */
  readonly sortedLists: SharedBudget;
  /** Response bytes that clients haven't read yet. */
  readonly backlog: ResponseBacklogs;
}

/** What is served, and in which form. */
export interface ContentServices {
  readonly engine: Engine;
  readonly encodings: Encodings;
  /** Serves the POST of a Transaction: `transactions/`, whose operations pass the stages and verbs. */
  readonly transact: (service: HttpService, request: ResourceContext) => Promise<void>;
  /** Serves the POST of an Undo, as {@link transact}. */
  readonly undo: (service: HttpService, request: ResourceContext) => Promise<void>;
  /** Serve the POSTs of comparisons and merges of workspaces. */
  readonly branching: BranchHandlers;
  /** Whether large responses are compressed if the client accepts that. */
  readonly compresses: boolean;
  /** Compute the objects of kinds that aren't stored, by kind name; sorted by name. */
  readonly computed: ReadonlyMap<string, () => Promise<readonly ApiObject[]>>;
  /** Paths outside of resources; those that end with `/` are prefixes. */
  readonly paths: PathTable<HttpService>;
  /** The web console; undefined if it is off. */
  readonly console: WebConsole | undefined;
  /** The facts of the server on the page of `/`. */
  readonly welcome: WelcomeFacts;
}

/** Handlers of POSTs about branches, by kind name. */
export type BranchHandlers = ReadonlyMap<
  string,
  (service: HttpService, request: ResourceContext) => Promise<void>
>;

/** Connections to extension servers, pods, services and nodes. */
export interface ForwardingServices {
  /** The group versions of extension servers. */
  readonly apiServices: ApiServices;
  /** Rules of requests to extension servers. */
  readonly aggregation: AggregationRules;
  /** Rules of connections to pods, services and nodes. */
  readonly connections: ConnectionRules;
  /** Limits the sockets to pods, services and nodes. */
  readonly backends: BackendSockets;
}

/** A workspace that a request is about to enter. */
export interface FoundWorkspace {
  readonly uid: string;
  /**
   * Returns the service with which the workspace's requests are served, and begins its use; `left` ends it.
   *
   * @param outsider the user, unless the workspace has issued the token.
   * @throws {StatusError} NotFound, ServiceUnavailable
   */
  enter(outsider: UserInfo | undefined): MaybePromise<EnteredWorkspace>;
  /** As {@link FoundWorkspace.enter}, with what a comparison reads. */
  open(user: UserInfo): Promise<OpenedWorkspace>;
}

/** A workspace that a request is in. */
export interface EnteredWorkspace {
  readonly service: HttpService;
  /** Called when the request and its stream have ended. */
  left(): void;
}

/** A workspace that is compared, merged or merged into. */
export interface OpenedWorkspace extends EnteredWorkspace {
  readonly name: string;
  readonly uid: string;
  /** The states with which it begins, as in its status. */
  readonly bases: readonly WorkspaceBase[];
  /** See {@link Branch}. */
  readonly own: Branch["own"];
  readonly start: Branch["start"];
  /** Begins to follow the writes in it. */
  activity(): Promise<WorkspaceActivity>;
}

/** The writes in a workspace. */
export interface WorkspaceActivity {
  /**
   * Waits until the controllers of the workspace have no work and nothing is written any more.
   *
   * @param limitMs maximum time, in milliseconds.
   * @param isOver ends the wait early.
   * @returns whether they have settled.
   */
  settled(limitMs: number, isOver: () => boolean): Promise<boolean>;
  close(): void;
}

/** How a workspace is moved to a newer state of its base. */
export interface RebaseRequest {
  /** Resource version of the state; the newest one if undefined. */
  readonly resourceVersion: string | undefined;
  /** How conflicts are resolved: `ours` is the workspace, `theirs` its base. */
  readonly strategy: MergeStrategy | undefined;
  readonly dryRun: boolean;
  /** Whether the user may read an object in the workspace and in its base. */
  mayRead(target: Target): MaybePromise<boolean>;
  /** Resolves when the next step may be done. */
  readonly pause: () => Promise<void>;
}

/** The workspaces of the server. */
export interface WorkspaceServices {
  /** Undefined if workspaces aren't served, and in a workspace. */
  readonly workspaces: Workspaces | undefined;
}

/** Finds workspaces. */
export interface Workspaces {
  /**
   * Returns the uid of the workspace that has issued the token of an `Authorization` header; undefined for other credentials. Reads nothing
   * from the store, so that it costs an unauthenticated client no more than others.
   */
  issuerOf(authorization: string | undefined): Promise<string | undefined>;
  /** Returns the attributes of the right to enter a workspace. */
  accessTo(name: string, user: UserInfo): Attributes;
  /** Returns a workspace; undefined if there is none of the name. */
  find(name: string): MaybePromise<FoundWorkspace | undefined>;
  /** Moves a workspace to a newer state of its base; see `WorkspaceRebasing`. */
  rebase(name: string, request: RebaseRequest): Promise<MergeOutcome>;
  /** Returns the keys that a workspace of a uid has written. */
  ownKeys(uid: string): Branch["own"];
  /** Returns the error for a workspace that doesn't exist. */
  notFound(name: string): StatusError;
}

/** Metrics, audit, traces and logs. */
export interface ObservationServices {
  readonly metrics: RequestMetrics;
  /** Open watches, followed logs and upgraded connections. */
  readonly streams: OpenStreams;
  /** Number of watches by resource type. */
  readonly watches: WatchCounts;
  /** Counts the connections of clients. */
  readonly clients: ConnectionObserver;
  /** Undefined without audit. */
  readonly audit: Auditor | undefined;
  /** Undefined if requests aren't traced. */
  readonly tracing: RequestTracing | undefined;
  /** Undefined without an access log and without recorded requests. */
  readonly observer: RequestObserver | undefined;
  /** The newest requests; undefined if they aren't recorded. */
  readonly requests: RequestLog | undefined;
  /** Logs bugs, and connections that were cut off. */
  readonly log: HttpLog;
}

/** The clock and the event handlers of the process, and the faults of tests. */
export interface ProcessServices {
  readonly clock: Clock;
  /** Registers event handlers that process bytes of clients and backends. */
  readonly guard: HandlerGuard;
  /** The faults that are injected into the requests of tests. */
  readonly faults: FaultSwitch;
}

/** Dependencies of the pipeline's stages by subject, created once by `server/`. */
export interface HttpService
  extends
    AuthenticationServices,
    AuthorizationServices,
    FlowServices,
    MemoryBudgets,
    ContentServices,
    ForwardingServices,
    WorkspaceServices,
    ObservationServices,
    ProcessServices {}

/** The user of a one-time code, and for how long it is valid. */
export interface SignIn {
  readonly user: Pick<UserInfo, "name" | "uid" | "groups">;
  readonly lifeMs: number;
}

/** The web console (`documents/console/`). */
export interface WebConsole {
  /** Returns the handler of a request that needs no authentication; undefined for all others. */
  publicHandler(request: RequestContext): PathHandler | undefined;
  /** Creates a one-time code for the caller. */
  createCode(request: RequestContext): Promise<void>;
  /** Sends the name and groups of the user. */
  sendUser(request: RequestContext): void;
  /**
   * Returns the path of the page; with `signIn` that with a new one-time code, which signs a user in within `lifeMs`.
   *
   * @throws {StatusError | StoreError} if the code can't be stored.
   */
  pagePath(signIn?: SignIn): Promise<string>;
}

/** Rules of requests to extension servers. */
export interface AggregationRules {
  /** Whether redirects of an extension server are refused instead of forwarded. */
  readonly refusesRedirects: boolean;
  /** Maximum number of concurrent requests to an extension server. */
  readonly maxRequests: number;
}

/** A request in the log. */
export interface LoggedRequest extends Partial<RequestIds> {
  readonly method: string;
  /** The path without the query. */
  readonly path: string;
}

export interface HttpLog {
  /** Logs and counts a bug: an unexpected exception, and where it was caught. */
  defect(error: unknown, source: DefectSource): void;
  /** Reports that the store is unavailable. May be called very often. */
  unavailable(cause: unknown, request: LoggedRequest): void;
  /** Logs why the credentials of a request were rejected. May be called very often. */
  readonly unauthenticated: FailedAuthenticationLog;
  /** Reports that a watcher or reader was cut off. */
  cutOff(reason: string, request: LoggedRequest): void;
}

/** Where an unexpected exception was caught: in a request, in an event handler, or in the process. */
export type DefectSource =
  | LoggedRequest
  | { readonly event: string }
  | { readonly process: "uncaughtException" | "unhandledRejection" };
