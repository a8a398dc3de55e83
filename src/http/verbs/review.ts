import { readObject, addWarnings } from "../../resources/input/input.ts";
import { answerReview } from "../../resources/writes/review.ts";
import { readDocument } from "./body.ts";
import { writeParameters } from "../request/parameters.ts";
import { reportOf } from "../request/report.ts";
import type { HttpService } from "../service.ts";
import { bodyOf, encodingOf, sendObject } from "./answer.ts";
import type { ResourceContext } from "../request/context.ts";

/** POST of a virtual kind: responds with the object and its status, and stores nothing (spec: access review 1). */
export async function serveReview(service: HttpService, request: ResourceContext): Promise<void> {
  const { exchange, facts, target, user } = request;
  const encoding = encodingOf(service, request);
  const parameters = writeParameters(facts.query, "CreateOptions", exchange.header("user-agent") ?? "");
  const document = readDocument(service, request);
  const { value, duplicates } = document instanceof Promise ? await document : document;
  const { object, warnings } = readObject(
    service.engine,
    target,
    value,
    duplicates,
    parameters.fieldValidation,
  );
  const report = reportOf(request);
  addWarnings(report, warnings);
  const { dryRun, fieldManager } = parameters;
  const handler = service.reviews.get(target.resource.kind.name);
  if (handler === undefined) throw new Error(`no handler for ${target.resource.kind.name}`);
  const options = { user, dryRun, fieldManager, report };
  const completion = answerReview(service.engine, target, object, options, handler);
  if (completion !== undefined) await completion;
  return sendObject(service, request, encoding, 201, bodyOf(object));
}
