import { StatusError } from "../../base/status-error.ts";
import type { RequestReport } from "../../resources/engine/engine.ts";
import { addWarnings, readObject } from "../../resources/input/input.ts";
import type { ApiObject } from "../../schema/kind.ts";
import { reportOf, type ResourceContext } from "../request/context.ts";
import { writeParameters, type WriteParameters } from "../request/parameters.ts";
import type { HttpService } from "../service.ts";
import { inputFormat, parse, readBytes } from "../verbs/body.ts";

/** The body and parameters of a request that creates an object which isn't stored. */
export interface ReadBody {
  readonly object: ApiObject;
  readonly parameters: WriteParameters;
  /** Has the warnings of the decoding. */
  readonly report: RequestReport;
}

/**
 * Reads the body of a Transaction or Undo.
 *
 * @throws {StatusError} for a missing, malformed or too large body and for wrong parameters.
 */
export async function readBody(service: HttpService, request: ResourceContext): Promise<ReadBody> {
  const { target, facts, exchange } = request;
  const { engine } = service;
  const parameters = writeParameters(facts.query, "CreateOptions", exchange.header("user-agent") ?? "");
  const bytes = await readBytes(service, request);
  if (bytes.length === 0) throw new StatusError("BadRequest", "the request needs a body");
  const { value, duplicates } = await parse(bytes, inputFormat(exchange, engine.registry), engine.registry);
  const { object, warnings } = readObject(engine, target, value, duplicates, parameters.fieldValidation);
  const report = reportOf(request);
  addWarnings(report, warnings);
  return { object, parameters, report };
}
