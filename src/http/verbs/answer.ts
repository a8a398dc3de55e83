import { encodeJson } from "../../base/json/encode.ts";
import type { JsonValue } from "../../base/json/value.ts";
import type { MaybePromise } from "../../base/maybe-promise.ts";
import { kindContext } from "../../resources/engine/engine.ts";
import type { Resource } from "../../resources/registry/registry.ts";
import { hasProtobufEncoding } from "../../schema/protobuf/numbered.ts";
import type { Entry } from "../../storage/store.ts";
import { sendCompressed } from "../answers/compression.ts";
import { writesFrames, type Encoding, type WatchEncoding } from "../encodings/encoding.ts";
import { prettyJson } from "../encodings/json.ts";
import type { HttpExchange } from "../transport/http-exchange.ts";
import { checkMetadataName, negotiate, negotiateJson, negotiateWatch } from "../request/negotiation.ts";
import { wantsPretty } from "../request/pretty.ts";
import { headersFor } from "../answers/respond.ts";
import type { HttpService } from "../service.ts";
import type { ResourceContext } from "../request/context.ts";

/** Loads the encoding that the client accepts. */
export function prepareEncoding(service: HttpService, exchange: HttpExchange): MaybePromise<void> {
  const accept = exchange.header("accept");
  // An encoding that isn't available is rejected before the request has any effect.
  service.encodings.wanted(accept);
  return service.encodings.prepare(accept);
}

/** The encoding that the client accepts, for the resource type of the target or another one. */
export function encodingOf(
  service: HttpService,
  { exchange, facts, target }: ResourceContext,
  resource: Resource = target.resource,
): Encoding {
  const accept = exchange.header("accept");
  let wanted = service.encodings.wanted(accept);
  checkMetadataName(wanted, facts.verb);
  if (wanted.format === "protobuf" && wanted.as === "whole" && !hasProtobufEncoding(resource.kind.type))
    wanted = negotiateJson(accept, service.engine.vocabulary);
  if (wanted.as === "table" && !hasTable(resource))
    wanted = negotiate(accept, service.engine.vocabulary, false);
  const context = { kinds: kindContext(service.engine, target), clock: service.clock };
  return service.encodings.of(wanted, resource, context, facts.query.get("includeObject"));
}

/**
 * As {@link encodingOf}, for a watch.
 *
 * @throws {StatusError} NotAcceptable if the client accepts only YAML.
 */
export function watchEncodingOf(service: HttpService, request: ResourceContext): WatchEncoding {
  const encoding = encodingOf(service, request);
  if (writesFrames(encoding)) return encoding;
  const wanted = negotiateWatch(request.exchange.header("accept"), service.engine.vocabulary);
  const context = { kinds: kindContext(service.engine, request.target), clock: service.clock };
  const include = request.facts.query.get("includeObject");
  const other = service.encodings.of(wanted, request.target.resource, context, include);
  if (!writesFrames(other)) throw new Error(`there are no watches in ${other.contentType}`);
  return other;
}

/** Reviews and actions have no tables. */
function hasTable({ kind }: Resource): boolean {
  return kind.verbs.includes("get") || kind.columns !== undefined;
}

/** The body of an object that isn't stored, for {@link sendObject}. */
export function bodyOf(object: object): Buffer {
  return Buffer.from(encodeJson(object as JsonValue));
}

/** The warnings of the request and of the verb's result, without duplicates. */
function allWarnings(
  { warnings: reported }: ResourceContext,
  warnings: readonly string[] | undefined,
): Iterable<string> | undefined {
  if (reported === undefined) return warnings;
  return warnings === undefined ? reported : new Set([...reported, ...warnings]);
}

/** Responds with an object in JSON. A promise resolves when the response is being sent. */
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

/** Responds 200 with a stored object. A promise resolves when the response is being sent. */
export function sendStored(
  service: HttpService,
  request: ResourceContext,
  encoding: Encoding,
  entry: Entry,
): MaybePromise<void> {
  const bytes = service.encodings.stored(encoding, entry);
  return send(service, request, encoding, { status: 200, body: entry.body, bytes, warnings: undefined });
}

/** An object in JSON and the view of it that is sent. */
interface ObjectAnswer {
  readonly status: number;
  readonly body: Uint8Array;
  readonly bytes: Uint8Array;
  readonly warnings: readonly string[] | undefined;
}

function send(
  { compresses }: HttpService,
  request: ResourceContext,
  encoding: Encoding,
  { status, body, bytes, warnings }: ObjectAnswer,
): MaybePromise<void> {
  const { audit } = request;
  if (audit?.wantsResponse === true) audit.responseObject(encoding.inJson?.object(body) ?? bytes);
  const headers = headersFor(encoding.contentType, allWarnings(request, warnings));
  const pretty =
    encoding.contentType === "application/json" && wantsPretty(request.exchange, request.facts.query);
  const shown = pretty ? prettyJson(bytes) : bytes;
  if (!compresses) return request.exchange.send(status, headers, shown);
  return sendCompressed(request.exchange, status, headers, shown);
}
