import { StatusError } from "../../base/status-error.ts";
import { floorOf, hasOwnRight, historySubresource, revisionAt } from "../../resources/reads/history.ts";
import { decodeContinue } from "../../resources/reads/continue-token.ts";
import type { SortedListOptions } from "../../resources/reads/sorted-list.ts";
import { isStored, type Resource } from "../../resources/registry/registry.ts";
import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import type { Revision } from "../../storage/store.ts";
import { attributesOf, forbidden } from "../request/attributes.ts";
import type { RequestContext, ResourceContext } from "../request/context.ts";
import type { HttpService } from "../service.ts";

/** Whether a request is for the versions of an object: the path `history` below an object of a kind that has no such subresource. */
export function asksForHistory({
  facts,
  resource,
  remote,
}: Pick<RequestContext, "facts" | "resource" | "remote">): boolean {
  return (
    facts.kind === "resource" &&
    facts.subresource === historySubresource &&
    remote === undefined &&
    resource !== undefined &&
    isStored(resource) &&
    !Object.hasOwn(resource.kind.subresources, historySubresource)
  );
}

/** Parameters that a request with `at` may not have, because they name another state. */
const otherStates = ["resourceVersion", "resourceVersionMatch", "sendInitialEvents"];

/**
 * Returns the revision of the parameter `at` of a get, list or watch; undefined without it.
 *
 * @throws {StatusError} BadRequest for a wrong value or together with another state; Expired before the history; Forbidden without the
 *   right to the history, for a resource that has one.
 */
export function pastRevision(service: HttpService, request: ResourceContext): Promise<Revision> | undefined {
  const { query } = request.facts;
  if (query.empty) return undefined;
  const at = query.get("at") ?? "";
  return at === "" ? undefined : readPastRevision(service, request, at);
}

async function readPastRevision(
  service: HttpService,
  request: ResourceContext,
  at: string,
): Promise<Revision> {
  const { query } = request.facts;
  const { resource } = request.target;
  for (const name of otherStates)
    if ((query.get(name) ?? "") !== "")
      throw new StatusError("BadRequest", `parameter at: can't be used together with ${name}`);
  await mayReadHistory(service, request);
  return revisionAt(service.engine, resource, at);
}

/** Returns whether the parameter `deleted` asks for deleted objects. @throws {StatusError} BadRequest for a value other than true and false. */
export function asksForDeleted({ query }: Pick<ResourceContext["facts"], "query">): boolean {
  const text = query.empty ? undefined : query.get("deleted");
  if (text === undefined || text === "" || text === "false") return false;
  if (text === "true") return true;
  throw new StatusError("BadRequest", `parameter deleted: ${JSON.stringify(text)} is not true or false`);
}

/** Whether a request has a parameter that isn't empty. */
export function hasParameter({ query }: Pick<ResourceContext["facts"], "query">, name: string): boolean {
  return !query.empty && (query.get(name) ?? "") !== "";
}

/** Rejects parameters of the history in a request that doesn't read it. @throws {StatusError} BadRequest */
export function refuseHistoryParameters(
  { query }: Pick<ResourceContext["facts"], "query">,
  verb: string,
  ...names: readonly string[]
): void {
  for (const name of names)
    if (hasParameter({ query }, name))
      throw new StatusError("BadRequest", `parameter ${name}: is not supported by ${verb}`);
}

/**
 * Authorizes the reading of history, beside the right to the verb: that of Secrets needs a right to the subresource `history`.
 *
 * @throws {StatusError} Forbidden
 */
export async function mayReadHistory(
  { authorizer }: HttpService,
  { facts, user, target }: ResourceContext,
): Promise<void> {
  if (!hasOwnRight(target.resource)) return;
  const attributes = attributesOf({ ...facts, subresource: historySubresource }, user);
  const decision = await authorizer.authorize(attributes);
  if (decision.verdict !== "allow") throw forbidden(attributes, decision);
}

/**
 * Returns the oldest revision from which a watch without `at` may start: for a resource whose history needs a right of its own, only the
 * retention time of the store counts.
 */
export function watchFloor({ engine }: HttpService, resource: Resource): MaybePromise<Revision> {
  return hasOwnRight(resource) ? engine.store.floor() : floorOf(engine, resource);
}

/**
 * Rejects a list without `at` that would read history for which it has no right.
 *
 * @throws {StatusError} Expired, as without the history.
 */
export async function refuseOldRead(
  { engine }: HttpService,
  { read, view, sort }: SortedListOptions,
): Promise<void> {
  if (read.mode !== "exact" && read.mode !== "continue") return;
  const revision =
    read.mode === "exact" ? read.revision : decodeContinue(read.token, view?.id, sort?.text).revision;
  const floor = await engine.store.floor();
  if (revision !== undefined && revision < floor)
    throw new StatusError("Expired", `too old resource version: ${revision} (${floor})`);
}
