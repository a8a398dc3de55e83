import { makeName } from "../../base/names.ts";
import { StatusError } from "../../base/status-error.ts";
import type { ApiObject, ObjectMetaValue } from "../../schema/kind.ts";
import { uidConflict, type Engine, type Target } from "../engine/engine.ts";

/** What a new object can't bring along. */
export const neverGiven = [
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "selfLink",
  "resourceVersion",
] as const;

/** Gives a new object what the server sets: name, namespace, uid, time of creation. Changes it. */
export function prepareNewMetadata(engine: Engine, target: Target, object: ApiObject): void {
  const meta = object.metadata;
  matchNamespace(target, meta);
  if ((meta.name ?? "") === "" && meta.generateName !== undefined) {
    meta.name = makeName(meta.generateName, engine.randomInt);
  } else if ((meta.name ?? "") === "" && target.resource.kind.getsName) meta.name = engine.newUid();
  meta.uid = engine.newUid();
  meta.creationTimestamp = engine.timestamps.now();
  for (const name of neverGiven) if (meta[name] !== undefined) delete meta[name];
  // What a client sends with a kind that counts none is kept, as in the reference; `checkMetadata` refuses a negative one.
  if (target.resource.kind.generationOf !== undefined) meta.generation = 1;
  else if (meta.generation === 0) delete meta.generation;
}

/** The namespace of a body, if it names one, is that of the path. */
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
 * Brings back into an update what only the server sets. Changes `object`. Another uid, and the beginning of a deletion, stay
 * for `checkMetadataUpdate` to refuse.
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

/** Gives one member of metadata the value that it has in the live object, or none. Changes `meta`. */
export function keepMember(meta: ObjectMetaValue, live: ObjectMetaValue, name: keyof ObjectMetaValue): void {
  if (live[name] !== undefined) Object.assign(meta, { [name]: live[name] });
  else if (meta[name] !== undefined) delete meta[name];
}

/** A uid in the body of a PUT is a precondition. */
export function checkUid(target: Target, { metadata }: ApiObject, live: ApiObject | undefined): void {
  const { uid = "" } = metadata;
  if (uid !== "" && uid !== live?.metadata.uid) throw uidConflict(target, uid, live?.metadata.uid);
}
