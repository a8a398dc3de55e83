import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import { insight } from "../../kinds/groups.ts";
import type { UserInfo } from "../../base/user-info.ts";
import type { ApiObject } from "../../schema/kind.ts";
import type { Engine, Target, WriteOptions } from "../engine/engine.ts";
import { ownershipOfAnswer } from "../ownership/field-ownership.ts";
import { StatusError } from "../../base/status-error.ts";
import { matchNamespace } from "../input/metadata.ts";
import { admissionOf, checkBody } from "./write.ts";

/**
 * Sets the status of a review.
 *
 * @param review canonical and valid; it is changed.
 * @param user the sender of the review.
 */
export type ReviewHandler = (review: Record<string, unknown>, user: UserInfo) => MaybePromise<void>;

/**
 * Checks a review as {@link checkReview} does, and sets its status. Changes the object.
 *
 * @param object the decoded review.
 * @throws {StatusError} as {@link checkReview}, or what the handler throws.
 */
export function answerReview(
  engine: Engine,
  target: Target,
  object: ApiObject,
  options: WriteOptions,
  handler: ReviewHandler,
): MaybePromise<void> {
  return andThen(checkReview(engine, target, object, options), () => handler(object, options.user));
}

/**
 * Runs admission and validation for an object that is returned but not stored (spec: access review 1). Drops the status and records the
 * sender as owner of the fields. Changes the object.
 *
 * @throws {StatusError} BadRequest, Invalid, or the rejection of admission.
 */
function checkReview(
  engine: Engine,
  target: Target,
  object: ApiObject,
  options: WriteOptions,
): MaybePromise<void> {
  matchNamespace(target, object.metadata);
  const owned = isInsight(target) ? undefined : ownershipOfAnswer(engine, target, object, options);
  object["status"] = undefined;
  const request = admissionOf(target, options, "CREATE", object, undefined);
  return andThen(engine.admit.mutate(request), () => {
    checkReviewBody(engine, target, object);
    if (owned !== undefined) object.metadata.managedFields = owned;
    return engine.admit.validate(request);
  });
}

/** As {@link checkBody}; the Status names neither kind nor name of a review, as in the reference. */
function checkReviewBody(engine: Engine, target: Target, object: ApiObject): void {
  try {
    checkBody(engine, target, object);
  } catch (error) {
    if (!(error instanceof StatusError) || error.reason !== "Invalid" || isInsight(target)) throw error;
    const { kind: _kind, name: _name, ...details } = error.details ?? {};
    throw new StatusError("Invalid", error.message, details);
  }
}

/** Whether the kind is one of the insight group, which the reference doesn't have. */
function isInsight({ resource }: Target): boolean {
  return resource.kind.group === insight;
}
