import { StatusError } from "../../base/status-error.ts";
import { discoveryTypes } from "../../schema/discovery-types.ts";
import { encodeEnvelope } from "../../schema/protobuf/envelope.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { headersFor, sendJson, sendYaml } from "../answers/respond.ts";
import type { RequestContext } from "../request/context.ts";
import { parseAccept, preferred } from "../request/negotiation.ts";

const jsonRanges = new Set(["application/json", "application/*", "*/*"]);
const yaml = "application/yaml";

/**
 * Answers with a document of discovery, in YAML or in the binary form where the client prefers that (spec: conventions 4.7).
 *
 * @throws {StatusError} NotAcceptable when the client wants none of these.
 */
export function sendDocument(
  request: RequestContext,
  document: object,
  { protobufMediaType }: Vocabulary,
): void {
  const { exchange } = request;
  switch (wanted(request, [yaml, protobufMediaType])) {
    case yaml:
      return sendYaml(exchange, document);
    case protobufMediaType:
      return exchange.send(200, headersFor(protobufMediaType), binaryDocument(document as Document));
    default:
      sendJson(exchange, 200, document);
  }
}

/** @throws {StatusError} NotAcceptable when the caller doesn't want JSON, in which alone some documents exist. */
export function checkAcceptsJson(request: RequestContext): void {
  wanted(request, []);
}

/**
 * The form that a client prefers: one of `others`, or JSON (undefined).
 *
 * @throws {StatusError} NotAcceptable when it wants neither.
 */
function wanted({ exchange }: RequestContext, others: readonly string[]): string | undefined {
  const accept = exchange.header("accept") ?? "";
  if (accept === "") return undefined;
  for (const { type, quality } of preferred(parseAccept(accept))) {
    if (quality === 0) continue;
    if (jsonRanges.has(type)) return undefined;
    if (others.includes(type)) return type;
  }
  const known = ["application/json", ...others].join(", ");
  throw new StatusError("NotAcceptable", `only the following media types are accepted: ${known}`, {});
}

interface Document {
  readonly kind: string;
  readonly resources?: readonly { readonly verbs: readonly string[] }[];
}

function binaryDocument(document: Document): Buffer {
  const { kind, resources } = document;
  // A list of verbs is a message of its own there.
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
