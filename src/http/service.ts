import type { Clock } from "../base/clock.ts";
import type { Authenticator } from "../authentication/authenticator.ts";
import type { Authorizer } from "../authorization/authorizer.ts";
import type { FairReading } from "../flow/fair-reading.ts";
import type { FairTurns } from "../flow/fair-turns.ts";
import type { Auditor } from "./audit/auditor.ts";
import type { Encodings } from "./encodings/choose.ts";
import type { Engine } from "../resources/engine.ts";
import type { ApiObject } from "../schema/kind.ts";
import type { UnsentAnswers } from "./unsent.ts";
import type { BodyBudget } from "./body-budget.ts";
import type { HandlerGuard } from "./guard.ts";
import type { BackendSockets } from "./connect/backend-sockets.ts";
import type { ConnectionRules } from "./connect/rules.ts";
import type { ConnectionObserver } from "./listener.ts";
import type { RequestLimiter } from "./limits/limiter.ts";
import type { WatchCounts } from "./limits/watch-counts.ts";
import type { AuthenticationMetrics } from "./metrics/authentication-metrics.ts";
import type { RequestMetrics } from "./metrics/request-metrics.ts";
import type { RequestFacts, ResourceFacts } from "./request-facts.ts";
import type { Exchange } from "./exchange.ts";
import type { UserInfo } from "../base/user-info.ts";

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
  readonly unsent: UnsentAnswers;
  /** Whether large answers are compressed for clients that take that. */
  readonly compresses: boolean;
  readonly metrics: RequestMetrics;
  readonly callers: AuthenticationMetrics;
  /** Watches, followed logs and upgraded connections under way. */
  readonly streams: OpenStreams;
  /** How many watches there are, of what. */
  readonly watches: WatchCounts;
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

/** A request that passed authentication and authorization. */
export interface Admitted<F extends RequestFacts = RequestFacts> {
  readonly exchange: Exchange;
  readonly facts: F;
  readonly user: UserInfo;
}

/** Fills in the status of a review. The object is canonical and valid; it is changed. */
export type ReviewHandler = (
  review: Record<string, unknown>,
  request: Admitted<ResourceFacts>,
) => Promise<void> | void;

/** Answers one path. */
export type PathHandler = (request: Admitted) => Promise<void> | void;

/** Handlers of paths outside the resources. */
export class PathTable {
  private readonly exact = new Map<string, PathHandler>();
  private readonly below: { readonly prefix: string; readonly handler: PathHandler }[] = [];

  /** A path, or (ending in `/`) all paths below it. */
  add(path: string, handler: PathHandler): void {
    if (isBelow(path)) this.below.push({ prefix: path, handler });
    else this.exact.set(path, handler);
  }

  /** A path that may also be written with a slash at its end, as those of discovery. */
  addWithSlash(path: string, handler: PathHandler): void {
    this.exact.set(path, handler);
    this.exact.set(`${path}/`, handler);
  }

  /** What answers a path, letter for letter: authorization is asked about just this path. */
  find(path: string): PathHandler | undefined {
    return this.exact.get(path) ?? this.below.find(({ prefix }) => path.startsWith(prefix))?.handler;
  }

  /** Every exact path, sorted. */
  get paths(): string[] {
    return [...this.exact.keys()].filter((path) => !isBelow(path)).toSorted();
  }
}

function isBelow(path: string): boolean {
  return path.length > 1 && path.endsWith("/");
}

/** What is under way and has no end of its own, such as watches: they are ended when the server stops, and so is one that begins after that. */
export class OpenStreams {
  private readonly open = new Set<{ close(): void }>();
  private draining = false;

  add(stream: { close(): void }): void {
    if (this.draining) stream.close();
    else this.open.add(stream);
  }

  delete(stream: { close(): void }): void {
    this.open.delete(stream);
  }

  /** Ends all of them, and those to come. */
  drain(): void {
    this.draining = true;
    for (const stream of this.open) stream.close();
  }
}
