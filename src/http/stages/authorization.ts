import { userViewSource } from "../../authorization/followed-user-view.ts";
import { userView } from "../../authorization/user-view.ts";
import type { NonResourceAttributes, ResourceAttributes } from "../../authorization/authorizer.ts";
import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import { createYielder } from "../../base/turns/yielding.ts";
import type { Resource } from "../../resources/registry/registry.ts";
import { userPath } from "../documents/console/console-pages.ts";
import { asksFor, attributesOf, attributesWithSelectors, forbidden } from "../request/attributes.ts";
import { accountOf, type RequestContext } from "../request/context.ts";
import { isSubscription, type ResourceFacts } from "../request/facts.ts";
import { viewParameter } from "../request/parameters.ts";
import { asksForHistory } from "../verbs/past.ts";
import { wantsWelcomePage } from "../request/welcome.ts";
import type { HttpService } from "../service.ts";
import { visitorOf } from "./visitor.ts";

/**
 * Authorizes the request. A list or watch with `view=mine` needs no right to the verb: it is limited to the objects of its user's
 * view (`request.view`, `request.viewSource`). A subscription needs no right to its path; the verb authorizes each of its watches. Nor does
 * the console's question who is signed in.
 *
 * @throws {StatusError} Forbidden, with user, verb, resource and the reason if there is one; BadRequest for a view that can't be served.
 */
export function authorize(service: HttpService, request: RequestContext): MaybePromise<void> {
  const { user, audit } = request;
  // The right to read an object is that to read its history, unless the verb needs another one.
  const facts = asksForHistory(request)
    ? { ...(request.facts as ResourceFacts), subresource: "" }
    : request.facts;
  const attributes = service.authorizesSelectors
    ? attributesWithSelectors(facts, user)
    : attributesOf(facts, user);
  const resource = attributes.kind === "resource" ? listedWithView(request) : undefined;
  if (resource !== undefined) {
    return authorizeView(service, request, attributes as ResourceAttributes, resource);
  }
  if (isSubscription(facts) && isAuthenticated(service, request)) {
    audit?.decided(watchesOfOwn);
    return undefined;
  }
  if (asksForOwnName(service, request) && isAuthenticated(service, request)) {
    audit?.decided(ownName);
    return undefined;
  }
  if (attributes.kind === "nonResource" && wantsWelcomePage(request))
    return authorizeVisitor(service, request, attributes);
  return andThen(service.authorizer.authorize(attributes), (decision) => {
    audit?.decided(decision);
    if (decision.verdict !== "allow") throw forbidden(attributes, decision);
    if (opensPodStream(service, request)) return authorizePodStream(service, request);
  });
}

/**
 * Authorizes the request for the page of `/`, and collects the rights of its visitor.
 *
 * @throws {StatusError} Forbidden
 */
async function authorizeVisitor(
  { authorizer, engine }: HttpService,
  request: RequestContext,
  attributes: NonResourceAttributes,
): Promise<void> {
  const { user, audit } = request;
  const decision = await authorizer.authorize(attributes);
  audit?.decided(decision);
  request.visitor = await visitorOf(authorizer, user, engine.vocabulary.systemPrefix);
  if (decision.verdict !== "allow") throw forbidden(attributes, decision);
}

const podStreams: ReadonlySet<string> = new Set(["exec", "attach", "portforward"]);

/**
 * Whether a request opens a stream to a pod by upgrading a GET, as WebSockets do: from release 1.35 on it needs the right to `create` too,
 * as the same stream over a POST does.
 */
function opensPodStream({ engine }: HttpService, { facts, exchange }: RequestContext): boolean {
  return (
    facts.kind === "resource" &&
    facts.resource === "pods" &&
    facts.group === "" &&
    podStreams.has(facts.subresource) &&
    facts.verb !== "create" &&
    exchange.upgrade !== undefined &&
    engine.featureEnabled("AuthorizePodWebsocketUpgradeCreatePermission")
  );
}

/** @throws {StatusError} Forbidden without the right to create the stream. */
async function authorizePodStream(
  service: HttpService,
  { facts, user, audit }: RequestContext,
): Promise<void> {
  const attributes = asksFor(facts as ResourceFacts, user, "create");
  const decision = await service.authorizer.authorize(attributes);
  audit?.decided(decision);
  if (decision.verdict !== "allow") throw forbidden(attributes, decision);
}

function isAuthenticated({ engine }: HttpService, { user }: RequestContext): boolean {
  return user.groups.includes(`${engine.vocabulary.systemPrefix}authenticated`);
}

/** Whether the console asks who is signed in. */
function asksForOwnName({ console }: HttpService, { facts }: RequestContext): boolean {
  return facts.kind === "path" && facts.path === userPath && facts.verb === "get" && console !== undefined;
}

const ownName = {
  verdict: "allow",
  reason: "every user may ask for their own name and groups",
  evaluationError: "",
} as const;

/** The verb of a subscription authorizes each of its watches. */
const watchesOfOwn = {
  verdict: "allow",
  reason: "every user may subscribe to the resource types that they may watch",
  evaluationError: "",
} as const;

/**
 * Returns the resource type of a list or watch with the parameter `view`; undefined for any other request, which needs the right to
 * its verb. Requests that an extension server or another verb would answer are never authorized as views.
 *
 * @throws {StatusError} BadRequest for an unsupported value.
 */
function listedWithView({ facts, resource, remote }: RequestContext): Resource | undefined {
  if (facts.query.empty || facts.kind !== "resource" || resource === undefined || remote !== undefined) {
    return undefined;
  }
  const { verb, name, subresource, pathVerb, query } = facts;
  if ((verb !== "list" && verb !== "watch") || name !== "" || subresource !== "" || pathVerb !== "") {
    return undefined;
  }
  return viewParameter(query) === undefined ? undefined : resource;
}

/** Every authenticated user may ask for their view; an anonymous one needs the right to the verb too. */
async function authorizeView(
  service: HttpService,
  request: RequestContext,
  attributes: ResourceAttributes,
  resource: Resource,
): Promise<void> {
  const { authorizer, turns, viewRule } = service;
  const { audit } = request;
  const decision = isAuthenticated(service, request)
    ? ownViews[viewRule]
    : await authorizer.authorize(attributes);
  audit?.decided(decision);
  audit?.viewed("mine");
  if (decision.verdict !== "allow") throw forbidden(attributes, decision);
  const pace = { rule: viewRule, yieldIfDue: createYielder(() => turns.longStep(accountOf(request))) };
  if (attributes.verb === "watch") {
    request.viewSource = await userViewSource(authorizer, attributes, resource, pace);
    return;
  }
  request.renewView = () => userView(authorizer, attributes, resource, pace);
  request.view = await request.renewView();
}

const ownView = (reason: string) =>
  ({ verdict: "allow", reason: `view=mine: every user may ${reason}`, evaluationError: "" }) as const;

const ownViews = {
  get: ownView("list and watch what they may get"),
  list: ownView("list and watch what they may list or are granted by name"),
} as const;
