import type { MaybePromise } from "../base/turns/maybe-promise.ts";
import { releaseWhenTaken, awaitClient } from "./limits/fair-limiter.ts";
import {
  accountOf,
  newRequest,
  unknownUser,
  type RequestContext,
  type TraceHooks,
  idsOf,
  endStep,
} from "./request/context.ts";
import { RequestTrace } from "./request/request-trace.ts";
import type { HttpService } from "./service.ts";
import { authenticate } from "./stages/authentication.ts";
import { authorize } from "./stages/authorization.ts";
import { impersonate } from "./stages/impersonation.ts";
import { readRequestFacts } from "./stages/request-facts.ts";
import { serve } from "./stages/verb.ts";
import { enterWorkspace } from "./stages/workspace.ts";
import type { HttpExchange } from "./transport/http-exchange.ts";
import type { PathHandler } from "./request/path-table.ts";
import { StatusError } from "../base/status-error.ts";
import { storeFailure } from "../resources/engine/resource-version.ts";
import { RevisionCompactedError, StoreError } from "../storage/store.ts";
import { sendFailure } from "./answers/respond.ts";
import { htmlMediaType, welcomePage } from "./documents/welcome-page.ts";
import { wantsWelcomePage } from "./request/welcome.ts";
import { randomUUID } from "node:crypto";

/** The stages of a request in order; documented in `docs/lifecycle.md`. */
export const stages: readonly Stage[] = [
  /* 1 */ { name: "Request facts", run: readRequestFacts },
  /* 2 */ { name: "Workspace", enter: enterWorkspace },
  /* 3 */ { name: "Console", find: findConsolePage },
  /* 4 */ { name: "Authentication", run: authenticate },
  /* 5 */ { name: "Audit", run: recordReceived },
  /* 6 */ { name: "Impersonation", run: impersonate },
  /* 7 */ { name: "Limits", run: enterLimits },
  /* 8 */ { name: "Turn", schedule: takeTurn },
  /* 9 */ { name: "Unread answers", run: awaitRoom },
  /* 10 */ { name: "Authorization", run: authorize },
  /* 11 */ { name: "Verb", run: serve },
];

/** Runs the stages from an index on. Returns a promise only if a stage waits. */
function run(service: HttpService, request: RequestContext, first: number): MaybePromise<void> {
  const { trace } = request;
  for (let at = first; at < stages.length; at++) {
    const stage = stages[at]!;
    if ("schedule" in stage) return stage.schedule(service, request, restOf(service, request, at));
    if ("enter" in stage) {
      if (request.workspace === undefined) continue;
      return stage.enter(service, request).then((entered) => run(entered, request, at + 1));
    }
    if ("find" in stage) {
      const handler = stage.find(service, request);
      if (handler !== undefined) return handler(request, service) ?? undefined;
      continue;
    }
    const done =
      trace === undefined ? stage.run(service, request) : runTraced(trace, stage, service, request);
    if (done instanceof Promise) return runAfter(done, service, request, at);
  }
}

/** Runs a stage with a span. */
function runTraced(
  trace: TraceHooks,
  { name, run: work }: RunStage,
  service: HttpService,
  request: RequestContext,
): MaybePromise<void> {
  return trace.stage(name, request, () => work(service, request));
}

/** Returns the function that runs the stages after a scheduled one. */
function restOf(service: HttpService, request: RequestContext, at: number): () => MaybePromise<void> {
  const { name } = stages[at]!;
  const { trace } = request;
  const rest = (): MaybePromise<void> => {
    endStep(request, name);
    return run(service, request, at + 1);
  };
  if (trace === undefined) return rest;
  const endWait = trace.wait(name);
  return () => {
    endWait();
    return trace.outside(rest);
  };
}

/** Runs the stages after one that waits. These are not closures of the loop: each of its turns would allocate a context. */
function runAfter(
  done: Promise<void>,
  service: HttpService,
  request: RequestContext,
  at: number,
): Promise<void> {
  const { name } = stages[at]!;
  return done.then(
    () => {
      endStep(request, name);
      return run(service, request, at + 1);
    },
    (error: unknown) => {
      endStep(request, name);
      throw error;
    },
  );
}

/** Serves a request. */
export function handle(service: HttpService, exchange: HttpExchange): void {
  exchange.auditId = auditIdOf(exchange);
  const request = newRequest(exchange, service.metrics.begin(exchange));
  service.audit?.accompany(request);
  if (service.tracing !== undefined) request.trace = new RequestTrace(service.tracing, exchange);
  try {
    const done = run(service, request, 0);
    if (done instanceof Promise) settle(service, request, done);
    else end(service, request);
  } catch (error) {
    failed(service, request, error);
  }
}

/** Completes a request that had to wait. An exception closes the connection, it doesn't end the process. */
function settle(service: HttpService, request: RequestContext, done: Promise<void>): void {
  const ends = { destroy: () => request.exchange.breakOff() };
  const guarded = (task: () => void) => service.guard.run("answer", task, ends);
  done.then(
    () => guarded(() => end(service, request)),
    (error: unknown) => guarded(() => failed(service, request, error)),
  );
}

