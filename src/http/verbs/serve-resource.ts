import { pathSegmentFaults } from "../../base/names.ts";
import { objectNotFound } from "../../base/object-errors.ts";
import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import { groupHint } from "../../vocabulary/other-vocabulary.ts";
import { StatusError } from "../../base/status-error.ts";
import type { Resource } from "../../resources/registry/registry.ts";
import type { Verb } from "../../schema/kind.ts";
import { startDeadline } from "./deadline.ts";
import type { ResourceFacts } from "../request/facts.ts";
import type { HttpService } from "../service.ts";
import type { RequestContext, ResourceContext } from "../request/context.ts";
import { prepareEncoding } from "./answer.ts";
import { serveAction } from "./action.ts";
import { serveComputed } from "./computed.ts";
import { serveConnect } from "./connect.ts";
import { serveCreate } from "./create.ts";
import { serveDelete, serveDeleteCollection } from "./delete.ts";
import { serveGet } from "./get.ts";
import { serveList } from "./list.ts";
import { servePatch } from "./patch.ts";
import { serveReview } from "./review.ts";
import { serveUpdate } from "./update.ts";
import { serveView } from "./view.ts";
import { serveWatch } from "./watch.ts";

/** Serves a request for a resource type by its verb. */
export function serveResource(
  service: HttpService,
  context: RequestContext,
  facts: ResourceFacts,
): MaybePromise<void> {
  const { resource } = context;
  if (resource === undefined) throw unknownPath(groupHint(facts.group, service.engine.vocabulary));
  checkShape(resource, facts);
  checkMethod(service, context, facts);
  const verb = verbIn(facts);
  const verbs = verbsAt(resource, facts.subresource);
  if (!verbs.includes(verb))
    throw notAllowed(verb === "watch" && verbs.includes("list") ? resource : undefined);
  if (facts.pathVerb === "watch" && !["GET", "HEAD"].includes(context.exchange.method)) throw notAllowed();
  const { namespace, name, subresource } = facts;
  checkNames(resource, facts);
  context.target = { resource, namespace: resource.namespaced ? namespace : "", name, subresource };
  const request = context as ResourceContext;
  if (verb === "watch") service.metrics.longRunning(facts, request.exchange);
  if (resource.kind.subresources[subresource]?.shape === "connect") {
    // The backend chooses the form of its response.
    return serveConnect(service, request);
  }
  if (verb !== "watch" && !facts.query.empty) startDeadline(service, request);
  return andThen(prepareEncoding(service, request.exchange), () => serveVerb(service, request, verb));
}

function serveVerb(service: HttpService, request: ResourceContext, verb: Verb): MaybePromise<void> {
  const { resource, subresource } = request.target;
  const below = subresource === "" ? undefined : resource.kind.subresources[subresource];
  switch (below?.shape) {
    case "view":
      return serveView(service, request, verb, below);
    case "action":
      return serveAction(service, request, below);
    case "connect":
      return serveConnect(service, request);
    case undefined:
  }
  if (resource.kind.computed === true) return serveComputed(service, request);
  switch (verb) {
    case "get":
      return serveGet(service, request);
    case "list":
      return serveList(service, request);
    case "watch":
      return serveWatch(service, request);
    case "create": {
      if (resource.kind.subresourceAlias !== undefined) {
        return serveAction(service, request, {
          shape: "action",
          verbs: ["create"],
          kind: () => resource.kind,
        });
      }
      const virtual = !request.target.resource.kind.verbs.includes("get");
      return virtual ? serveReview(service, request) : serveCreate(service, request);
    }
    case "update":
      return serveUpdate(service, request);
    case "patch":
      return servePatch(service, request);
    case "delete":
      return serveDelete(service, request);
    case "deletecollection":
      return serveDeleteCollection(service, request);
  }
}

/** The verb of the resource; an empty name before a subresource is a get, not a list. */
function verbIn({ verb, name, subresource }: ResourceFacts): Verb {
  return (verb === "list" && name === "" && subresource !== "" ? "get" : verb) as Verb;
}

