import { andThen, type MaybePromise } from "../../base/maybe-promise.ts";
import { insight } from "../../kinds/groups.ts";
import type { ApiObject } from "../../schema/kind.ts";
import type { Engine, Target, WriteOptions } from "../engine/engine.ts";
import { ownershipOfAnswer } from "../ownership/field-ownership.ts";
import { StatusError } from "../../base/status-error.ts";
import { matchNamespace } from "../input/metadata.ts";
import { admissionOf, checkBody } from "./write.ts";

/**
 * Checks an object of a virtual kind, which is answered and never stored (spec: access review 1). A status that the
 * client sent is dropped; what it sent belongs to it. Changes the object.
 *
 * @throws {StatusError} BadRequest, Invalid, or what admission refuses with.
 */
export function checkReview(
  engine: Engine,
  target: Target,
  object: ApiObject,
  options: WriteOptions,
): MaybePromise<void> {
  matchNamespace(target, object.metadata);
  const owned = isOurs(target) ? undefined : ownershipOfAnswer(engine, target, object, options);
  object["status"] = undefined;
  const request = admissionOf(target, options, "CREATE", object, undefined);
  return andThen(engine.admit.mutate(request), () => {
    checkQuestion(engine, target, object);
    if (owned !== undefined) object.metadata.managedFields = owned;
    return engine.admit.validate(request);
  });
}

/** As {@link checkBody}; the Status names neither kind nor name of a review, as in the reference. */
function checkQuestion(engine: Engine, target: Target, object: ApiObject): void {
  try {
    checkBody(engine, target, object);
  } catch (error) {
    if (!(error instanceof StatusError) || error.reason !== "Invalid" || isOurs(target)) throw error;
    const { kind: _kind, name: _name, ...details } = error.details ?? {};
    throw new StatusError("Invalid", error.message, details);
  }
}

/** Whether a kind explains or asks in bulk, which has no counterpart in the reference. */
function isOurs({ resource }: Target): boolean {
  return resource.kind.group === insight;
}