function failed(service: HttpService, request: RequestContext, error: unknown): void {
  try {
    answerFailure(service, request, error);
  } finally {
    end(service, request);
  }
}

/** Releases the resources of a completed request and counts it. */
function end(service: HttpService, request: RequestContext): void {
  const { exchange, user } = request;
  request.deadline?.cancel();
  request.pace?.end();
  releaseWhenTaken(service, request);
  if (request.waitedForClient) exchange.connection.backlog!.answered();
  service.metrics.end(request);
  request.trace?.end(request);
  service.observer?.(request);
  const { reader } = exchange;
  if (user !== unknownUser && reader !== undefined) {
    service.reading.answered(accountOf(request), request.startMs, reader);
  }
  request.audit?.ended();
  request.leaveWorkspace?.();
}

/** Returns the handler of a request for the console that needs no authentication; undefined for all other requests. */
function findConsolePage({ console }: HttpService, request: RequestContext): PathHandler | undefined {
  return console?.publicHandler(request);
}

/**
 * Records the stage RequestReceived of an audited request; later stages are recorded by its audit hooks.
 *
 * @throws {StatusError} InternalError if a strict backend can't write the event.
 */
function recordReceived(_service: HttpService, { audit }: RequestContext): MaybePromise<void> {
  return audit?.received();
}

/** Queues the request. Requests that arrive together are processed round-robin by user (`flow/fair-turns.ts`). */
function takeTurn(
  { turns }: HttpService,
  request: RequestContext,
  rest: () => MaybePromise<void>,
): MaybePromise<void> {
  return turns.run(accountOf(request), rest);
}

/** Waits until the client has read enough of the previous responses on its connection. */
function awaitRoom(service: HttpService, request: RequestContext): MaybePromise<void> {
  const room = request.exchange.connection.backlog?.room();
  if (room === undefined) return undefined;
  request.waitedForClient = true;
  return awaitClient(service, request, room);
}

/**
 * Admits the request or lets it wait for a seat. From here on its bytes are charged to its user.
 *
 * @throws {StatusError} TooManyRequests
 */
function enterLimits({ limits }: HttpService, request: RequestContext): MaybePromise<void> {
  request.exchange.caller = accountOf(request);
  request.limiter = limits;
  return limits.enter(request);
}

/**
 * Answers an exception of a stage. An unexpected exception is a bug: the server logs its stack and answers 500 without details.
 */
export function answerFailure(service: HttpService, request: RequestContext, thrown: unknown): void {
  const { exchange, audit } = request;
  const error = thrown instanceof StoreError ? storeFailure(thrown) : thrown;
  const named = {
    method: exchange.method,
    path: exchange.url.split("?", 1)[0]!,
    ...idsOf(request),
  };
  if (!(error instanceof StatusError)) {
    service.log.defect(error, named);
    audit?.panicked(error);
  } else if (error.cause !== undefined) service.log.unavailable(error.cause, named);
  // The time-out has been answered already.
  if (exchange.expired) return;
  if (exchange.answered) {
    const reason = error instanceof RevisionCompactedError ? "history gone" : "answer failed midway";
    service.log.cutOff(reason, named);
    exchange.breakOff();
    return;
  }
  const answer =
    error instanceof StatusError ? error : new StatusError("InternalError", "internal error; see the log");
  const page = wantsWelcomePage(request)
    ? { contentType: htmlMediaType, bytes: welcomePage(service.welcome, request.visitor) }
    : undefined;
  sendFailure(request, service.engine.vocabulary, answer, page);
}

/** A stage that processes the request itself. */
interface RunStage {
  readonly name: string;
  /**
   * Processes the request and sets members of the context for later stages. Returns a promise only if it must wait. Throws a
   * StatusError to end the request; the pipeline sends it as the response.
   */
  readonly run: (service: HttpService, request: RequestContext) => MaybePromise<void>;
}

/** One stage of the pipeline; `docs/lifecycle.md` uses the same names. */
type Stage = { readonly name: string } & (
  | RunStage
  | {
      /** Returns the handler that serves the request without the following stages; undefined to continue with them. */
      readonly find: (service: HttpService, request: RequestContext) => PathHandler | undefined;
    }
  | {
      /** Returns the service of the workspace in the path of the request, which runs the following stages. */
      readonly enter: (service: HttpService, request: RequestContext) => Promise<HttpService>;
    }
  | {
      /** Schedules the following stages: calls `rest` once and returns its result. */
      readonly schedule: (
        service: HttpService,
        request: RequestContext,
        rest: () => MaybePromise<void>,
      ) => MaybePromise<void>;
    }
);

/**
 * Returns the audit id of a request: the value of its `Audit-Id` header, unchanged as in the reference, or a new one if the header is
 * missing, empty, or contains characters other than printable ASCII.
 */
function auditIdOf(exchange: HttpExchange): string {
  const requested = exchange.header("audit-id");
  if (requested === undefined || requested === "") return randomUUID();
  return /^[\x20-\x7e]*$/.test(requested) ? requested : randomUUID();
}