/**
 * Rejects a path without a required name or namespace, and a name that no stored object can have. As in the reference, lists and
 * watches with an empty namespace are of all namespaces; other verbs, such as deletecollection, are rejected.
 *
 * @throws {StatusError} BadRequest
 */
function checkNames(resource: Resource, { name, subresource, verb, emptyNamespace }: ResourceFacts): void {
  // A watch selects by the name; computed objects have no store key.
  if (name !== "" && verb !== "watch" && resource.kind.computed !== true) {
    const [fault] = pathSegmentFaults(name);
    if (fault !== undefined)
      throw new StatusError(
        "BadRequest",
        `the name ${JSON.stringify(name)} in the path is invalid: ${fault}`,
      );
  }
  if (name === "" && subresource !== "")
    throw new StatusError(
      "BadRequest",
      `the name of the object is missing in the path before /${subresource}`,
    );
  if (!emptyNamespace || ((verb === "list" || verb === "watch") && name === "")) return;
  throw new StatusError("BadRequest", `the namespace of ${resource.name} is missing in the path`);
}

/** The path must have the shape of the resource's scope (spec: conventions 4.1). */
function checkShape(resource: Resource, facts: ResourceFacts): void {
  const { namespace, emptyNamespace, name, subresource, rest, verb } = facts;
  if (subresource !== "" && !Object.hasOwn(resource.kind.subresources, subresource)) {
    // Custom kinds have only the subresources of their definition.
    if (resource.kind.custom === undefined || name === "") throw unknownPath();
    throw objectNotFound({ resource: resource.name, group: resource.group, name });
  }
  if (rest !== "" && resource.kind.subresources[subresource]?.shape !== "connect") throw unknownPath();
  if (!resource.namespaced) {
    if (namespace !== "" && !isNamespaceItself(resource, facts)) throw unknownPath();
    // Only subresources of a namespace have this form.
    if (emptyNamespace && (resource.name !== "namespaces" || subresource === "")) throw unknownPath();
  } else if (namespace === "" && !emptyNamespace) {
    if (name !== "" || !resource.kind.verbs.includes("list")) throw unknownPath();
    if (verb !== "list" && verb !== "watch") throw notAllowed();
  }
  if (name !== "" && subresource === "") {
    // What can only be created, such as a review, has no paths with a name.
    if (isCreateOnly(resource)) throw unknownPath();
    if (verb === "create") throw notAllowed();
  }
  if (name === "" && (verb === "update" || verb === "patch")) throw notAllowed();
}

/** @throws {StatusError} MethodNotAllowed for a HEAD that the vocabulary has for backends only */
function checkMethod(
  { engine }: HttpService,
  { exchange }: RequestContext,
  { subresource }: ResourceFacts,
): void {
  if (exchange.method !== "HEAD" || engine.vocabulary.behavior.headOfResources) return;
  if (subresource !== "proxy") throw notAllowed();
}

/**
 * A namespace is authorized in its own scope, so that its attributes name it twice. `namespaces/a/namespaces/b` must be 404: otherwise
 * permissions in `a` would apply to `b`.
 */
function isNamespaceItself(resource: Resource, { namespace, name }: ResourceFacts): boolean {
  return resource.name === "namespaces" && resource.group === "" && namespace === name;
}

function isCreateOnly({ kind }: Resource): boolean {
  return kind.verbs.length === 1 && kind.verbs[0] === "create";
}

function verbsAt(resource: Resource, subresource: string): readonly Verb[] {
  return subresource === "" ? resource.kind.verbs : (resource.kind.subresources[subresource]?.verbs ?? []);
}

/** @param hint is appended to the message. */
function unknownPath(hint = ""): StatusError {
  return new StatusError("NotFound", `the server could not find the requested resource${hint}`);
}

/** @param unwatched the resource type, if it can be listed but not watched. */
function notAllowed(unwatched?: Resource): StatusError {
  return new StatusError(
    "MethodNotAllowed",
    "the server does not allow this method on the requested resource",
    unwatched && { kind: unwatched.name, group: unwatched.group },
  );
}
