import { makeName } from "../../base/names.ts";
import { StatusError } from "../../base/status-error.ts";
import type { ApiObject, ObjectMetaValue } from "../../schema/kind.ts";
import { keyOf } from "../registry/registry.ts";
import { uidConflict, type Engine, type Target } from "../engine/engine.ts";

/** Members of metadata that a new object can't have. */
export const excludedFromCreate = [
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "selfLink",
  "resourceVersion",
] as const;

/** Sets the metadata of a new object: generated name, namespace, uid, creation time. Changes the object. */
export function prepareNewMetadata(engine: Engine, target: Target, object: ApiObject): void {
  const meta = object.metadata;
  matchNamespace(target, meta);
  if ((meta.name ?? "") === "" && meta.generateName !== undefined) {
    const purpose = keyOf(target.resource, target.namespace, meta.generateName);
    meta.name = makeName(meta.generateName, (below) => engine.randomInt(below, purpose));
  } else if ((meta.name ?? "") === "" && target.resource.kind.generatesName) {
    meta.name = engine.newUid(keyOf(target.resource, target.namespace, ""));
  }
  meta.uid = engine.newUid(keyOf(target.resource, target.namespace, meta.name ?? ""));
  meta.creationTimestamp = engine.timestamps.now();
  for (const name of excludedFromCreate) if (meta[name] !== undefined) delete meta[name];
  // Kinds without generations keep the value of the client, as in the reference; `checkMetadata` rejects a negative one.
  if (target.resource.kind.generationOf !== undefined) meta.generation = 1;
  else if (meta.generation === 0) delete meta.generation;
}

/**
 * Sets the namespace of an object to that of the path. Changes `meta`.
 *
 * @throws {StatusError} BadRequest if the object has another namespace.
 */
export function matchNamespace(target: Target, meta: ObjectMetaValue): void {
  if (!target.resource.namespaced) {
    delete meta.namespace;
    return;
  }
  if ((meta.namespace ?? "") === "") meta.namespace = target.namespace;
  else if (meta.namespace !== target.namespace) {
    throw new StatusError(
      "BadRequest",
      "the namespace of the provided object does not match the namespace sent on the request: " +
        `${meta.namespace} is not ${target.namespace}`,
    );
  }
}

/**
 * Restores the members that only the server sets in an updated object. Changes `object`. A different uid or a new deletion timestamp stays,
 * and `checkMetadataUpdate` rejects it.
 */
export function keepServerMetadata(object: ApiObject, live: ApiObject): void {
  const meta = object.metadata;
  if ((meta.uid ?? "") === "") meta.uid = live.metadata.uid!;
  if (live.metadata.creationTimestamp !== undefined) meta.creationTimestamp = live.metadata.creationTimestamp;
  if (live.metadata.deletionTimestamp !== undefined) keepMember(meta, live.metadata, "deletionTimestamp");
  if (meta.deletionGracePeriodSeconds === undefined)
    keepMember(meta, live.metadata, "deletionGracePeriodSeconds");
  keepMember(meta, live.metadata, "generation");
  keepMember(meta, live.metadata, "generateName");
  delete meta.selfLink;
}

/** Restores one member of metadata from the live object; removes it if the live object lacks it. Changes `meta`. */
export function keepMember(meta: ObjectMetaValue, live: ObjectMetaValue, name: keyof ObjectMetaValue): void {
  if (live[name] !== undefined) Object.assign(meta, { [name]: live[name] });
  else if (meta[name] !== undefined) delete meta[name];
}

/**
 * Checks the uid of an object in a request, which is a precondition.
 *
 * @throws {StatusError} Conflict if the live object has another uid.
 */
export function checkUid(target: Target, { metadata }: ApiObject, live: ApiObject | undefined): void {
  const { uid = "" } = metadata;
  if (uid !== "" && uid !== live?.metadata.uid) throw uidConflict(target, uid, live?.metadata.uid);
}
