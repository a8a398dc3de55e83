import type { HttpService } from "../service.ts";
import type { ResourceContext } from "../request/context.ts";
import { andThen } from "../../base/turns/maybe-promise.ts";
import { asksFor, forbidden } from "../request/attributes.ts";

/** Authorizes the verb create for a PUT or apply that creates an object. */
export function mayCreate(service: HttpService, { facts, user }: ResourceContext): Promise<void> | void {
  const attributes = asksFor(facts, user, "create");
  return andThen(service.authorizer.authorize(attributes), (decision) => {
    if (decision.verdict !== "allow") throw forbidden(attributes, decision);
  });
}
