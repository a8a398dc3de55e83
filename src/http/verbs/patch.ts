import { mayCreate } from "./may-create.ts";
import type { JsonDocument } from "../../base/json/exact.ts";
import { mediaTypeHint } from "../../vocabulary/other-vocabulary.ts";
import { StatusError } from "../../base/status-error.ts";
import { applyObject, type AppliedBody } from "../../resources/writes/apply.ts";
import { patchObject, type PatchKind } from "../../resources/writes/patch.ts";
import { parse, readBytes } from "./body.ts";
import { writerOf } from "./writer.ts";
import { applyFormat, mediaType, patchKind, patchTypesOf } from "../request/media-types.ts";
import { applyParameters, patchParameters } from "../request/parameters.ts";
import type { HttpService } from "../service.ts";
import { encodingOf, sendObject } from "./answer.ts";
import type { RequestContext, ResourceContext } from "../request/context.ts";

/** PATCH of an object. */
export async function servePatch(service: HttpService, request: ResourceContext): Promise<void> {
  const { exchange, facts, target } = request;
  const encoding = encodingOf(service, request);
  const userAgent = exchange.header("user-agent") ?? "";
  const writer = writerOf(service, request);
  const format = applyFormat(exchange, service.engine.vocabulary);
  if (format !== undefined) {
    const options = { ...writer, ...applyParameters(facts.query, userAgent) };
    const body = await readApplied(service, request, format);
    const result = await applyObject(service.engine, target, body, options, () =>
      mayCreate(service, request),
    );
    return sendObject(service, request, encoding, result.created ? 201 : 200, result.body, result.warnings);
  }
  const parameters = patchParameters(facts.query, userAgent);
  const { kind, patch } = await readPatch(service, request);
  const result = await patchObject(service.engine, target, kind, patch, { ...writer, ...parameters });
  return sendObject(service, request, encoding, 200, result.body, result.warnings);
}

/**
 * Reads an applied configuration in JSON, YAML or CBOR.
 *
 * @throws {StatusError} BadRequest if the body is empty.
 */
export async function readApplied(
  service: HttpService,
  request: RequestContext,
  format: "yaml" | "cbor",
): Promise<AppliedBody> {
  const bytes = await readBytes(service, request);
  if (bytes.length === 0) throw new StatusError("BadRequest", "the request needs a body");
  const { audit } = request;
  const document = async (): Promise<JsonDocument> => {
    const read = await parse(bytes, format, service.engine.registry);
    audit?.requestBody(read.value);
    return read;
  };
  return { bytes: audit?.wantsRequest === true ? undefined : bytes, format, document };
}

/**
 * Reads a patch and its type.
 *
 * @throws {StatusError} UnsupportedMediaType; BadRequest if it can't be decoded.
 */
export async function readPatch(
  service: HttpService,
  request: RequestContext,
): Promise<{ readonly kind: PatchKind; readonly patch: JsonDocument }> {
  const type = mediaType(request.exchange.header("content-type"));
  const isCustom = request.resource?.kind.custom !== undefined;
  const kind = patchKind(type, isCustom);
  if (kind === undefined) {
    throw new StatusError(
      "UnsupportedMediaType",
      "the body of the request was in an unknown format - accepted media types include: " +
        `${patchTypesOf(isCustom, service.engine.vocabulary).join(", ")}; got ${JSON.stringify(type)}` +
        mediaTypeHint(type, service.engine.vocabulary),
      isCustom ? undefined : {},
    );
  }
  const bytes = await readBytes(service, request);
  if (bytes.length === 0) throw new StatusError("BadRequest", "the request needs a body");
  const patch = await parse(bytes, "json", service.engine.registry);
  request.audit?.requestBody(patch.value);
  return { kind, patch };
}
