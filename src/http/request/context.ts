import type { RemoteApiService } from "../../aggregation/remote-api-service.ts";
import type { Timer } from "../../base/clock.ts";
import type { WorkPace } from "../../base/work-pace.ts";
import type { UserInfo } from "../../base/user-info.ts";
import type { Ticket } from "../../flow/ticket.ts";
import type { Target } from "../../resources/engine.ts";
import type { Resource } from "../../resources/registry.ts";
import type { HttpExchange } from "../transport/http-exchange.ts";
import type { AuditHooks } from "./audit-hooks.ts";
import { unreadFacts, type RequestFacts, type ResourceFacts } from "./facts.ts";

/**
 * One request, from its first byte to the end of its answer: a plain record that every stage of the pipeline reads, and to
 * which it adds what it learns. The comment of a member names the stage that sets it; until then it has the value that
 * {@link newRequest} gives.
 */
export interface RequestContext {
  /** How it came, and how it is answered. */
  readonly exchange: HttpExchange;
  /** When it came, in milliseconds of the metrics' clock. */
  readonly startMs: number;
  /** Undefined where nothing is audited. */
  audit: AuditHooks | undefined;
  /** Request facts: what is asked, from method and path alone. */
  facts: RequestFacts;
  /** Request facts: the resource type that is asked for; undefined for another path, and where there is none. */
  resource: Resource | undefined;
  /** Request facts: who serves its group version instead of this server; undefined for what this server serves. */
  remote: RemoteApiService | undefined;
  /** Request facts: whether there is what is asked for. What clients make up gets no label of its own in the metrics. */
  served: boolean;
  /** Authentication: who asks. */
  caller: UserInfo;
  /** Impersonation: as whom it is done; before that the caller. */
  user: UserInfo;
  /** Limits: whether they were asked about it. */
  limited: boolean;
  /** Limits: its right to be worked on, once it has one, and until it gives it back. */
  ticket: Ticket | undefined;
  /** Unread answers: whether it waited for its client to take earlier answers. */
  waitedForClient: boolean;
  /** Verb: paces the work on it by the size of its body and of the object; undefined while there is neither. */
  pace: RequestPace | undefined;
  /** Verb: ends it when its `timeout` is over. */
  deadline: Timer | undefined;
  /** Verb: when that is, by the monotonic clock in milliseconds. */
  expiresAt: number | undefined;
  /** Verb: the object or collection that it is about. */
  target: Target | undefined;
  /** Verb: warnings for the answer, whatever it is, in their order: of the version, of the body, and of admission. */
  warnings: Set<string> | undefined;
}

/** The pace of the work on a request, until that is answered. */
export interface RequestPace extends WorkPace {
  /** Gives back what the request took. */
  end(): void;
}

/** A request for a resource type that exists. */
export interface ResourceContext extends RequestContext {
  facts: ResourceFacts;
  resource: Resource;
  target: Target;
}

/** The user of a request of which nothing is known. */
export const unknownUser: UserInfo = { name: "", uid: "", groups: [], extra: {} };

/** A request of which nothing is known but how it came. */
export function newRequest(exchange: HttpExchange, startMs: number): RequestContext {
  return {
    exchange,
    startMs,
    audit: undefined,
    facts: unreadFacts,
    resource: undefined,
    remote: undefined,
    served: false,
    caller: unknownUser,
    user: unknownUser,
    limited: false,
    ticket: undefined,
    waitedForClient: false,
    pace: undefined,
    deadline: undefined,
    expiresAt: undefined,
    target: undefined,
    warnings: undefined,
  };
}
