import type { JsonValue } from "../../base/json/value.ts";
import { StatusError } from "../../base/status-error.ts";
import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import { answerReview } from "../../resources/writes/review.ts";
import { bodyOf, encodingOf, sendObject } from "../verbs/answer.ts";
import type { RequestReport } from "../../resources/engine/engine.ts";
import { addWarnings, readObject } from "../../resources/input/input.ts";
import type { ApiObject } from "../../schema/kind.ts";
import { reportOf, type ResourceContext } from "../request/context.ts";
import { writeParameters, type WriteParameters } from "../request/parameters.ts";
import type { HttpService } from "../service.ts";
import { inputFormat, parse, readBytes } from "../verbs/body.ts";

/** The body and parameters of a request that creates an object which isn't stored. */
export interface PostedObject {
  readonly object: ApiObject;
  /** Form of the answer. */
  readonly encoding: ReturnType<typeof encodingOf>;
  readonly parameters: WriteParameters;
  /** Has the warnings of the decoding. */
  readonly report: RequestReport;
}

/**
 * Reads, admits and validates the object of a request that isn't stored, such as a Transaction.
 *
 * @param recorded returns what the audit event has of the object; by default nothing.
 * @throws {StatusError} for a missing, malformed, too large or invalid body, and for wrong parameters.
 */
export async function readPosted(
  service: HttpService,
  request: ResourceContext,
  recorded?: (object: ApiObject) => JsonValue,
): Promise<PostedObject> {
  const { target, facts, exchange, user, audit } = request;
  const { engine } = service;
  const encoding = encodingOf(service, request);
  const parameters = writeParameters(facts.query, "CreateOptions", exchange.header("user-agent") ?? "");
  const bytes = await readBytes(service, request);
  if (bytes.length === 0) throw new StatusError("BadRequest", "the request needs a body");
  const { value, duplicates } = await parse(bytes, inputFormat(exchange, engine.registry), engine.registry);
  const { object, warnings } = readObject(engine, target, value, duplicates, parameters.fieldValidation);
  const report = reportOf(request);
  addWarnings(report, warnings);
  if (recorded !== undefined) audit?.requestObject(recorded(object));
  const { dryRun, fieldManager } = parameters;
  await answerReview(engine, target, object, { user, dryRun, fieldManager, report }, () => undefined);
  return { object, encoding, parameters, report };
}

/** Sends the object with its status. The audit event has no response object: its values may be secret. */
export function sendPosted(
  service: HttpService,
  request: ResourceContext,
  { object, encoding }: Pick<PostedObject, "object" | "encoding">,
): MaybePromise<void> {
  return sendObject(service, { ...request, audit: undefined }, encoding, 201, bodyOf(object));
}

/** Returns the objects of a result as text, for annotations of audit events. */
export function writtenText(objects: readonly WrittenObject[]): string {
  return objects
    .map(
      ({ action, kind, namespace, name }) => `${action} ${kind} ${namespace ? `${namespace}/` : ""}${name}`,
    )
    .join("; ");
}

/** An object of a result. */
interface WrittenObject {
  readonly action: string;
  readonly kind: string;
  readonly namespace?: string | undefined;
  readonly name: string;
}
