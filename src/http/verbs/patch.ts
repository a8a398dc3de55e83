import type { JsonDocument } from "../../base/json/exact.ts";
import { StatusError } from "../../base/status-error.ts";
import { patchObject, type PatchKind } from "../../resources/patch.ts";
import { mediaType, parse, readBytes } from "../body.ts";
import type { Exchange } from "../exchange.ts";
import { writeParameters } from "../parameters.ts";
import type { HttpService } from "../service.ts";
import { encodingOf, sendObject } from "./answer.ts";
import type { ResourceRequest } from "./serve-resource.ts";

/** The media types of patches (spec: conventions 4.7). */
export const patchTypes: Readonly<Record<string, PatchKind>> = {
  "application/json-patch+json": "json",
  "application/merge-patch+json": "merge",
  "application/strategic-merge-patch+json": "strategic",
};

/** PATCH of an object. */
export async function servePatch(service: HttpService, request: ResourceRequest): Promise<void> {
  const { exchange, facts, target, user } = request;
  const encoding = encodingOf(service, request);
  const parameters = writeParameters(facts.query, "PatchOptions", exchange.header("user-agent") ?? "");
  const { kind, patch } = await readPatch(service, exchange);
  const result = await patchObject(service.engine, target, kind, patch, { user, ...parameters });
  sendObject(request, encoding, 200, result.body, result.warnings);
}

/**
 * Reads a patch and how it is written.
 *
 * @throws {StatusError} UnsupportedMediaType; BadRequest when it can't be read.
 */
export async function readPatch(
  service: HttpService,
  exchange: Exchange,
): Promise<{ readonly kind: PatchKind; readonly patch: JsonDocument }> {
  const type = mediaType(exchange.header("content-type"));
  const kind = Object.hasOwn(patchTypes, type) ? patchTypes[type] : undefined;
  if (kind === undefined) {
    throw new StatusError(
      "UnsupportedMediaType",
      "the body of the request was in an unknown format - accepted media types include: " +
        `${Object.keys(patchTypes).join(", ")}; got ${JSON.stringify(type)}`,
    );
  }
  const bytes = await readBytes(service, exchange);
  if (bytes.length === 0) throw new StatusError("BadRequest", "the request needs a body");
  return { kind, patch: await parse(bytes, "json", service.engine.registry) };
}
