import type { Verb, ViewSubresource } from "../../schema/kind.ts";
import { applyView } from "../../resources/writes/apply-view.ts";
import { readObject, addWarnings } from "../../resources/input/input.ts";
import {
  getView,
  patchView,
  updateView,
  viewAt,
  viewTarget,
  type ObjectView,
} from "../../resources/writes/view.ts";
import { readDocument } from "./body.ts";
import { writerOf } from "./writer.ts";
import { applyParameters, patchParameters, writeParameters } from "../request/parameters.ts";
import type { HttpService } from "../service.ts";
import { encodingOf, sendObject } from "./answer.ts";
import { applyFormat } from "../request/media-types.ts";
import { readApplied, readPatch } from "./patch.ts";
import type { ResourceContext } from "../request/context.ts";

/** GET, PUT and PATCH of a subresource of another kind, such as `scale`. */
export async function serveView(
  service: HttpService,
  request: ResourceContext,
  verb: Verb,
  subresource: ViewSubresource,
): Promise<void> {
  const { engine } = service;
  const view = viewAt(engine, subresource);
  const encoding = encodingOf(service, request, view.resource);
  if (verb === "get")
    return sendObject(service, request, encoding, 200, await getView(engine, request.target, view));
  const result =
    verb === "patch" ? await patch(service, request, view) : await update(service, request, view);
  return sendObject(service, request, encoding, 200, result.body, result.warnings);
}

async function update(service: HttpService, request: ResourceContext, view: ObjectView) {
  const { engine } = service;
  const { exchange, facts, target } = request;
  const parameters = writeParameters(facts.query, "UpdateOptions", exchange.header("user-agent") ?? "");
  const { value, duplicates } = await readDocument(service, request);
  const writer = writerOf(service, request);
  const read = () => {
    const input = readObject(engine, viewTarget(target, view), value, duplicates, parameters.fieldValidation);
    addWarnings(writer.report, input.warnings);
    return input.object;
  };
  return updateView(engine, target, view, read, { ...writer, ...parameters });
}

async function patch(service: HttpService, request: ResourceContext, view: ObjectView) {
  const { exchange, facts, target } = request;
  const userAgent = exchange.header("user-agent") ?? "";
  const writer = writerOf(service, request);
  const format = applyFormat(exchange, service.engine.vocabulary);
  if (format !== undefined) {
    const options = { ...writer, ...applyParameters(facts.query, userAgent) };
    const body = await readApplied(service, request, format);
    return applyView(service.engine, target, view, await body.document(), options);
  }
  const options = { ...writer, ...patchParameters(facts.query, userAgent) };
  return patchView(service.engine, target, view, await readPatch(service, request), options);
}
