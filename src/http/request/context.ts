import type { RemoteApiService } from "../../aggregation/remote-api-service.ts";
import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import type { Timer } from "../../base/time/clock.ts";
import { boundedText } from "../../base/tracing/trace.ts";
import type { WorkPace } from "../../base/turns/work-pace.ts";
import type { UserInfo } from "../../base/user-info.ts";
import type { Ticket } from "../../flow/request.ts";
import type { Target, RequestReport } from "../../resources/engine/engine.ts";
import type { ViewSource } from "../../resources/objects/followed-view.ts";
import type { ObjectView } from "../../resources/objects/object-view.ts";
import type { Resource } from "../../resources/registry/registry.ts";
import type { HttpExchange } from "../transport/http-exchange.ts";
import type { Visitor } from "./visitor.ts";
import { unreadFacts, type RequestFacts, type ResourceFacts, type WorkspaceUrl } from "./facts.ts";
import type { Decision } from "../../authorization/authorizer.ts";
import type { JsonValue } from "../../base/json/value.ts";

/**
 * The state of one request, which all stages of the pipeline share. The comment of a member names the stage that sets it; before
 * that it has the value of {@link newRequest}.
 */
export interface RequestContext {
  /** The HTTP request and response. */
  readonly exchange: HttpExchange;
  /** Time of arrival, in milliseconds of the metrics' clock. */
  readonly startMs: number;
  /** Undefined without an audit policy. */
  audit: AuditHooks | undefined;
  /** Undefined if the server doesn't trace requests. */
  trace: TraceHooks | undefined;
  /** Milliseconds of the steps that took at least one, by name; undefined if there are none. */
  steps: Map<string, number> | undefined;
  /** When the last step ended; on the same clock as the arrival, which is its first value. */
  stepEndMs: number;
  /** Request facts: the workspace in the path; undefined outside of workspaces. */
  workspace: WorkspaceUrl | undefined;
  /** Workspace: whether the workspace itself has issued the credentials. */
  isWorkspaceAccount: boolean;
  /** Workspace: ends the request's use of the workspace; undefined outside of workspaces. */
  leaveWorkspace: (() => void) | undefined;
  /** Request facts: the attributes from method and path; in a workspace, from the path below that of the workspace. */
  facts: RequestFacts;
  /** Request facts: the resource type; undefined for non-resource paths and unknown types. */
  resource: Resource | undefined;
  /** Request facts: the extension server of the group version; undefined if this server serves it. */
  remote: RemoteApiService | undefined;
  /** Request facts: whether the path exists. Unknown paths get no labels of their own in the metrics. */
  served: boolean;
  /** Authentication: the authenticated user. */
  caller: UserInfo;
  /** Impersonation: the effective user; before that the caller. */
  user: UserInfo;
  /** Impersonation: the verb of constrained impersonation that allowed the user; undefined without it. */
  impersonationConstraint: string | undefined;
  /** Limits: whether this stage has admitted the request. */
  limited: boolean;
  /** Limits: admitted the request, and admits it again after it has released its seats. */
  limiter: RequestLimiter | undefined;
  /** Limits: its seats, until they are released. */
  ticket: Ticket | undefined;
  /** Milliseconds for which it has waited for its client with these seats. */
  clientWaitMs: number;
  /** Authorization: the objects that a list with `view=mine` is limited to; undefined for other requests. */
  view: ObjectView | undefined;
  /** Authorization: returns the view with the rights of every write acknowledged before the call; undefined for a request without a view. */
  renewView: (() => Promise<ObjectView>) | undefined;
  /** Authorization: opens the objects that a watch with `view=mine` is limited to; undefined for other requests. */
  viewSource: ViewSource | undefined;
  /** Authorization: the user of a browser that asks for `/`; undefined for other requests. */
  visitor: Visitor | undefined;
  /** Unread answers: whether it waited for the client to read earlier responses. */
  waitedForClient: boolean;
  /** Verb: paces the work by the size of body and object; undefined before. */
  pace: RequestPace | undefined;
  /** Verb: timer of the parameter `timeout`. */
  deadline: Timer | undefined;
  /** Verb: the end of that time, in milliseconds of the monotonic clock. */
  expiresAt: number | undefined;
  /** Verb: the object or collection. */
  target: Target | undefined;
  /** Verb: warnings of the response in order: of the version, the body and admission. */
  warnings: Set<string> | undefined;
}

/** The trace of a request. */
export interface TraceHooks {
  /** Id of the trace; undefined if the request isn't traced. */
  readonly traceId: string | undefined;
  /** Runs a stage of the pipeline, with a span. */
  stage(name: string, request: RequestContext, run: () => MaybePromise<void>): MaybePromise<void>;
  /** Records the wait for a scheduled stage, which begins now. @returns a function that ends it. */
  wait(name: string): () => void;
  /** Runs the stages after a scheduled one: its turn may have begun in the context of another request. */
  outside<T>(work: () => T): T;
  /** Completes the trace when the request is complete, or its stream has started. */
  end(request: RequestContext): void;
}

