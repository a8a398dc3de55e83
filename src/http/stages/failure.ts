import { StatusError } from "../../base/status-error.ts";
import { storeFailure } from "../../resources/engine/resource-version.ts";
import { RevisionCompactedError, StoreError } from "../../storage/store.ts";
import { sendFailure } from "../answers/respond.ts";
import { idsOf, type RequestContext } from "../request/context.ts";
import type { HttpService } from "../service.ts";

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
  sendFailure(request, service.engine.vocabulary, answer);
}
