import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import { decodeJson } from "../../base/json/decode.ts";
import type { JsonDocument } from "../../base/json/exact.ts";
import { SyntaxFault } from "../../base/json/syntax-fault.ts";
import { mediaTypeHint } from "../../vocabulary/other-vocabulary.ts";
import { StatusError } from "../../base/status-error.ts";
import { decodeYaml } from "../../base/yaml/yaml.ts";
import type { Registry } from "../../resources/registry/registry.ts";
import { cborCodec } from "../../base/cbor/codec.ts";
import type { HttpExchange } from "../transport/http-exchange.ts";
import { binaryMediaTypes } from "../request/negotiation.ts";
import { mediaType } from "../request/media-types.ts";
import { paceOf } from "../limits/paced-request.ts";
import { awaitClient } from "../limits/fair-limiter.ts";
import { type RequestContext, endInnerStep } from "../request/context.ts";
import type { HttpService } from "../service.ts";
import type { JsonValue } from "../../base/json/value.ts";
import { DeleteOptionsBody } from "../../kinds/meta/delete-options.ts";
import { structInRelease } from "../../schema/kind-in-release.ts";
import { decodeMessage } from "../../schema/protobuf/decode-message.ts";
import { hasProtobufEncoding } from "../../schema/protobuf/numbered.ts";
import { openEnvelope } from "../../schema/protobuf/envelope.ts";
import { ProtobufFault } from "../../schema/protobuf/protobuf-fault.ts";

/** Largest request body in bytes. */
const maxBodyBytes = 3 * 1024 * 1024;

/** Reads the body, which is empty if there is none, and waits until it may be decoded. */
export function readBytes(
  service: HttpService,
  request: RequestContext,
  maxBytes = maxBodyBytes,
): MaybePromise<Buffer> {
  const { exchange } = request;
  const encoding = exchange.header("content-encoding");
  if (encoding !== undefined && encoding !== "identity") {
    throw new StatusError("UnsupportedMediaType", `bodies in the encoding ${encoding} are not supported`);
  }
  const account = service.bodies.open(exchange);
  const read = exchange.readBody(maxBytes, account);
  if (!(read instanceof Promise)) return inPace(service, request, read);
  // The account stays open until the body may be decoded.
  return awaitClient(service, request, read)
    .then(
      (bytes) => {
        endInnerStep(request, "Body");
        return inPace(service, request, bytes);
      },
      (error: unknown) => {
        endInnerStep(request, "Body");
        throw error;
      },
    )
    .finally(() => account.close());
}

/** Waits until a body may be decoded. */
function inPace(service: HttpService, request: RequestContext, bytes: Buffer): MaybePromise<Buffer> {
  return andThen(paceOf(service, request).decodes(bytes), () => bytes);
}

/** The encodings of objects that a client may send. */
export type InputFormat = "json" | "yaml" | "protobuf" | "cbor";

/**
 * The encoding of a body by its Content-Type; JSON without one.
 *
 * @throws {StatusError} UnsupportedMediaType
 */
export function inputFormat(exchange: HttpExchange, { vocabulary }: Registry): InputFormat {
  const header = exchange.header("content-type");
  if (header === "application/json") return "json";
  const type = mediaType(header);
  if (type === "" || type === "application/json") return "json";
  if (type === "application/yaml") return "yaml";
  if (type === vocabulary.protobufMediaType) return "protobuf";
  if (type === vocabulary.cborMediaType) return "cbor";
  throw new StatusError(
    "UnsupportedMediaType",
    "the body of the request was in an unknown format - accepted media types include: application/json, " +
      `application/yaml, ${binaryMediaTypes(vocabulary)}; got ${JSON.stringify(type)}` +
      mediaTypeHint(type, vocabulary),
  );
}

/** Reads and decodes a body, which must not be empty. */
export function readDocument(service: HttpService, request: RequestContext): MaybePromise<JsonDocument> {
  const { registry } = service.engine;
  const format = inputFormat(request.exchange, registry);
  return andThen(readBytes(service, request), (bytes) => {
    if (bytes.length === 0) throw new StatusError("BadRequest", "the request needs a body");
    const { exchange } = request;
    return andThen(exchange.document ?? parse(bytes, format, registry), (document) => {
      request.audit?.requestObject(document.value);
      return document;
    });
  });
}

/** Decodes a body. Throws BadRequest with line and column. */
export function parse(bytes: Buffer, format: InputFormat, registry: Registry): MaybePromise<JsonDocument> {
  if (format === "protobuf") return decodeBinary(bytes, registry);
  if (format === "cbor") return decodeCborBody(bytes);
  if (format === "yaml") return decodeYaml(bytes).catch(refuse);
  try {
    return decodeJson(bytes);
  } catch (error) {
    return refuse(error);
  }
}

/** Decodes a CBOR body. Duplicate keys are invalid there, so there are none to report. */
function decodeCborBody(bytes: Buffer): JsonDocument {
  const { decodeCbor, CborFault } = cborCodec();
  try {
    return { value: decodeCbor(bytes), duplicates: [] };
  } catch (error) {
    if (!(error instanceof CborFault)) throw error;
    throw new StatusError("BadRequest", `the body can't be read: ${error.message}`);
  }
}

function refuse(error: unknown): never {
  if (!(error instanceof SyntaxFault)) throw error;
  throw new StatusError("BadRequest", `the body can't be read: ${error.message}`);
}

/**
 * Decodes a binary body, by the type that its envelope names, to its JSON form.
 *
 * @throws {StatusError} BadRequest if it can't be decoded or the type doesn't exist.
 */
function decodeBinary(bytes: Uint8Array, registry: Registry): JsonDocument {
  try {
    const { apiVersion, kind, message } = openEnvelope(bytes);
    const type =
      kind === "DeleteOptions"
        ? structInRelease(DeleteOptionsBody, registry.release)
        : registry.bodyKind(apiVersion, kind)?.type;
    if (type === undefined) {
      throw new ProtobufFault(
        `there is no kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}`,
      );
    }
    if (!hasProtobufEncoding(type))
      throw new StatusError(
        "UnsupportedMediaType",
        `${kind} has no binary form; send it as application/json`,
      );
    const value = { ...decodeMessage(type, message), apiVersion, kind } as JsonValue;
    return { value, duplicates: [] };
  } catch (error) {
    if (!(error instanceof ProtobufFault)) throw error;
    throw new StatusError("BadRequest", `the body can't be read: ${error.message}`);
  }
}