/** Admits requests. */
export interface RequestLimiter {
  /**
   * Admits a request by its attributes and user, and sets its ticket. Returns a promise only if the request must wait. A request that
   * released its seat may enter again.
   *
   * @throws {StatusError} TooManyRequests.
   */
  enter(request: RequestContext): Promise<void> | undefined;
}

/** The pace of the work on a request. */
export interface RequestPace extends WorkPace {
  /** Releases the memory of the request; called when it is complete. */
  end(): void;
}

/** A request for a known resource type. */
export interface ResourceContext extends RequestContext {
  facts: ResourceFacts;
  resource: Resource;
  target: Target;
}

/** The user of an unauthenticated request. */
export const unknownUser: UserInfo = { name: "", uid: "", groups: [], extra: {} };

/** The state of a new request. */
export function newRequest(exchange: HttpExchange, startMs: number): RequestContext {
  return {
    exchange,
    startMs,
    audit: undefined,
    trace: undefined,
    steps: undefined,
    stepEndMs: startMs,
    workspace: undefined,
    isWorkspaceAccount: false,
    leaveWorkspace: undefined,
    facts: unreadFacts,
    resource: undefined,
    remote: undefined,
    served: false,
    caller: unknownUser,
    user: unknownUser,
    impersonationConstraint: undefined,
    limited: false,
    limiter: undefined,
    ticket: undefined,
    clientWaitMs: 0,
    view: undefined,
    renewView: undefined,
    viewSource: undefined,
    visitor: undefined,
    waitedForClient: false,
    pace: undefined,
    deadline: undefined,
    expiresAt: undefined,
    target: undefined,
    warnings: undefined,
  };
}

/**
 * Returns the account to which the work and the memory of a request are charged: its user, in a workspace together with the workspace, so
 * that neither users nor workspaces take the shares of others.
 */
export function accountOf({ user, workspace }: Pick<RequestContext, "user" | "workspace">): string {
  return workspace === undefined ? user.name : `${workspace.name}/${user.name}`;
}

/** What identifies a request in the log. */
export interface RequestIds {
  /** The audit ID; cut off if it is long, because clients choose it. */
  readonly auditId: string;
  /** Undefined if the request isn't traced. */
  readonly traceId: string | undefined;
}

/** Returns the ids of a request for the log. */
export function idsOf({ exchange, trace }: RequestContext): RequestIds {
  return { auditId: boundedText(exchange.auditId), traceId: trace?.traceId };
}

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

/** Collects the warnings of a request in its context, and passes annotations to its audit. */
class ContextReport implements RequestReport {
  constructor(private readonly request: RequestContext) {}

  warn(text: string): void {
    (this.request.warnings ??= new Set()).add(text);
  }

  annotate(key: string, value: string, level?: "Request"): void {
    const { audit } = this.request;
    if (level === undefined || audit?.wantsRequest === true) audit?.annotate(key, value);
  }

  took(step: string, durationMs: number): void {
    addStep(this.request, step, durationMs);
  }

  get expiresAt(): number | undefined {
    return this.request.expiresAt;
  }

  get verb(): string {
    return this.request.facts.verb;
  }

  get requestId(): string {
    return boundedText(this.request.exchange.auditId);
  }
}

/** Returns the report to which verbs of `resources/` add warnings and annotations of an HTTP request. */
export function reportOf(request: RequestContext): RequestReport {
  return new ContextReport(request);
}

/** A shorter step isn't recorded, in milliseconds. */
const shortStepMs = 1;
/** Maximum number of steps with different names in one request. */
const maxSteps = 32;

/** Adds the duration of a step to those of a request; the durations of repeated steps are added up. */
function addStep(request: RequestContext, step: string, durationMs: number): void {
  if (durationMs < shortStepMs) return;
  const steps = (request.steps ??= new Map());
  const before = steps.get(step);
  if (before !== undefined || steps.size < maxSteps) steps.set(step, (before ?? 0) + durationMs);
}

/** Adds a step that ends now and began when the previous one ended. Stages between them that don't wait count towards it. */
export function endStep(request: RequestContext, step: string): void {
  const nowMs = performance.now();
  addStep(request, step, nowMs - request.stepEndMs);
  request.stepEndMs = nowMs;
}

/** Adds a step within another one that still runs; both began at the same time. */
export function endInnerStep(request: RequestContext, step: string): void {
  addStep(request, step, performance.now() - request.stepEndMs);
}
