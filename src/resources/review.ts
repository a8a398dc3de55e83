import { checkFields } from "../schema/check.ts";
import { FieldReport, invalidError } from "../schema/faults.ts";
import type { ApiObject } from "../schema/kind.ts";
import type { Engine, Target, WriteOptions } from "./engine.ts";
import { matchNamespace } from "./metadata.ts";
import { admissionOf } from "./write.ts";

/**
 * Checks an object of a virtual kind, which is answered and never stored (spec: access review 1). A status that the
 * client sent is dropped. Changes the object.
 *
 * @throws {StatusError} BadRequest, Invalid, or what admission refuses with.
 */
export async function checkReview(
  engine: Engine,
  target: Target,
  object: ApiObject,
  options: WriteOptions,
): Promise<void> {
  const { kind } = target.resource;
  delete object["status"];
  matchNamespace(target, object.metadata);
  const request = admissionOf(target, options, "CREATE", object, undefined);
  await engine.admit.mutate(request);
  const report = FieldReport.start();
  kind.validate?.(object, report, { vocabulary: engine.vocabulary });
  checkFields(kind.type, object, report, engine.vocabulary);
  if (report.faults.length > 0) {
    const subject = { kind: kind.name, group: target.resource.group, name: object.metadata.name ?? "" };
    throw invalidError(subject, report.faults);
  }
  await engine.admit.validate(request);
}
