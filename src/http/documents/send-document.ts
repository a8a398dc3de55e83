import { jsonOf } from "../../base/json/value.ts";
import { cborCodec } from "../../base/cbor/codec.ts";
import { StatusError } from "../../base/status-error.ts";
import { discoveryTypes } from "../../schema/discovery-types.ts";
import { encodeEnvelope } from "../../schema/protobuf/envelope.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { headersFor, sendJson, sendYaml } from "../answers/respond.ts";
import type { RequestContext } from "../request/context.ts";
import { parseAccept, byPreference } from "../request/negotiation.ts";

const jsonRanges = new Set(["application/json", "application/*", "*/*"]);
const yaml = "application/yaml";

/**
 * Sends a discovery document, in YAML or protobuf if the client prefers that (spec: conventions 4.7).
 *
 * @throws {StatusError} NotAcceptable if the client accepts none of the formats.
 */
export function sendDocument(
  request: RequestContext,
  document: object,
  { protobufMediaType, cborMediaType }: Vocabulary,
): void {
  const { exchange } = request;
  const cbor = cborMediaType === undefined ? [] : [cborMediaType];
  const format = preferredFormat(request, [yaml, protobufMediaType, ...cbor]);
  switch (format) {
    case yaml:
      return sendYaml(exchange, document);
    case protobufMediaType:
      return exchange.send(200, headersFor(protobufMediaType), binaryDocument(document as Document));
    case undefined:
      return sendJson(exchange, 200, document);
    default:
      exchange.send(200, headersFor(format), cborCodec().encodeCbor(jsonOf(document)));
  }
}

/** @throws {StatusError} NotAcceptable if the client doesn't accept JSON, for documents without other formats. */
export function checkAcceptsJson(request: RequestContext): void {
  preferredFormat(request, []);
}

/**
 * Returns the format that the client prefers: one of `others`, or undefined for JSON.
 *
 * @throws {StatusError} NotAcceptable if it accepts none.
 */
function preferredFormat({ exchange }: RequestContext, others: readonly string[]): string | undefined {
  const accept = exchange.header("accept") ?? "";
  if (accept === "") return undefined;
  for (const { type, quality } of byPreference(parseAccept(accept))) {
    if (quality === 0) continue;
    if (jsonRanges.has(type)) return undefined;
    if (others.includes(type)) return type;
  }
  const mediaTypes = ["application/json", ...others].join(", ");
  throw new StatusError("NotAcceptable", `only the following media types are accepted: ${mediaTypes}`, {});
}

interface Document {
  readonly kind: string;
  readonly resources?: readonly { readonly verbs: readonly string[] }[];
}

function binaryDocument(document: Document): Buffer {
  const { kind, resources } = document;
  // In protobuf a list of verbs is a message.
  const value =
    resources === undefined
      ? document
      : { ...document, resources: resources.map((one) => ({ ...one, verbs: { items: one.verbs } })) };
  return encodeEnvelope(
    { apiVersion: "v1", kind },
    discoveryTypes[kind]!,
    value as unknown as Record<string, unknown>,
  );
}
