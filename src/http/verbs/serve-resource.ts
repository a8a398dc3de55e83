import { pathSegmentFaults } from "../../base/names.ts";
import { objectNotFound } from "../../base/object-errors.ts";
import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import { groupHint } from "../../vocabulary/other-vocabulary.ts";
import { StatusError } from "../../base/status-error.ts";
import type { Resource } from "../../resources/registry/registry.ts";
import { tenancy } from "../../kinds/groups.ts";
import { Undo } from "../../kinds/history/undo.ts";
import { Transaction } from "../../kinds/transactions/transaction.ts";
import { declarationOf, type Verb } from "../../schema/kind.ts";
import { startDeadline } from "./deadline.ts";
import type { ResourceFacts } from "../request/facts.ts";
import type { HttpService } from "../service.ts";
import { type RequestContext, type ResourceContext, reportOf } from "../request/context.ts";
import { prepareEncoding, encodingOf, sendStored, sendObject, bodyOf } from "./answer.ts";
import { serveAction } from "./action.ts";
import { serveComputed } from "./computed.ts";
import { serveConnect } from "./connect.ts";
import { serveDelete, serveDeleteCollection } from "./delete.ts";
import { serveList } from "./list.ts";
import { servePatch } from "./patch.ts";
import { mayCreate } from "./may-create.ts";
import { serveView } from "./view.ts";
import { serveWatch } from "./watch.ts";
import type { Encoding } from "../encodings/encoding.ts";
import type { Revision } from "../../storage/store.ts";
import { asksForDeleted, asksForHistory, pastRevision, refuseHistoryParameters } from "./past.ts";
import { serveDeleted, serveHistory } from "./history.ts";
import { getPastObject, historySubresource } from "../../resources/reads/history.ts";
import { getObject } from "../../resources/reads/get.ts";
import { parseResourceVersion } from "../../resources/engine/resource-version.ts";
import { refuseExport, writeParameters } from "../request/parameters.ts";
import { runPaced } from "../../base/turns/work-pace.ts";
import { createObject } from "../../resources/writes/create.ts";
import { readSteps, addWarnings, readObject } from "../../resources/input/input.ts";
import { readDocument } from "./body.ts";
import { writerOf } from "./writer.ts";
import { updateObject } from "../../resources/writes/update.ts";
import { answerReview } from "../../resources/writes/review.ts";

