import { StatusError } from "../../base/status-error.ts";
import { newRequest, type ResourceContext } from "../request/context.ts";
import { readFacts } from "../request/facts.ts";
import type { HttpService } from "../service.ts";
import { authorize } from "../stages/authorization.ts";
import { findServed } from "../stages/request-facts.ts";
import { serveResource } from "../verbs/serve-resource.ts";
import { OperationExchange, type OperationAnswer } from "./operation-exchange.ts";
import type { OperationRequest } from "./operation-request.ts";

/**
 * Processes an operation by the stages that concern what it writes; its transaction has passed the others.
 *
 * @param outer the request of the transaction.
 * @throws {StatusError} the error of the operation.
 */
export async function runOperation(
  service: HttpService,
  outer: ResourceContext,
  operation: OperationRequest,
): Promise<OperationAnswer> {
  const exchange = new OperationExchange(outer.exchange, operation);
  const request = newRequest(exchange, outer.startMs);
  request.caller = outer.caller;
  request.user = outer.user;
  request.limited = outer.limited;
  request.expiresAt = outer.expiresAt;
  const facts = readFacts(exchange.method, exchange.url);
  await findServed(service, request, facts);
  if (request.remote !== undefined)
    throw new StatusError("BadRequest", "objects of an extension server can't be part of a transaction");
  await authorize(service, request);
  if (facts.kind !== "resource")
    throw new StatusError("NotFound", "the server could not find the requested resource");
  try {
    await serveResource(service, request, facts);
  } finally {
    request.deadline?.cancel();
    request.pace?.end();
  }
  return exchange.answer!;
}
