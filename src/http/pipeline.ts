import type { MaybePromise } from "../base/maybe-promise.ts";
import { releaseWhenTaken } from "./limits/seat-release.ts";
import { auditIdOf } from "./request/audit-id.ts";
import { newRequest, unknownUser, type RequestContext } from "./request/context.ts";
import { RequestTrace } from "./request/request-trace.ts";
import { stepTimer } from "./request/steps.ts";
import type { HttpService } from "./service.ts";
import { recordReceived } from "./stages/audit.ts";
import { authenticate } from "./stages/authentication.ts";
import { authorize } from "./stages/authorization.ts";
import { answerFailure } from "./stages/failure.ts";
import { findConsolePage } from "./stages/console.ts";
import { impersonate } from "./stages/impersonation.ts";
import { enterLimits } from "./stages/limits.ts";
import { readRequestFacts } from "./stages/request-facts.ts";
import type { Stage } from "./stages/stage.ts";
import { runTraced } from "./stages/traced-stages.ts";
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
  for (let at = first; at < stages.length; at++) {
    const stage = stages[at]!;
    if ("schedule" in stage) {
      const taken = stepTimer(request, stage.name);
      return stage.schedule(service, request, () => {
        taken();
        return run(service, request, at + 1);
      });
    }
    if ("find" in stage) {
      const handler = stage.find(service, request);
      if (handler !== undefined) return handler(request) ?? undefined;
      continue;
    }
    const done = stage.run(service, request);
    if (done instanceof Promise) {
      const taken = stepTimer(request, stage.name);
      return done.then(
        () => {
          taken();
          return run(service, request, at + 1);
        },
        (error: unknown) => {
          taken();
          throw error;
        },
      );
    }
  }
}

/** Serves a request. */
export function handle(service: HttpService, exchange: HttpExchange): void {
  exchange.auditId = auditIdOf(exchange);
  const request = newRequest(exchange, service.metrics.begin(exchange));
  service.audit?.accompany(request);
  const trace = service.tracing === undefined ? undefined : new RequestTrace(service.tracing, exchange);
  request.trace = trace;
  try {
    const done = trace === undefined ? run(service, request, 0) : runTraced(stages, service, request, trace);
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
