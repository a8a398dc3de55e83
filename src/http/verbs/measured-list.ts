import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import { createYielder } from "../../base/turns/yielding.ts";
import type { ListEnd, ListedPage } from "../../resources/reads/list.ts";
import { listInOrder, type SortedListOptions } from "../../resources/reads/sorted-list.ts";
import { BufferedParts } from "./buffered-parts.ts";
import { sendCompressed, streamCompressed, headersFor } from "../answers/respond.ts";
import type { Encoding, ListWriter } from "../encodings/encoding.ts";
import { awaitDrain } from "../limits/fair-limiter.ts";
import type { BodyStream } from "../transport/body-stream.ts";
import type { HttpService } from "../service.ts";
import { accountOf, type ResourceContext, type AuditHooks, type RequestContext } from "../request/context.ts";

/** Maximum size of a list that is sent as one buffer. */
const maxJoinedBytes = 256 * 1024;

/**
 * Sends a list in an encoding that begins with its length, in bounded memory. A list that is too long to be buffered is read and encoded
 * twice; the second read is at the revision of the first, so it has the same bytes.
 */
export async function serveMeasured(
  service: HttpService,
  request: ResourceContext,
  list: SortedListOptions,
  encoding: Encoding,
): Promise<void> {
  const { exchange } = request;
  const headers = headersFor(encoding.contentType);
  const writer = recordedList(request, encoding);
  const buffered = new BufferedParts(service.bufferedLists, accountOf(request));
  try {
    const end = await measure(service, request, { list, writer, buffered });
    const { head, tail } = writer.around!(buffered.length);
    if (buffered.all !== undefined && buffered.length <= maxJoinedBytes) {
      const whole = Buffer.concat([head, ...buffered.all, tail]);
      return await (service.compresses
        ? sendCompressed(exchange, 200, headers, whole)
        : exchange.send(200, headers, whole));
    }
    const stream = service.compresses
      ? streamCompressed(exchange, 200, headers)
      : exchange.stream(200, headers);
    try {
      stream.write(head);
      if (buffered.all === undefined) await sendAgain(service, request, { list, writer, stream }, end);
      else await sendBuffered(service, request, buffered.all, stream);
      stream.write(tail);
      stream.end();
      await awaitDrain(service.clock, request, stream);
    } catch (error) {
      stream.destroy();
      throw error;
    }
  } finally {
    buffered.drop();
  }
}

/** Encodes a list; returns its metadata. */
async function measure(
  service: HttpService,
  request: ResourceContext,
  {
    list,
    writer,
    buffered,
  }: { readonly list: SortedListOptions; readonly writer: ListWriter; readonly buffered: BufferedParts },
): Promise<ListEnd> {
  const pause = pauseOf(service, request);
  const pages = listInOrder(service.engine, request.target, { ...list, pause });
  for (;;) {
    const step = await pages.next();
    if (step.done === true) {
      buffered.add(writer.end(step.value));
      return step.value;
    }
    await forEachPart(writer, step.value, (part) => buffered.add(part), pause);
  }
}

/** Writes parts as fast as the client reads, with pauses. */
async function sendBuffered(
  service: HttpService,
  request: ResourceContext,
  parts: readonly Uint8Array[],
  stream: BodyStream,
): Promise<void> {
  const yieldIfDue = createYielder(pauseOf(service, request));
  for (const part of parts) {
    if (!stream.write(part)) await awaitDrain(service.clock, request, stream);
    if (stream.closed) return;
    await yieldIfDue();
  }
}

/** Returns the pause between the steps of a long list: lists take turns, by user, one step in each turn of the event loop. */
export function pauseOf({ turns }: HttpService, request: ResourceContext): () => Promise<void> {
  return () => turns.longStep(accountOf(request));
}

/** Calls a function with each encoded part of a page, with pauses in between. */
export function forEachPart(
  writer: ListWriter,
  page: ListedPage,
  callback: (part: Uint8Array) => void,
  pause: () => Promise<void>,
): MaybePromise<void> {
  const parts = writer.page(page)[Symbol.iterator]();
  const yieldIfDue = createYielder(pause);
  const run = (): MaybePromise<void> => {
    for (let step = parts.next(); step.done !== true; step = parts.next()) {
      callback(step.value);
      const due = yieldIfDue();
      if (due !== undefined) return due.then(run);
    }
  };
  return run();
}

async function sendAgain(
  service: HttpService,
  request: ResourceContext,
  {
    list,
    writer,
    stream,
  }: { readonly list: SortedListOptions; readonly writer: ListWriter; readonly stream: BodyStream },
  end: ListEnd,
): Promise<void> {
  const read =
    list.read.mode === "continue" ? list.read : ({ mode: "exact", revision: end.revision } as const);
  const pause = pauseOf(service, request);
  const pages = listInOrder(service.engine, request.target, { ...list, read, pause });
  for (;;) {
    const step = await pages.next();
    if (step.done === true) break;
    await forEachPart(writer, step.value, (part) => stream.write(part), pause);
    await awaitDrain(service.clock, request, stream);
    if (stream.closed) return;
  }
  stream.write(writer.end(end));
}

/** Writes a list in an encoding, and in JSON for the audit if it records responses. */
export function recordedList({ audit }: RequestContext, encoding: Encoding): ListWriter {
  const writer = encoding.list();
  return audit?.wantsResponse === true ? recorded(writer, encoding.inJson?.list(), audit) : writer;
}

/** @param inJson writes the list in JSON; undefined if the writer does. */
function recorded(writer: ListWriter, inJson: ListWriter | undefined, audit: AuditHooks): ListWriter {
  // A measured list is written twice.
  let ended = false;
  return {
    *page(page: ListedPage) {
      if (inJson !== undefined && !ended) for (const part of inJson.page(page)) audit.responseObject(part);
      for (const part of writer.page(page)) {
        if (inJson === undefined && !ended) audit.responseObject(part);
        yield part;
      }
    },
    end(end: ListEnd) {
      const last = writer.end(end);
      if (!ended) audit.responseObject(inJson?.end(end) ?? last);
      ended = true;
      return last;
    },
    ...(writer.around === undefined ? {} : { around: (length: number) => writer.around!(length) }),
  };
}
