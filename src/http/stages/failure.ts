import { StatusError } from "../../base/status-error.ts";
import { storeFailure } from "../../resources/resource-version.ts";
import { RevisionCompactedError, StoreError } from "../../storage/store.ts";
import { sendFailure } from "../answers/respond.ts";
import type { RequestContext } from "../request/context.ts";
import type { HttpService } from "../service.ts";

/**
 * Answers what a stage threw. An exception that isn't meant for clients is a bug: the server logs it with its stack and
 * answers 500 without details.
 */
export function answerFailure(service: HttpService, request: RequestContext, thrown: unknown): void {
  const { exchange, audit } = request;
  const error = thrown instanceof StoreError ? storeFailure(thrown) : thrown;
  const named = { method: exchange.method, path: exchange.url.split("?", 1)[0]! };
  if (!(error instanceof StatusError)) {
    service.log.defect(error, named);
    audit?.panicked(error);
  } else if (error.cause !== undefined) service.log.unavailable(error.cause, named);
  // The client has got its answer already, that the time was over.
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
