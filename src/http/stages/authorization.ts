import { andThen, type MaybePromise } from "../../base/maybe-promise.ts";
import { attributesOf, forbidden } from "../request/attributes.ts";
import type { RequestContext } from "../request/context.ts";
import type { HttpService } from "../service.ts";

/**
 * Authorizes the request.
 *
 * @throws {StatusError} Forbidden, with user, verb, resource and the reason if there is one.
 */
export function authorize({ authorizer }: HttpService, request: RequestContext): MaybePromise<void> {
  const attributes = attributesOf(request.facts, request.user);
  return andThen(authorizer.authorize(attributes), (decision) => {
    request.audit?.decided(decision);
    if (decision.verdict !== "allow") throw forbidden(attributes, decision);
  });
}
