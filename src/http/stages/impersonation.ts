import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import { StatusError } from "../../base/status-error.ts";
import type { UserInfo } from "../../base/user-info.ts";
import type { Attributes, Authorizer } from "../../authorization/authorizer.ts";
import { authentication } from "../../kinds/groups.ts";
import { groupName } from "../../schema/kind.ts";
import { forbidden } from "../request/attributes.ts";
import type { RequestContext } from "../request/context.ts";
import type { HttpService } from "../service.ts";
import { constrainedUser } from "./constrained-impersonation.ts";
import { groupsOf, readHeaders, serviceAccountOf, type ImpersonatedUser } from "./impersonated-user.ts";

/**
 * Sets the user of the request to that of its `Impersonate-` headers, if it has any. The caller must be allowed to impersonate the
 * name and each group, uid and extra value; with the gate ConstrainedImpersonation, for this request only is sufficient.
 *
 * @throws {StatusError} BadRequest if there are such headers without a user name; Forbidden.
 */
export function impersonate(service: HttpService, request: RequestContext): MaybePromise<void> {
  const target = readHeaders(request.exchange.rawHeaders);
  return target === undefined ? undefined : become(service, request, target);
}

async function become(
  service: HttpService,
  request: RequestContext,
  target: ImpersonatedUser,
): Promise<void> {
  if (target.name === "") {
    throw new StatusError("BadRequest", "groups and other facts can't be impersonated without a user");
  }
  if (!service.engine.featureEnabled("ConstrainedImpersonation")) {
    const refusal = await becomeByOldRights(service, request, target, service.authorizer);
    if (refusal !== undefined) throw refusal;
    return;
  }
  const { impersonations } = service;
  const startMs = impersonations.begin();
  let mode: string | undefined;
  try {
    mode = await becomeInMode(service, request, target);
  } finally {
    impersonations.attempted(mode, startMs);
  }
}

/** Sets the user in the first mode that allows it, and returns the name of the mode. @throws {StatusError} Forbidden */
async function becomeInMode(
  service: HttpService,
  request: RequestContext,
  target: ImpersonatedUser,
): Promise<string> {
  const constrained = await constrainedUser(service, request, target);
  if ("user" in constrained) {
    request.user = constrained.user;
    request.impersonationConstraint = `impersonate:${constrained.mode}`;
    return constrained.mode;
  }
  const refusal = await becomeByOldRights(service, request, target, {
    authorize: (attributes) => service.impersonations.authorize(service.authorizer, attributes, "legacy"),
  });
  if (refusal !== undefined) throw constrained.refusal ?? refusal;
  return "legacy";
}

/** Sets the user if the caller has the verb `impersonate` on all its fields; otherwise returns the error. */
async function becomeByOldRights(
  service: HttpService,
  request: RequestContext,
  target: ImpersonatedUser,
  authorizer: Authorizer,
): Promise<StatusError | undefined> {
  for (const attributes of rightsFor(service, request.caller, target)) {
    const decision = await authorizer.authorize(attributes);
    if (decision.verdict !== "allow") return forbidden(attributes, decision);
  }
  request.user = { ...target, groups: groupsOf(service.engine.vocabulary, target) };
  return undefined;
}

/** The attributes to authorize. */
function rightsFor(service: HttpService, user: UserInfo, target: ImpersonatedUser): Attributes[] {
  const { vocabulary } = service.engine;
  const one = (
    group: string,
    resource: string,
    name: string,
    subresource = "",
    namespace = "",
  ): Attributes => ({
    kind: "resource",
    user,
    verb: "impersonate",
    group,
    version: "v1",
    resource,
    subresource,
    namespace,
    name,
  });
  const account = serviceAccountOf(vocabulary, target.name);
  const own = groupName(authentication, vocabulary);
  return [
    account === undefined
      ? one("", "users", target.name)
      : one("", "serviceaccounts", account.name, "", account.namespace),
    ...target.groups.map((group) => one("", "groups", group)),
    ...(target.uid === "" ? [] : [one(own, "uids", target.uid)]),
    ...Object.entries(target.extra).flatMap(([key, values]) =>
      values.map((value) => one(own, "userextras", value, key)),
    ),
  ];
}
