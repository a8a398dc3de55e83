import { createObject } from "../../resources/create.ts";
import { readObject, tell } from "../../resources/input.ts";
import { readDocument } from "./body.ts";
import { writeParameters } from "../request/parameters.ts";
import { reportOf } from "../request/report.ts";
import type { HttpService } from "../service.ts";
import { encodingOf, sendObject } from "./answer.ts";
import type { ResourceContext } from "../request/context.ts";

/** POST of an object to its collection. */
export async function serveCreate(service: HttpService, request: ResourceContext): Promise<void> {
  const { exchange, facts, target, user } = request;
  const encoding = encodingOf(service, request);
  const parameters = writeParameters(facts.query, "CreateOptions", exchange.header("user-agent") ?? "");
  // Also where the body is there: many writes of one turn go better one stage after the other.
  const { value, duplicates } = await readDocument(service, request);
  const input = readObject(service.engine, target, value, duplicates, parameters.fieldValidation);
  const report = reportOf(request);
  tell(report, input.warnings);
  const result = await createObject(service.engine, target, input.object, { user, report, ...parameters });
  return sendObject(service, request, encoding, 201, result.body, result.warnings);
}
