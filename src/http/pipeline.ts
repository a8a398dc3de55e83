import type { MaybePromise } from "../base/turns/maybe-promise.ts";
import { releaseWhenTaken } from "./limits/seat-release.ts";
import { auditIdOf } from "./request/audit-id.ts";
import { newRequest, unknownUser, type RequestContext, type TraceHooks } from "./request/context.ts";
import { RequestTrace } from "./request/request-trace.ts";
import { endStep } from "./request/steps.ts";
import type { HttpService } from "./service.ts";
import { recordReceived } from "./stages/audit.ts";
import { authenticate } from "./stages/authentication.ts";
import { authorize } from "./stages/authorization.ts";
import { answerFailure } from "./stages/failure.ts";
import { findConsolePage } from "./stages/console.ts";
import { impersonate } from "./stages/impersonation.ts";
import { enterLimits } from "./stages/limits.ts";
import { readRequestFacts } from "./stages/request-facts.ts";
import type { RunStage, Stage } from "./stages/stage.ts";
import { takeTurn } from "./stages/turn.ts";
import { awaitRoom } from "./stages/unread-answers.ts";
import { serve } from "./stages/verb.ts";
import type { HttpExchange } from "./transport/http-exchange.ts";

/** The stages of a request in order; documented in `docs/lifecycle.md`. */
export const stages: readonly Stage[] = [
  /* 1 */ { name: "Request facts", run: readRequestFacts },
  /* 2 */ { name: "Console", find: findConsolePage },
  /* 3 */ { name: "Authentication", run: authenticate },
  /* 4 */ { name: "Audit", run: recordReceived },
  /* 5 */ { name: "Impersonation", run: impersonate },
  /* 6 */ { name: "Limits", run: enterLimits },
  /* 7 */ { name: "Turn", schedule: takeTurn },
  /* 8 */ { name: "Unread answers", run: awaitRoom },
  /* 9 */ { name: "Authorization", run: authorize },
  /* 10 */ { name: "Verb", run: serve },
];

/** Runs the stages from an index on. Returns a promise only if a stage waits. */
function run(service: HttpService, request: RequestContext, first: number): MaybePromise<void> {
  const { trace } = request;
  for (let at = first; at < stages.length; at++) {
    const stage = stages[at]!;
    if ("schedule" in stage) return stage.schedule(service, request, restOf(service, request, at));
    if ("find" in stage) {
      const handler = stage.find(service, request);
      if (handler !== undefined) return handler(request) ?? undefined;
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
    service.reading.answered(user.name, request.startMs, reader);
  }
  request.audit?.ended();
}
