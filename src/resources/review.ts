import { andThen, type MaybePromise } from "../base/maybe-promise.ts";
import { insight } from "../kinds/groups.ts";
import type { ApiObject } from "../schema/kind.ts";
import type { Engine, Target, WriteOptions } from "./engine.ts";
import { ownershipOfAnswer } from "./field-ownership.ts";
import { matchNamespace } from "./metadata.ts";
import { admissionOf, checkBody } from "./write.ts";

/**
 * Checks an object of a virtual kind, which is answered and never stored (spec: access review 1). A status that the
 * client sent is dropped; what it sent besides belongs to it. Changes the object.
 *
 * @throws {StatusError} BadRequest, Invalid, or what admission refuses with.
 */
export function checkReview(
  engine: Engine,
  target: Target,
  object: ApiObject,
  options: WriteOptions,
): MaybePromise<void> {
  object["status"] = undefined;
  matchNamespace(target, object.metadata);
  // What explains or asks in bulk has no counterpart in the reference.
  const isOurs = target.resource.kind.group === insight;
  const owned = isOurs ? undefined : ownershipOfAnswer(engine, target, object, options);
  const request = admissionOf(target, options, "CREATE", object, undefined);
  return andThen(engine.admit.mutate(request), () => {
    checkBody(engine, target, object);
    if (owned !== undefined) object.metadata.managedFields = owned;
    return engine.admit.validate(request);
  });
}
