import { StatusError } from "../../base/status-error.ts";
import { mapInTurns } from "../../base/turns/yielding.ts";
import { jsonOf } from "../../base/json/value.ts";
import { decodeTrusted } from "../../base/json/trusted.ts";
import { ObjectVersion } from "../../kinds/history/object-version.ts";
import { kindContext } from "../../resources/engine/engine.ts";
import { fromStored } from "../../resources/engine/conversion.ts";
import { asBuffer, decodeEntry, encodeObject } from "../../resources/objects/stored.ts";
import { decodeContinue, encodeContinue } from "../../resources/reads/continue-token.ts";
import {
  historyOf,
  notKept,
  readDeleted,
  readVersions,
  requiredHistory,
  type HistoryPage,
  type ObjectVersionRead,
} from "../../resources/reads/history.ts";
import { namesOf, prefixOf, resourceOf, type Resource } from "../../resources/registry/registry.ts";
import type { ApiObject } from "../../schema/kind.ts";
import { entryFromDraft } from "../../storage/entry.ts";
import type { Entry } from "../../storage/store.ts";
import { groupAnnotation } from "../../vocabulary/names.ts";
import { reportOf, type ResourceContext } from "../request/context.ts";
import { integerParameter, listParameters } from "../request/parameters.ts";
import type { HttpService } from "../service.ts";
import { encodingOf } from "./answer.ts";
import { sendSmallList } from "./list.ts";
import { pauseOf } from "./measured-list.ts";
import { mayReadHistory, refuseHistoryParameters } from "./past.ts";

/** Number of versions of a page without the parameter `limit`, and the maximum. */
const defaultVersions = 100;
const maxVersions = 500;
/** The views in continue tokens of versions and of deleted objects: other lists refuse the tokens. */
const versionsView = "versions";
const deletedView = "deleted";

/**
 * GET of the versions of an object, newest first; also of a deleted one.
 *
 * @throws {StatusError} NotFound if the history isn't kept or has no such object; BadRequest for wrong parameters; Forbidden.
 */
export async function serveHistory(service: HttpService, request: ResourceContext): Promise<void> {
  const { engine } = service;
  const { target, facts } = request;
  const { query } = facts;
  const { resource } = target;
  if (facts.verb !== "get")
    throw new StatusError("MethodNotAllowed", "the history of an object can only be read");
  if (historyOf(engine, resource) === undefined) throw new StatusError("NotFound", notKept(resource));
  await mayReadHistory(service, request);
  refuseHistoryParameters(facts, "the history of an object", "at", "deleted", "resourceVersion");
  const limit = versionLimit(integerParameter(query, "limit"));
  const contents = flagParameter("contents", query.get("contents"));
  const token = query.get("continue") ?? "";
  const page = await readVersions(engine, target, {
    limit,
    contents,
    after: token === "" ? undefined : decodeContinue(token, versionsView).after,
    pause: pauseOf(service, request),
  });
  return sendVersions(service, request, page);
}

function versionLimit(limit = defaultVersions): number {
  if (limit >= 0 && limit <= maxVersions) return limit === 0 ? defaultVersions : limit;
  throw new StatusError("BadRequest", `parameter limit: ${limit} is not from 0 to ${maxVersions}`);
}

function flagParameter(name: string, text: string | undefined): boolean {
  if (text === undefined || text === "" || text === "false") return false;
  if (text === "true") return true;
  throw new StatusError("BadRequest", `parameter ${name}: ${JSON.stringify(text)} is not true or false`);
}

async function sendVersions(
  service: HttpService,
  request: ResourceContext,
  { items, next }: HistoryPage<ObjectVersionRead>,
): Promise<void> {
  const resource = resourceOf(ObjectVersion, service.engine.vocabulary);
  const entries = await mapInTurns(items, (item): Entry => {
    const { key, revision } = item.version;
    const object = versionObject(service, request, resource, item);
    return entryFromDraft(key, revision, encodeObject(resource, object as unknown as ApiObject));
  });
  const encoding = encodingOf(service, request, resource);
  const page = entries.length === 0 ? undefined : { entries, joined: undefined };
  const continueToken =
    next === undefined
      ? ""
      : encodeContinue({ revision: undefined, after: next, remaining: undefined, view: versionsView });
  const revision = await service.engine.store.latestRevision();
  return sendSmallList(service, request, encoding, page, { revision, continueToken, remaining: undefined });
}

