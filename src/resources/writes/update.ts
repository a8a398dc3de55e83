import { dropRepeatedOwners, withWarnings, checkUid, matchNamespace } from "../input/metadata.ts";
import { StatusError } from "../../base/status-error.ts";
import type { ApiObject } from "../../schema/kind.ts";
import { createInContext } from "./create.ts";
import {
  conflict,
  notFound,
  type Engine,
  type Target,
  type WriteOptions,
  type WriteResult,
} from "../engine/engine.ts";
import { guaranteedUpdate, type UpdatedObject } from "./guaranteed-update.ts";
import type { LiveObject } from "../objects/live-object.ts";
import { writeContext, type WriteContext } from "../input/input.ts";

/**
 * Replaces an object, PUT (spec: conventions 4.2).
 *
 * @param read returns a new copy of the decoded object (`input.ts`) at each call.
 * @param mayCreate is called before a missing object is created; throws if the caller may not create it.
 * @throws {StatusError} NotFound, Conflict, Invalid, or the rejection of admission.
 */
export function updateObject(
  engine: Engine,
  requestTarget: Target,
  read: () => ApiObject,
  options: WriteOptions,
  mayCreate: () => Promise<void> | void,
): Promise<WriteResult> {
  const context = writeContext(engine, requestTarget, options);
  const { target } = context;
  let unused: ApiObject | undefined = read();
  checkNames(target, unused);
  let repeated: readonly string[] = [];
  const next = (live?: LiveObject): UpdatedObject => {
    const object = unused ?? read();
    unused = undefined;
    repeated = dropRepeatedOwners(object.metadata);
    matchNamespace(target, object.metadata);
    checkUid(target, object, live?.object);
    return { object };
  };
  const written = guaranteedUpdate(context, next, {
    create: () => createByUpdate(context, next().object, mayCreate),
    allowUnconditional: requestTarget.resource.kind.allowUnconditionalUpdate,
  });
  return written.then((result) => withWarnings(result, repeated));
}

/** Checks that the name in the body equals that of the path. */
function checkNames(target: Target, { metadata }: ApiObject): void {
  const { name } = metadata;
  if (name === undefined || name === "") {
    throw new StatusError("BadRequest", "the name of the object must be given in metadata.name");
  }
  if (name === target.name) return;
  throw new StatusError(
    "BadRequest",
    `the name of the object (${name}) does not match the name on the URL (${target.name})`,
  );
}

/** A PUT on a missing object creates it, for the kinds that allow it (rulings: PUT on a missing object). */
async function createByUpdate(
  context: WriteContext,
  object: ApiObject,
  mayCreate: () => Promise<void> | void,
): Promise<WriteResult> {
  const { target } = context;
  if (!target.resource.kind.createOnUpdate || target.subresource !== "") throw notFound(target);
  if ((object.metadata.resourceVersion ?? "") !== "") {
    throw conflict(target, "the object doesn't exist, so it has no version to replace");
  }
  await mayCreate();
  return createInContext(context, object);
}
