import { encodeJson } from "../../base/json/encode.ts";
import type { JsonValue } from "../../base/json/value.ts";
import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import { kindContext } from "../../resources/engine/engine.ts";
import type { Resource } from "../../resources/registry/registry.ts";
import { hasProtobufEncoding } from "../../schema/protobuf/numbered.ts";
import type { Entry } from "../../storage/store.ts";
import { sendCompressed, headersFor } from "../answers/respond.ts";
import { writesFrames, type Encoding, type WatchEncoding } from "../encodings/encoding.ts";
import { prettyJson } from "../encodings/json.ts";
import type { HttpExchange } from "../transport/http-exchange.ts";
import {
  checkMetadataName,
  negotiate,
  negotiateJson,
  negotiateWatch,
  wantsPretty,
} from "../request/negotiation.ts";
import { clientWarning, groupHint } from "../../vocabulary/other-vocabulary.ts";
import type { HttpService } from "../service.ts";
import type { ResourceContext } from "../request/context.ts";

/** Loads the encoding that the client accepts. */
export function prepareEncoding(service: HttpService, exchange: HttpExchange): MaybePromise<void> {
  const accept = exchange.header("accept");
  // Rejects an unsupported Accept header before the request has any effect.
  service.encodings.negotiate(accept);
  return service.encodings.prepare(accept);
}

/**
 * Returns the encoding that the client prefers.
 *
 * @param resource resource type of the response.
 * @throws {StatusError} NotAcceptable
 */
export function encodingOf(
  service: HttpService,
  { exchange, facts, target }: ResourceContext,
  resource: Resource = target.resource,
): Encoding {
  const accept = exchange.header("accept");
  let representation = service.encodings.negotiate(accept);
  checkMetadataName(representation, facts.verb);
  if (representation.foreignGroup !== undefined) warnOfNames(service, exchange, representation.foreignGroup);
  const { format, as } = representation;
  if (format === "protobuf" && as === "whole" && !hasProtobufEncoding(resource.kind.type))
    representation = negotiateJson(accept, service.engine.vocabulary);
  if (representation.as === "table" && !hasTable(resource))
    representation = negotiate(accept, service.engine.vocabulary, false);
  const context = { kinds: kindContext(service.engine, target), clock: service.clock };
  return service.encodings.of(representation, resource, context, facts.query.get("includeObject"));
}

/**
 * Warns a client that asks for tables of the other vocabulary: it gets plain objects, and kubectl shows an empty list of them without any
 * other message. As the reference, a server of the kubernetes vocabulary doesn't.
 */
function warnOfNames({ engine: { vocabulary } }: HttpService, exchange: HttpExchange, group: string): void {
  if (vocabulary.clientSideApply !== undefined) return;
  const agent = exchange.header("user-agent") ?? "";
  const warning = clientWarning(agent, vocabulary) ?? groupHint(group, vocabulary).replace("; ", "");
  exchange.addHeaders(["Warning", `299 - ${JSON.stringify(warning)}`]);
}

/**
 * As {@link encodingOf}, for a watch.
 *
 * @throws {StatusError} NotAcceptable if the client accepts only YAML.
 */
export function watchEncodingOf(service: HttpService, request: ResourceContext): WatchEncoding {
  const encoding = encodingOf(service, request);
  if (writesFrames(encoding)) return encoding;
  const representation = negotiateWatch(request.exchange.header("accept"), service.engine.vocabulary);
  const context = { kinds: kindContext(service.engine, request.target), clock: service.clock };
  const include = request.facts.query.get("includeObject");
  const other = service.encodings.of(representation, request.target.resource, context, include);
  if (!writesFrames(other)) throw new Error(`${other.contentType} does not support watches`);
  return other;
}

/** Reviews and actions have no tables. */
function hasTable({ kind }: Resource): boolean {
  return kind.verbs.includes("get") || kind.columns !== undefined;
}

/** Encodes an object for {@link sendObject}. */
export function bodyOf(object: object): Buffer {
  return Buffer.from(encodeJson(object as JsonValue));
}

/** Returns the warnings of the request and of the result of its verb, without duplicates. */
function allWarnings(
  { warnings: requestWarnings }: ResourceContext,
  warnings: readonly string[] | undefined,
): Iterable<string> | undefined {
  if (requestWarnings === undefined) return warnings;
  return warnings === undefined ? requestWarnings : new Set([...requestWarnings, ...warnings]);
}

/** Responds with an object; `body` is its JSON. A promise resolves when sending begins. */
export function sendObject(
  service: HttpService,
  request: ResourceContext,
  encoding: Encoding,
  status: number,
  body: Uint8Array,
  warnings?: readonly string[],
): MaybePromise<void> {
  return send(service, request, encoding, { status, body, bytes: encoding.object(body), warnings });
}

/** Responds 200 with a stored object. A promise resolves when sending begins. */
export function sendStored(
  service: HttpService,
  request: ResourceContext,
  encoding: Encoding,
  entry: Entry,
): MaybePromise<void> {
  const bytes = service.encodings.stored(encoding, entry);
  return send(service, request, encoding, { status: 200, body: entry.body, bytes, warnings: undefined });
}

/** A response with an object. */
interface ObjectResponse {
  readonly status: number;
  /** The object as JSON. */
  readonly body: Uint8Array;
  /** The object in the encoding of the response. */
  readonly bytes: Uint8Array;
  readonly warnings: readonly string[] | undefined;
}

function send(
  { compresses }: HttpService,
  request: ResourceContext,
  encoding: Encoding,
  { status, body, bytes, warnings }: ObjectResponse,
): MaybePromise<void> {
  const { audit } = request;
  if (audit?.wantsResponse === true) audit.responseObject(encoding.inJson?.object(body) ?? bytes);
  const headers = headersFor(encoding.contentType, allWarnings(request, warnings));
  const pretty =
    encoding.contentType === "application/json" && wantsPretty(request.exchange, request.facts.query);
  const content = pretty ? prettyJson(bytes) : bytes;
  if (!compresses) return request.exchange.send(status, headers, content);
  return sendCompressed(request.exchange, status, headers, content);
}
