import { readObject, addWarnings } from "../../resources/input/input.ts";
import { updateObject } from "../../resources/writes/update.ts";
import { readDocument } from "./body.ts";
import { writeParameters } from "../request/parameters.ts";
import type { HttpService } from "../service.ts";
import { encodingOf, sendObject } from "./answer.ts";
import { mayCreate } from "./may-create.ts";
import { writerOf } from "./writer.ts";
import type { ResourceContext } from "../request/context.ts";

/** PUT of an object. */
export async function serveUpdate(service: HttpService, request: ResourceContext): Promise<void> {
  const { exchange, facts, target } = request;
  const encoding = encodingOf(service, request);
  const parameters = writeParameters(facts.query, "UpdateOptions", exchange.header("user-agent") ?? "");
  // Also if the body has arrived: many writes of one turn are faster stage by stage.
  const { value, duplicates } = await readDocument(service, request);
  const { dryRun, fieldManager, fieldValidation } = parameters;
  const writer = writerOf(service, request);
  await writer.pace.step();
  const read = () => {
    const input = readObject(service.engine, target, value, duplicates, fieldValidation);
    addWarnings(writer.report, input.warnings);
    return input.object;
  };
  const options = { ...writer, dryRun, fieldManager };
  const result = await updateObject(service.engine, target, read, options, () => mayCreate(service, request));
  return sendObject(service, request, encoding, result.created ? 201 : 200, result.body, result.warnings);
}
