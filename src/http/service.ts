import type { ApiServices } from "../aggregation/api-services.ts";
import type { Clock } from "../base/clock.ts";
import type { Authenticator } from "../authentication/authenticator.ts";
import type { Authorizer } from "../authorization/authorizer.ts";
import type { FairReading } from "../flow/fair-reading.ts";
import type { FairTurns } from "../flow/fair-turns.ts";
import type { LargeRequests } from "../flow/large-requests.ts";
import type { Auditor } from "./audit/auditor.ts";
import type { Encodings } from "./encodings/choose.ts";
import type { Engine } from "../resources/engine/engine.ts";
import type { ApiObject } from "../schema/kind.ts";
import type { ResponseBacklogs } from "./transport/response-backlog.ts";
import type { BodyBudget } from "./transport/body-budget.ts";
import type { HandlerGuard } from "./transport/guard.ts";
import type { BackendSockets } from "./backends/backend-sockets.ts";
import type { ConnectionRules } from "./backends/rules.ts";
import type { ConnectionObserver } from "./transport/connection-observer.ts";
import type { RequestLimiter } from "./limits/limiter.ts";
import type { WatchCounts } from "./limits/watch-counts.ts";
import type { AuthenticationMetrics } from "./metrics/authentication-metrics.ts";
import type { RequestMetrics } from "./metrics/request-metrics.ts";
import type { ResourceContext } from "./request/context.ts";
import type { PathTable } from "./request/path-table.ts";
import type { OpenStreams } from "./transport/open-streams.ts";

/** What the stages of the pipeline work with; put together once, by `server/`. */
export interface HttpService {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly encodings: Encodings;
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
  /** How many requests are worked on at one time, and whose. */
  readonly limits: RequestLimiter;
  /** In which order requests are worked on that arrive together. */
  readonly turns: FairTurns;
  /** Bounds the memory that large requests take. */
  readonly largeRequests: LargeRequests;
  /** Which connections are read while several users are at work. */
  readonly reading: FairReading;
  /** Answers POSTs of virtual kinds, by kind name. */
  readonly reviews: ReadonlyMap<string, ReviewHandler>;
  /** Work out all objects of kinds that aren't stored, by kind name; sorted by name. */
  readonly computed: ReadonlyMap<string, () => Promise<readonly ApiObject[]>>;
  /** Paths outside the resources, exact ones and those below a prefix that ends in `/`. */
  readonly paths: PathTable;
  readonly bodies: BodyBudget;
  /** What clients leave untaken of their answers. */
  readonly backlog: ResponseBacklogs;
  /** Whether large answers are compressed for clients that take that. */
  readonly compresses: boolean;
  readonly metrics: RequestMetrics;
  readonly callers: AuthenticationMetrics;
  /** Watches, followed logs and upgraded connections under way. */
  readonly streams: OpenStreams;
  /** How many watches there are, of what. */
  readonly watches: WatchCounts;
  /** Which group versions are served by others. */
  readonly apiServices: ApiServices;
  /** How requests for those are passed on. */
  readonly aggregation: AggregationRules;
  /** How connections to pods, services and nodes are made. */
  readonly connections: ConnectionRules;
  /** Counts the sockets of connections to pods, services and nodes. */
  readonly backends: BackendSockets;
  /** Counts the connections of clients. */
  readonly clients: ConnectionObserver;
  /** Undefined where nothing is audited. */
  readonly audit: Auditor | undefined;
  /** Registers event handlers that a client's or backend's bytes can reach. */
  readonly guard: HandlerGuard;
  /** Told of defects, and of connections that were cut off. */
  readonly log: HttpLog;
}

/** How requests are passed on to extension servers. */
export interface AggregationRules {
  /** Whether an extension server's redirects are refused, rather than passed on. */
  readonly refusesRedirects: boolean;
  /** So many requests may be under way to one extension server. */
  readonly maxRequests: number;
}

export interface HttpLog {
  /** Logs and counts a bug: an exception that is not meant for clients, and where it was caught. */
  defect(error: unknown, source: DefectSource): void;
  /** The store can't be used. May be called very often. */
  unavailable(cause: unknown, request: { readonly method: string; readonly path: string }): void;
  /** A watcher or reader was cut off for the reason. */
  cutOff(reason: string, request: { readonly method: string; readonly path: string }): void;
}

/** Where an exception that is a bug was caught: in a request, in an event handler, or nowhere but in the process. */
export type DefectSource =
  | { readonly method: string; readonly path: string }
  | { readonly event: string }
  | { readonly process: "uncaughtException" | "unhandledRejection" };

/** Fills in the status of a review. The object is canonical and valid; it is changed. */
export type ReviewHandler = (
  review: Record<string, unknown>,
  request: ResourceContext,
) => Promise<void> | void;
