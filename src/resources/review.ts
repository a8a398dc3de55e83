import { andThen, type MaybePromise } from "../base/maybe-promise.ts";
import { checkFields } from "../schema/check.ts";
import { FieldReport, invalidError } from "../schema/faults.ts";
import type { ApiObject } from "../schema/kind.ts";
import { kindContext, type Engine, type Target, type WriteOptions } from "./engine.ts";
import { matchNamespace } from "./metadata.ts";
import { admissionOf } from "./write.ts";

/**
 * Checks an object of a virtual kind, which is answered and never stored (spec: access review 1). A status that the
 * client sent is dropped. Changes the object.
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
  const request = admissionOf(target, options, "CREATE", object, undefined);
  return andThen(engine.admit.mutate(request), () => {
    checkSpec(engine, target, object);
    return engine.admit.validate(request);
  });
}

function checkSpec(engine: Engine, target: Target, object: ApiObject): void {
  const { kind, group } = target.resource;
  const report = FieldReport.start();
  const context = kindContext(engine, target);
  kind.validate?.(object, report, context);
  checkFields(kind.type, object, report, context);
  if (report.faults.length === 0) return;
  throw invalidError({ kind: kind.name, group, name: object.metadata.name ?? "" }, report.faults);
}
