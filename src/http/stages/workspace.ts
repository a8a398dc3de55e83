import { forbidden } from "../request/attributes.ts";
import type { RequestContext } from "../request/context.ts";
import type { HttpService } from "../service.ts";
import { authenticate, authorizationOf } from "./authentication.ts";
import { readRequestFacts } from "./request-facts.ts";

/**
 * Passes a request to the workspace in its path. A token of the workspace is authenticated there. All other callers are authenticated
 * here and need the verb `access` for the workspace; accounts and nodes of this server aren't known in it.
 *
 * @returns the service of the workspace, which runs the following stages.
 * @throws {StatusError} Unauthorized, Forbidden, NotFound, ServiceUnavailable
 */
export async function enterWorkspace(service: HttpService, request: RequestContext): Promise<HttpService> {
  const workspaces = service.workspaces!;
  const { name } = request.workspace!;
  const issuer = await workspaces.issuerOf(authorizationOf(service, request));
  const issued = issuer === undefined ? undefined : await workspaces.find(name);
  const isOwn = issued?.uid === issuer && issuer !== undefined;
  if (!isOwn) {
    await authenticate(service, request);
    await authorizeAccess(service, request, name);
  }
  const place = issued ?? (await workspaces.find(name));
  if (place === undefined) throw workspaces.notFound(name);
  const entered = await place.enter(isOwn ? undefined : request.user);
  request.isWorkspaceAccount = isOwn;
  request.leaveWorkspace = entered.left;
  await readRequestFacts(entered.service, request);
  return entered.service;
}

/**
 * Checks that the user may enter a workspace of the server.
 *
 * @throws {StatusError} Forbidden
 */
export async function authorizeAccess(
  service: HttpService,
  request: Pick<RequestContext, "user" | "audit">,
  name: string,
): Promise<void> {
  const { user, audit } = request;
  const { authorizer, workspaces, engine } = service;
  const attributes = workspaces!.accessTo(name, user);
  const decision = await authorizer.authorize(attributes);
  if (decision.verdict !== "allow") {
    audit?.decided(decision);
    throw forbidden(attributes, decision);
  }
  const { systemPrefix } = engine.vocabulary;
  if (
    user.name.startsWith(`${systemPrefix}serviceaccount:`) ||
    user.name.startsWith(`${systemPrefix}node:`)
  ) {
    const reason = "service accounts and nodes are known in their own workspace only";
    throw forbidden(attributes, { reason, evaluationError: "" });
  }
}
