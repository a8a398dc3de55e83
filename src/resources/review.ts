import { andThen, type MaybePromise } from "../base/maybe-promise.ts";
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
  delete object.metadata.managedFields;
  matchNamespace(target, object.metadata);
  const owned = ownershipOfAnswer(engine, target, object, options);
  const request = admissionOf(target, options, "CREATE", object, undefined);
  return andThen(engine.admit.mutate(request), () => {
    checkBody(engine, target, object);
    object.metadata.managedFields = owned;
    return engine.admit.validate(request);
  });
}
