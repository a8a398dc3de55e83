import { andThen, type MaybePromise } from "../../base/maybe-promise.ts";
import { attributesOf, forbidden } from "../request/attributes.ts";
import type { RequestContext } from "../request/context.ts";
import type { HttpService } from "../service.ts";

/**
 * Asks the authorizers whether the user may do what is asked.
 *
 * @throws {StatusError} Forbidden, saying who may not do what, and why where a reason is known.
 */
export function authorize({ authorizer }: HttpService, request: RequestContext): MaybePromise<void> {
  const attributes = attributesOf(request.facts, request.user);
  return andThen(authorizer.authorize(attributes), (decision) => {
    request.audit?.decided(decision);
    if (decision.verdict !== "allow") throw forbidden(attributes, decision);
  });
}
