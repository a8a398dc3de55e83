import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import { awaitVersion } from "../../resources/reads/get.ts";
import type { ListedPage, ListEnd } from "../../resources/reads/list.ts";
import { listInOrder, type SortedListOptions } from "../../resources/reads/sorted-list.ts";
import type { Encoding, ListWriter } from "../encodings/encoding.ts";
import { prettyJson } from "../encodings/json.ts";
import { listParameters } from "../request/parameters.ts";
import { recordedList, forEachPart, pauseOf, serveMeasured } from "./measured-list.ts";
import { sendCompressed, streamCompressed, headersFor } from "../answers/respond.ts";
import { awaitDrain } from "../limits/fair-limiter.ts";
import type { BodyStream } from "../transport/body-stream.ts";
import { wantsPretty } from "../request/negotiation.ts";
import { RequestSortMemory } from "./sort-memory.ts";
import type { ListRead } from "../../resources/engine/resource-version.ts";
import type { Revision } from "../../storage/store.ts";
import type { ObjectView } from "../../resources/objects/object-view.ts";
import { hasGuardedHistory } from "../../resources/reads/history.ts";
import { pastRevision, refuseOldRead } from "./past.ts";
import type { HttpService } from "../service.ts";
import { encodingOf } from "./answer.ts";
import { limitTime } from "./deadline.ts";
import { accountOf, type ResourceContext } from "../request/context.ts";

/**
 * GET of a collection, streamed page by page in constant memory (spec: conventions 4.4, 4.5). `pretty` applies to lists of one page
 * only.
 */
export async function serveList(service: HttpService, request: ResourceContext): Promise<void> {
  const { query } = request.facts;
  const { resource } = request.target;
  const { list, timeoutSeconds } = listParameters(resource, query, service.engine);
  const past = pastRevision(service, request);
  const options = past === undefined ? list : { ...list, read: pastRead(list.read, await past) };
  if (past === undefined && hasGuardedHistory(service.engine, resource))
    await refuseOldRead(service, { ...list, view: request.view });
  if (timeoutSeconds) limitTime(service, request, timeoutSeconds * 1000);
  const memory = new RequestSortMemory(service.sortedLists, accountOf(request));
  try {
    const view = await viewOfList(service, request, options.read);
    await sendList(service, request, { ...chunked(service, options), view, memory });
  } finally {
    memory.release();
  }
}

/** The view of a list, whose rights must not be older than the revision that the list is to have. */
async function viewOfList(
  { engine }: HttpService,
  { view, renewView }: ResourceContext,
  read: ListRead,
): Promise<ObjectView | undefined> {
  if (view?.revision === undefined || read.mode === "latest" || read.mode === "continue") return view;
  if (read.revision <= view.revision) return view;
  await awaitVersion(engine, read.revision);
  return renewView?.();
}

/** The read of a list at a past revision; a chunk that continues a list has its revision. */
function pastRead(read: ListRead, revision: Revision): ListRead {
  return read.mode === "continue" ? read : { mode: "exact", revision };
}

async function sendList(
  service: HttpService,
  request: ResourceContext,
  list: SortedListOptions,
): Promise<void> {
  const encoding = encodingOf(service, request);
  const headers = headersFor(encoding.contentType);
  const pause = pauseOf(service, request);
  const pages = listInOrder(service.engine, request.target, { ...list, pause });
  const writer = recordedList(request, encoding);
  if (writer.around !== undefined) return serveMeasured(service, request, list, encoding);
  // An error before the first bytes has its own status.
  const first = await pages.next();
  const second = first.done === true ? first : await pages.next();
  if (second.done === true) {
    return sendSmallList(
      service,
      request,
      encoding,
      first.done === true ? undefined : first.value,
      second.value,
    );
  }
  const stream = service.compresses
    ? streamCompressed(request.exchange, 200, headers)
    : request.exchange.stream(200, headers);
  const drain = () => awaitDrain(service.clock, request, stream);
  try {
    if (first.done !== true) await forEachPart(writer, first.value, (part) => stream.write(part), pause);
    const end = await pour(pages, second.value, { writer, stream, pause, drain });
    if (end === undefined) return;
    stream.write(writer.end(end));
    stream.end();
    await drain();
  } catch (error) {
    stream.destroy();
    throw error;
  }
}

/** Sends a list of at most one page. */
export async function sendSmallList(
  service: HttpService,
  request: ResourceContext,
  encoding: Encoding,
  page: ListedPage | undefined,
  end: ListEnd,
): Promise<void> {
  const writer = recordedList(request, encoding);
  const parts: Uint8Array[] = [];
  const pause = pauseOf(service, request);
  if (page !== undefined) await forEachPart(writer, page, (part) => parts.push(part), pause);
  parts.push(writer.end(end));
  const { head = none, tail = none } =
    writer.around?.(parts.reduce((sum, { length }) => sum + length, 0)) ?? {};
  const whole = Buffer.concat([head, ...parts, tail]);
  const { exchange, facts } = request;
  const pretty = encoding.contentType === "application/json" && wantsPretty(exchange, facts.query);
  const body = pretty ? prettyJson(whole) : whole;
  const headers = headersFor(encoding.contentType, request.warnings);
  if (service.compresses) return sendCompressed(request.exchange, 200, headers, body);
  return request.exchange.send(200, headers, body);
}

const none = new Uint8Array();

/** Without chunked lists, `limit` is ignored (spec: conventions 4.4). */
function chunked({ engine }: HttpService, list: SortedListOptions): SortedListOptions {
  return list.limit === 0 || engine.featureEnabled("APIListChunking") ? list : { ...list, limit: 0 };
}

type Pages = AsyncGenerator<ListedPage, ListEnd>;

/** Writes the pages as fast as the client reads; returns undefined if it disconnects. */
async function pour(
  pages: Pages,
  next: ListedPage,
  {
    writer,
    stream,
    pause,
    drain,
  }: {
    readonly writer: ListWriter;
    readonly stream: BodyStream;
    readonly pause: () => Promise<void>;
    readonly drain: () => MaybePromise<void>;
  },
): Promise<ListEnd | undefined> {
  let page = next;
  for (;;) {
    await forEachPart(writer, page, (part) => stream.write(part), pause);
    await drain();
    if (stream.closed) return undefined;
    const step = await pages.next();
    if (step.done === true) return step.value;
    page = step.value;
  }
}
