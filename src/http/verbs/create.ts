import { runPaced } from "../../base/turns/work-pace.ts";
import { createObject } from "../../resources/writes/create.ts";
import { readSteps, addWarnings } from "../../resources/input/input.ts";
import { readDocument } from "./body.ts";
import { writeParameters } from "../request/parameters.ts";
import type { HttpService } from "../service.ts";
import { encodingOf, sendObject } from "./answer.ts";
import { writerOf } from "./writer.ts";
import type { ResourceContext } from "../request/context.ts";

/** POST of a new object. */
export async function serveCreate(service: HttpService, request: ResourceContext): Promise<void> {
  const { exchange, facts, target } = request;
  const encoding = encodingOf(service, request);
  const parameters = writeParameters(facts.query, "CreateOptions", exchange.header("user-agent") ?? "");
  // Also if the body has arrived: many writes of one turn are faster stage by stage.
  const { value, duplicates } = await readDocument(service, request);
  const writer = writerOf(service, request);
  const reading = readSteps(service.engine, target, value, duplicates, parameters.fieldValidation);
  const input = await runPaced(reading, writer.pace);
  addWarnings(writer.report, input.warnings);
  await writer.pace.step();
  const result = await createObject(service.engine, target, input.object, { ...writer, ...parameters });
  return sendObject(service, request, encoding, 201, result.body, result.warnings);
}
