import { createObject } from "../../resources/create.ts";
import { readObject } from "../../resources/input.ts";
import { readDocument } from "../body.ts";
import { writeParameters } from "../parameters.ts";
import type { HttpService } from "../service.ts";
import { encodingOf, sendObject } from "./answer.ts";
import type { ResourceRequest } from "./serve-resource.ts";

/** POST of an object to its collection. */
export async function serveCreate(service: HttpService, request: ResourceRequest): Promise<void> {
  const { exchange, facts, target, user } = request;
  const encoding = encodingOf(service, request);
  const parameters = writeParameters(facts.query, "CreateOptions", exchange.header("user-agent") ?? "");
  const document = readDocument(service, exchange);
  const { value, duplicates } = document instanceof Promise ? await document : document;
  const input = readObject(service.engine, target, value, duplicates, parameters.fieldValidation);
  const result = await createObject(service.engine, target, input.object, { user, ...parameters });
  return sendObject(service, request, encoding, 201, result.body, [...input.warnings, ...result.warnings]);
}
