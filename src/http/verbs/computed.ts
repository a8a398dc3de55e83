import { StatusError } from "../../base/status-error.ts";
import { notFound } from "../../resources/engine/engine.ts";
import { keyOf, namesOf, type Resource } from "../../resources/registry/registry.ts";
import { encodeObject } from "../../resources/objects/stored.ts";
import type { ApiObject } from "../../schema/kind.ts";
import { revisionOf } from "../../storage/entry.ts";
import type { Entry } from "../../storage/store.ts";
import { listParameters } from "../request/parameters.ts";
import type { HttpService } from "../service.ts";
import { bodyOf, encodingOf, sendObject } from "./answer.ts";
import { sendSmallList } from "./list.ts";
import type { ResourceContext } from "../request/context.ts";

/** Computed objects have no resource version. */
const noRevision = revisionOf(0);

/** GET of an object or the collection of a kind that isn't stored. The parameter `limit` is ignored, as there are few objects. */
export async function serveComputed(service: HttpService, request: ResourceContext): Promise<void> {
  const { target, facts } = request;
  const { resource } = target;
  const encoding = encodingOf(service, request);
  const source = service.computed.get(resource.kind.name);
  if (source === undefined) throw new Error(`no source of computed objects for ${resource.kind.name}`);
  if (facts.verb === "get") {
    const object = (await source()).find(({ metadata }) => metadata.name === target.name);
    if (object === undefined) throw notFound(target);
    return sendObject(service, request, encoding, 200, bodyOf(object));
  }
  const { selection, sort } = listParameters(resource, facts.query, service.engine).list;
  if (sort !== undefined) {
    throw new StatusError("BadRequest", `parameter sort: lists of ${resource.name} are sorted by name only`);
  }
  const entries = (await source()).map((object) => entryOf(resource, object));
  const chosen: Entry[] = [];
  for (const entry of entries) {
    if (!selection.matches(entry)) continue;
    if (request.view === undefined || (await request.view.allows("", namesOf(entry.key).name)))
      chosen.push(entry);
  }
  const page = chosen.length === 0 ? undefined : { entries: chosen, joined: undefined };
  const end = { revision: noRevision, continueToken: "", remaining: undefined, shard: selection.shard };
  return sendSmallList(service, request, encoding, page, end);
}

/** The object as an entry of the store, for selectors and encodings. */
function entryOf(resource: Resource, object: ApiObject): Entry {
  const { header, revisionAt } = encodeObject(resource, object);
  const key = keyOf(resource, "", object.metadata.name!);
  const { kind, apiVersion, ...rest } = object;
  return { key, revision: noRevision, header, body: bodyOf({ kind, apiVersion, ...rest }), revisionAt };
}
