import { StatusError } from "../../base/status-error.ts";
import { listObjects, type ListedPage, type ListEnd } from "../../resources/list.ts";
import type { ListWriter } from "../encodings/encoding.ts";
import { prettyJson } from "../encodings/json.ts";
import type { BodyStream } from "../exchange.ts";
import { listParameters } from "../parameters.ts";
import { isTrue } from "../request-facts.ts";
import { headersFor } from "../respond.ts";
import type { HttpService } from "../service.ts";
import { encodingOf } from "./answer.ts";
import type { ResourceRequest } from "./serve-resource.ts";

/** GET of a collection: streamed page by page, in constant memory (spec: conventions 4.4, 4.5). */
export async function serveList(service: HttpService, request: ResourceRequest): Promise<void> {
  const { query } = request.facts;
  const { list, timeoutSeconds } = listParameters(request.target.resource, query);
  const encoding = encodingOf(service, request);
  const pages = listObjects(service.engine, request.target, list);
  const writer = encoding.list();
  // What fails before the first bytes is answered with its own status.
  const first = await pages.next();
  if (first.done === true || isTrue(query.get("pretty") ?? "false")) {
    return sendWhole(request, encoding.contentType, writer, pages, first);
  }
  const deadline = timeoutSeconds === undefined || timeoutSeconds === 0 ? undefined : timeoutSeconds * 1000;
  const start = service.clock.now();
  const firstBytes = writer.page(first.value);
  const second = await pages.next();
  if (second.done === true) {
    const bytes = Buffer.concat([...firstBytes, writer.end(second.value)]);
    return request.exchange.send(200, headersFor(encoding.contentType), bytes);
  }
  const stream = request.exchange.stream(200, headersFor(encoding.contentType));
  try {
    for (const bytes of firstBytes) stream.write(bytes);
    const end = await pour(pages, second.value, writer, stream, () => {
      if (deadline !== undefined && service.clock.now() - start > deadline) {
        throw new StatusError("Timeout", `the list took longer than ${timeoutSeconds} seconds`);
      }
    });
    if (end === undefined) return;
    stream.write(writer.end(end));
    stream.end();
  } catch (error) {
    stream.destroy();
    throw error;
  }
}

type Pages = AsyncGenerator<ListedPage, ListEnd>;

/** Writes page after page as fast as the client takes them; undefined when the client left. */
async function pour(
  pages: Pages,
  next: ListedPage,
  writer: ListWriter,
  stream: BodyStream,
  checkTime: () => void,
): Promise<ListEnd | undefined> {
  let page = next;
  for (;;) {
    for (const bytes of writer.page(page)) stream.write(bytes);
    await stream.drained();
    if (stream.closed) return undefined;
    checkTime();
    const step = await pages.next();
    if (step.done === true) return step.value;
    page = step.value;
  }
}

/** A list in one piece: an empty one, or one that is to be read by people. */
async function sendWhole(
  request: ResourceRequest,
  contentType: string,
  writer: ListWriter,
  pages: Pages,
  first: IteratorResult<ListedPage, ListEnd>,
): Promise<void> {
  const parts: Uint8Array[] = [];
  let step = first;
  while (step.done !== true) {
    parts.push(...writer.page(step.value));
    step = await pages.next();
  }
  parts.push(writer.end(step.value));
  const whole = Buffer.concat(parts);
  const pretty = isTrue(request.facts.query.get("pretty") ?? "false");
  request.exchange.send(200, headersFor(contentType), pretty ? prettyJson(whole) : whole);
}
