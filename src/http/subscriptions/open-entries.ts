import { StatusError } from "../../base/status-error.ts";
import { parseSelection, type Selection } from "../../resources/objects/selection.ts";
import type { Resource } from "../../resources/registry/registry.ts";
import { failureStatus } from "../answers/status.ts";
import { attributesOf, attributesWithSelectors, forbidden } from "../request/attributes.ts";
import type { Query } from "../request/facts.ts";
import { inShards } from "../request/parameters.ts";
import { newRequest, type RequestContext, type ResourceContext } from "../request/context.ts";
import type { HttpService } from "../service.ts";
import { authorize } from "../stages/authorization.ts";
import { impersonate } from "../stages/impersonation.ts";
import { findServed } from "../stages/request-facts.ts";
import { factsOf, resourceText, type WatchEntry } from "./watch-entries.ts";

/** A resource type of a subscription whose watch is authorized. */
export interface OpenEntry {
  /** The watch as a request of its own, with its own audit. */
  readonly request: ResourceContext;
  readonly selection: Selection;
  /** Name of the resource type in messages. */
  readonly text: string;
}

export interface EntryOptions {
  /** Whether the current objects are sent, which requires the right to list them. */
  readonly lists: boolean;
  readonly view: "mine" | undefined;
}

/**
 * Opens the watches of a subscription: finds their resource types, authorizes each as a watch of its own and starts its audit.
 *
 * @throws {StatusError} as the watch itself; the message begins with the index and name of the watch.
 */
export async function openEntries(
  service: HttpService,
  subscription: RequestContext,
  entries: readonly WatchEntry[],
  options: EntryOptions,
): Promise<OpenEntry[]> {
  const open: OpenEntry[] = [];
  for (const [index, entry] of entries.entries()) {
    const request = entryRequest(service, subscription);
    try {
      open.push(await openEntry(service, request, entry, options));
    } catch (error) {
      const named = error instanceof StatusError ? withEntry(error, index, resourceText(entry)) : error;
      recordFailure(service, [...open, { request }], named);
      throw named;
    }
  }
  return open;
}

/** The watch of one resource type as a request of its own over the same exchange. */
function entryRequest(service: HttpService, subscription: RequestContext): RequestContext {
  const { exchange, startMs, caller, user } = subscription;
  const request = { ...newRequest(exchange, startMs), caller, user };
  const { onAnswer } = exchange;
  service.audit?.accompany(request);
  const own = exchange.onAnswer;
  if (own !== onAnswer) {
    exchange.onAnswer = (status) => {
      onAnswer?.(status);
      own?.(status);
    };
  }
  return request;
}

async function openEntry(
  service: HttpService,
  request: RequestContext,
  entry: WatchEntry,
  { lists, view }: EntryOptions,
): Promise<OpenEntry> {
  const facts = factsOf(entry, view);
  await findServed(service, request, facts);
  // Constrained impersonation is for single requests, such as the watch of this resource type.
  const isImpersonated = request.user !== request.caller;
  if (isImpersonated) await impersonate(service, request);
  await request.audit?.received();
  await authorize(service, request);
  if (lists && view === undefined) {
    const listFacts = { ...facts, verb: "list" };
    if (isImpersonated) await impersonate(service, { ...request, facts: listFacts });
    const attributes = service.authorizesSelectors
      ? attributesWithSelectors(listFacts, request.user)
      : attributesOf(listFacts, request.user);
    const decision = await service.authorizer.authorize(attributes);
    if (decision.verdict !== "allow") throw forbidden(attributes, decision);
  }
  const resource = watchable(request, entry);
  request.target = {
    resource,
    namespace: resource.namespaced ? entry.namespace : "",
    name: "",
    subresource: "",
  };
  const selection = selectionOf(service, entry, resource, facts.query);
  return { request: request as ResourceContext, selection, text: resourceText(entry) };
}

/** @throws {StatusError} BadRequest for an invalid selector, and for one of shards while their feature gate is off. */
function selectionOf(
  { engine }: HttpService,
  entry: WatchEntry,
  resource: Resource,
  query: Query,
): Selection {
  const { labelSelector, fieldSelector, shardSelector } = entry;
  // A list or watch ignores the parameter, as in the reference; its client can compare the metadata of the list.
  if (shardSelector !== undefined && !engine.featureEnabled("ShardedListAndWatch")) {
    throw new StatusError("BadRequest", "shardSelector: requires the feature gate ShardedListAndWatch");
  }
  return inShards(parseSelection(resource, labelSelector, fieldSelector), query, engine);
}

/**
 * Returns the resource type of an entry.
 *
 * @throws {StatusError} BadRequest, NotFound or MethodNotAllowed if the server doesn't serve a watch of it.
 */
function watchable({ resource, remote }: RequestContext, { namespace }: WatchEntry): Resource {
  if (remote !== undefined) {
    throw new StatusError(
      "BadRequest",
      "an extension server serves this group version; watch the resource type in a request of its own",
    );
  }
  if (resource === undefined) {
    throw new StatusError("NotFound", "the server could not find the requested resource");
  }
  if (!resource.kind.verbs.includes("watch")) {
    throw new StatusError("MethodNotAllowed", "the resource type can't be watched");
  }
  if (namespace !== "" && !resource.namespaced) {
    throw new StatusError(
      "BadRequest",
      "namespace: the resource type is cluster-scoped, so it must be empty",
    );
  }
  return resource;
}

function withEntry({ reason, message, details }: StatusError, index: number, text: string): StatusError {
  return new StatusError(reason, `watches[${index}] (${text}): ${message}`, details);
}

/** Records the failure of a subscription in the audit of its watches. */
export function recordFailure(
  { engine }: HttpService,
  watches: readonly { readonly request: RequestContext }[],
  error: unknown,
): void {
  for (const { request } of watches) {
    const { audit } = request;
    if (error instanceof StatusError)
      audit?.responseStatus(error.code, failureStatus(error, engine.vocabulary));
    else audit?.panicked(error);
    audit?.ended();
  }
}