function versionObject(
  service: HttpService,
  request: ResourceContext,
  resource: Resource,
  { version, entry, error }: ObjectVersionRead,
): object {
  const { deleted, previous, origin } = version;
  const { namespace, name } = request.target;
  return {
    kind: resource.kind.name,
    apiVersion: resource.apiVersion,
    metadata: { name, ...(namespace === "" ? {} : { namespace }) },
    ...(origin && {
      time: service.engine.timestamps.at(origin.time),
      user: origin.user,
      manager: origin.manager,
      verb: origin.verb,
      auditID: origin.requestId,
    }),
    ...(deleted && { deleted }),
    ...(previous !== 0 && { previousVersion: String(previous) }),
    ...(entry && { object: jsonOf(objectIn(service, request, entry)) }),
    ...(error !== undefined && { error }),
  };
}

/** Returns the object of an entry in the version of the request. */
function objectIn({ engine }: HttpService, { target }: ResourceContext, entry: Entry): ApiObject {
  const { resource } = target;
  return resource.kind.conversion === undefined
    ? (decodeTrusted(asBuffer(entry.body)) as unknown as ApiObject)
    : fromStored(resource, decodeEntry(entry), kindContext(engine, target));
}

/**
 * GET of a collection with `deleted=true`: the last states of the deleted objects that the history still has, with the time of the
 * deletion and an annotation with the user. Objects that can't be read are named in warnings.
 *
 * @throws {StatusError} BadRequest if the history isn't kept, or for parameters that such a list doesn't have; Forbidden.
 */
export async function serveDeleted(service: HttpService, request: ResourceContext): Promise<void> {
  const { engine } = service;
  const { target, facts, view } = request;
  const { resource } = target;
  requiredHistory(engine, resource, "parameter deleted");
  await mayReadHistory(service, request);
  refuseHistoryParameters(facts, "a list with deleted=true", "at", "resourceVersion", "sort");
  const { query } = facts;
  const token = query.get("continue") ?? "";
  const { limit, selection } = listParameters(resource, query, engine).list;
  const prefix = prefixOf(resource, target.namespace);
  const sees = view === undefined || view.everything === true ? undefined : view;
  const { items, next } = await readDeleted(engine, target, {
    limit: sees === undefined ? limit : 0,
    after: token === "" ? undefined : prefix + decodeContinue(token, deletedView).after,
    pause: pauseOf(service, request),
    selects: async (entry, namespace, name) => {
      if (sees !== undefined && !(await sees.allows(namespace, name))) return false;
      return entry === undefined ? selection.everything : selection.matches(entry);
    },
  });
  if (sees !== undefined && next !== undefined)
    throw new StatusError(
      "BadRequest",
      "parameter view: there are too many deleted objects for a list with a view",
    );
  const entries: Entry[] = [];
  for (const item of items) {
    if (item.entry !== undefined) entries.push(asDeleted(service, request, item, item.entry));
    else
      reportOf(request).warn(
        `${resource.name} ${JSON.stringify(namesOf(item.version.key).name)}: ${item.error!}`,
      );
  }
  const page = entries.length === 0 ? undefined : { entries, joined: undefined };
  const after = next?.slice(prefix.length);
  const continueToken =
    after === undefined
      ? ""
      : encodeContinue({ revision: undefined, after, remaining: undefined, view: deletedView });
  const revision = await engine.store.latestRevision();
  const { shard } = selection;
  const end = { revision, continueToken, remaining: undefined, shard };
  return sendSmallList(service, request, encodingOf(service, request), page, end);
}

/** Returns the last state of a deleted object with the time of its deletion, and the user who deleted it. */
function asDeleted(
  { engine }: HttpService,
  { target: { resource } }: ResourceContext,
  { version: { origin, key } }: ObjectVersionRead,
  entry: Entry,
): Entry {
  if (origin === undefined) return entry;
  const object = decodeEntry(entry);
  const { metadata } = object;
  const { groupSuffix } = engine.vocabulary;
  metadata.deletionTimestamp = engine.timestamps.at(origin.time);
  metadata.annotations = {
    ...metadata.annotations,
    [groupAnnotation(groupSuffix, "deleted-by", "history")]: origin.user,
  };
  const stored = resource.storage === undefined ? resource.stored : resource;
  return entryFromDraft(key, entry.revision, encodeObject(stored, object));
}