/** Serves a request for a resource type by its verb. */
export function serveResource(
  service: HttpService,
  context: RequestContext,
  facts: ResourceFacts,
): MaybePromise<void> {
  const { resource } = context;
  if (resource === undefined) throw unknownPath(groupHint(facts.group, service.engine.vocabulary));
  const isHistory = facts.subresource === historySubresource && asksForHistory(context);
  checkShape(resource, isHistory ? { ...facts, subresource: "" } : facts);
  checkMethod(service, context, facts);
  if (isHistory) return serveVersions(service, context, facts);
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

/** GET of the versions of an object. */
function serveVersions(
  service: HttpService,
  context: RequestContext,
  facts: ResourceFacts,
): MaybePromise<void> {
  const resource = context.resource!;
  const { namespace, name } = facts;
  checkNames(resource, facts);
  context.target = { resource, namespace: resource.namespaced ? namespace : "", name, subresource: "" };
  const request = context as ResourceContext;
  startDeadline(service, request);
  return andThen(prepareEncoding(service, request.exchange), () => serveHistory(service, request));
}

function serveVerb(service: HttpService, request: ResourceContext, verb: Verb): MaybePromise<void> {
  const { resource, subresource } = request.target;
  const below = subresource === "" ? undefined : resource.kind.subresources[subresource];
  if (below?.shape === "view" || resource.kind.computed === true)
    refuseHistoryParameters(
      request.facts,
      `${resource.name}${subresource && `/${subresource}`}`,
      "at",
      "deleted",
    );
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
      return asksForDeleted(request.facts) ? serveDeleted(service, request) : serveList(service, request);
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
      const declared = declarationOf(resource.kind);
      if (declared === Transaction) return service.transact(service, request);
      if (declared === Undo) return service.undo(service, request);
      const branching = declared.group === tenancy ? service.branching.get(declared.name) : undefined;
      if (branching !== undefined) return branching(service, request);
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

/** GET of one object. */
function serveGet(service: HttpService, request: ResourceContext): MaybePromise<void> {
  const { query } = request.facts;
  const version = query.empty ? undefined : parseResourceVersion(query.get("resourceVersion"));
  if (!query.empty) refuseExport(query);
  const encoding = encodingOf(service, request);
  const past = pastRevision(service, request);
  if (past !== undefined) return servePast(service, request, encoding, past);
  return andThen(getObject(service.engine, request.target, version), (entry) =>
    sendStored(service, request, encoding, entry),
  );
}

/** GET of one object as it was at a revision. */
async function servePast(
  service: HttpService,
  request: ResourceContext,
  encoding: Encoding,
  past: Promise<Revision>,
): Promise<void> {
  const entry = await getPastObject(service.engine, request.target, await past);
  return sendStored(service, request, encoding, entry);
}

/** POST of a new object. */
async function serveCreate(service: HttpService, request: ResourceContext): Promise<void> {
  const { exchange, facts, target } = request;
  const encoding = encodingOf(service, request);
  const parameters = writeParameters(facts.query, "CreateOptions", exchange.header("user-agent") ?? "");
  // Also if the body has arrived: many writes of one turn are faster stage by stage.
  const { value, duplicates } = await readDocument(service, request);
  const writer = writerOf(service, request);
  const reading = readSteps(service.engine, target, value, duplicates, parameters.fieldValidation);
  const input = await runPaced(reading, writer.pace);
  addWarnings(writer.report, input.warnings);
  await writer.pace.step();
  const result = await createObject(service.engine, target, input.object, { ...writer, ...parameters });
  return sendObject(service, request, encoding, 201, result.body, result.warnings);
}

/** PUT of an object. */
async function serveUpdate(service: HttpService, request: ResourceContext): Promise<void> {
  const { exchange, facts, target } = request;
  const encoding = encodingOf(service, request);
  const parameters = writeParameters(facts.query, "UpdateOptions", exchange.header("user-agent") ?? "");
  // Also if the body has arrived: many writes of one turn are faster stage by stage.
  const { value, duplicates } = await readDocument(service, request);
  const { dryRun, fieldManager, fieldValidation } = parameters;
  const writer = writerOf(service, request);
  await writer.pace.step();
  const read = () => {
    const input = readObject(service.engine, target, value, duplicates, fieldValidation);
    addWarnings(writer.report, input.warnings);
    return input.object;
  };
  const options = { ...writer, dryRun, fieldManager };
  const result = await updateObject(service.engine, target, read, options, () => mayCreate(service, request));
  return sendObject(service, request, encoding, result.created ? 201 : 200, result.body, result.warnings);
}

/** POST of a virtual kind: responds with the object and its status, and stores nothing (spec: access review 1). */
async function serveReview(service: HttpService, request: ResourceContext): Promise<void> {
  const { exchange, facts, target, user } = request;
  const encoding = encodingOf(service, request);
  const parameters = writeParameters(facts.query, "CreateOptions", exchange.header("user-agent") ?? "");
  const document = readDocument(service, request);
  const { value, duplicates } = document instanceof Promise ? await document : document;
  const { object, warnings } = readObject(
    service.engine,
    target,
    value,
    duplicates,
    parameters.fieldValidation,
  );
  const report = reportOf(request);
  addWarnings(report, warnings);
  const { dryRun, fieldManager } = parameters;
  const handler = service.reviews.get(target.resource.kind.name);
  if (handler === undefined) throw new Error(`no handler for ${target.resource.kind.name}`);
  const options = { user, dryRun, fieldManager, report };
  const completion = answerReview(service.engine, target, object, options, handler);
  if (completion !== undefined) await completion;
  return sendObject(service, request, encoding, 201, bodyOf(object));
}
