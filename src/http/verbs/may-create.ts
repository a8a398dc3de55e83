import { andThen } from "../../base/maybe-promise.ts";
import { asksFor, forbidden } from "../access.ts";
import type { HttpService } from "../service.ts";
import type { ResourceRequest } from "./serve-resource.ts";

/** A PUT or apply that creates needs the permission to create too. */
export function mayCreate(service: HttpService, { facts, user }: ResourceRequest): Promise<void> | void {
  const attributes = asksFor(facts, user, "create");
  return andThen(service.authorizer.authorize(attributes), (decision) => {
    if (decision.verdict !== "allow") throw forbidden(attributes, decision);
  });
}
