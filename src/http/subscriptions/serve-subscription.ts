import { decodeJson } from "../../base/json/decode.ts";
import { SyntaxFault } from "../../base/json/syntax-fault.ts";
import type { JsonValue } from "../../base/json/value.ts";
import { StatusError } from "../../base/status-error.ts";
import type { FollowedView } from "../../resources/objects/followed-view.ts";
import type { Revision } from "../../storage/store.ts";
import { kindContext } from "../../resources/engine/engine.ts";
import { awaitVersion } from "../../resources/reads/get.ts";
import { headersFor } from "../answers/respond.ts";
import { writesFrames } from "../encodings/encoding.ts";
import type { RequestContext } from "../request/context.ts";
import { mediaType } from "../request/media-types.ts";
import { eventStreamType, negotiateSubscription, type Representation } from "../request/negotiation.ts";
import type { HttpService } from "../service.ts";
import { readBytes } from "../verbs/body.ts";
import { rejectExpired, viewAt } from "../verbs/watch.ts";
import { openEntries, recordFailure, type OpenEntry } from "./open-entries.ts";
import { streamParameters, type StreamParameters } from "./stream-parameters.ts";
import { Subscription, type EncodedEntry } from "./subscription.ts";
import { decodeWatches, parseWatches, type WatchEntry } from "./watch-entries.ts";

/** Maximum size of the body of a POST, in bytes. */
const maxBodyBytes = 256 * 1024;

/**
 * Serves a GET or POST of `/subscriptions`: one stream with the events of several resource types.
 *
 * @throws {StatusError} any, before the stream begins.
 */
export async function serveSubscription(service: HttpService, request: RequestContext): Promise<void> {
  const { exchange, facts } = request;
  const { vocabulary, store } = service.engine;
  const { representation, isEventStream } = negotiateSubscription(exchange.header("accept"), vocabulary);
  const parameters = streamParameters(facts.query, exchange.header("last-event-id"));
  const watches = await readEntries(service, request);
  const { sendsState, revision, view } = parameters;
  const open = await openEntries(service, request, watches, { lists: sendsState, view });
  const views: FollowedView[] = [];
  try {
    if (revision !== undefined && sendsState) await awaitVersion({ store, clock: service.clock }, revision);
    if (revision !== undefined && !sendsState) await rejectExpired(service, revision);
    const after = sendsState || revision === undefined ? await store.latestRevision() : revision;
    const entries: EncodedEntry[] = [];
    for (const entry of open) {
      const view = await viewAt(entry.request, after);
      if (view !== undefined) views.push(view);
      entries.push({ ...encodedEntry(service, entry, representation, parameters), view });
    }
    await stream(service, request, { entries, parameters, isEventStream, after });
  } catch (error) {
    for (const followed of views) followed.close();
    recordFailure(service, open, error);
    throw error;
  }
  for (const entry of open) entry.request.audit?.ended();
}

interface StreamParts {
  readonly entries: readonly EncodedEntry[];
  readonly parameters: StreamParameters;
  readonly isEventStream: boolean;
  /** Revision of the state, and after which the watches begin. */
  readonly after: Revision;
}

async function stream(
  service: HttpService,
  request: RequestContext,
  { entries, parameters, isEventStream, after }: StreamParts,
): Promise<void> {
  const { exchange, facts } = request;
  service.metrics.longRunning(facts, exchange);
  const body = exchange.stream(200, headersFor(isEventStream ? eventStreamType : "application/json"));
  const form = isEventStream ? "events" : "lines";
  const subscription = new Subscription(service, request, parameters, entries, form, body);
  const unregister = entries.flatMap(({ request: { facts: watched, target }, selection }) => [
    service.watches.add(watched, selection),
    service.metrics.shardedWatch(target.resource, selection),
  ]);
  facts.query.release();
  for (const entry of entries) entry.request.facts.query.release();
  subscription.stream.attach(() => {
    for (const remove of unregister) remove?.();
  });
  await subscription.run(after);
}

function encodedEntry(
  { encodings, engine, clock }: HttpService,
  entry: OpenEntry,
  representation: Representation,
  { includeObject }: StreamParameters,
): Omit<EncodedEntry, "view"> {
  const { target } = entry.request;
  const context = { kinds: kindContext(engine, target), clock };
  const encoding = encodings.of(representation, target.resource, context, includeObject);
  if (!writesFrames(encoding)) throw new Error(`${encoding.contentType} does not support watches`);
  return { ...entry, encoding };
}

/** Reads the watches of a GET from its parameters, those of a POST from its body. */
async function readEntries(service: HttpService, request: RequestContext): Promise<WatchEntry[]> {
  const { exchange, facts, audit } = request;
  const values = facts.query.all("watch");
  if (exchange.method === "GET") return parseWatches(values);
  if (values.length > 0) {
    throw new StatusError("BadRequest", "parameter watch is for GET; a POST has its watches in the body");
  }
  const type = mediaType(exchange.header("content-type"));
  if (type !== "" && type !== "application/json") {
    throw new StatusError("UnsupportedMediaType", "the body of a subscription must be application/json");
  }
  const body = decodeBody(await readBytes(service, request, maxBodyBytes));
  audit?.requestBody(body);
  return decodeWatches(body);
}

/** @throws {StatusError} BadRequest with line and column. */
function decodeBody(bytes: Buffer): JsonValue {
  try {
    return decodeJson(bytes).value;
  } catch (error) {
    if (!(error instanceof SyntaxFault)) throw error;
    throw new StatusError("BadRequest", `the body can't be read: ${error.message}`);
  }
}
