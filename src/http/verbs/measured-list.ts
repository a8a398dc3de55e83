import type { MaybePromise } from "../../base/maybe-promise.ts";
import { createYielder } from "../../base/yielding.ts";
import { listObjects, type ListEnd, type ListedPage, type ListOptions } from "../../resources/reads/list.ts";
import { recordedList } from "./recorded-list.ts";
import { sendCompressed, streamCompressed } from "../answers/compression.ts";
import type { Encoding, ListWriter } from "../encodings/encoding.ts";
import { drainInTime, type BodyStream } from "../transport/body-stream.ts";
import { headersFor } from "../answers/respond.ts";
import type { HttpService } from "../service.ts";
import type { ResourceContext } from "../request/context.ts";

/** Maximum size of a list that is buffered in memory; a longer list is read again when it is sent. */
const maxBufferedBytes = 4 * 1024 * 1024;

/** Maximum size of a list that is sent as one buffer. */
const maxJoinedBytes = 256 * 1024;

/**
 * Sends a list in an encoding that begins with its length, in constant memory. A long list is read twice; the second read is at
 * the revision of the first, so it has the same bytes.
 */
export async function serveMeasured(
  service: HttpService,
  request: ResourceContext,
  list: ListOptions,
  encoding: Encoding,
): Promise<void> {
  const { exchange } = request;
  const headers = headersFor(encoding.contentType);
  const writer = recordedList(request, encoding);
  const measured = await measure(service, request, list, writer);
  const { head, tail } = writer.around!(measured.length);
  if (measured.buffered !== undefined && measured.length > maxJoinedBytes) {
    const stream = service.compresses
      ? streamCompressed(exchange, 200, headers)
      : exchange.stream(200, headers);
    for (const part of [head, ...measured.buffered, tail]) stream.write(part);
    return stream.end();
  }
  if (measured.buffered !== undefined) {
    const whole = Buffer.concat([head, ...measured.buffered, tail]);
    return service.compresses
      ? sendCompressed(exchange, 200, headers, whole)
      : exchange.send(200, headers, whole);
  }
  const stream = exchange.stream(200, headers);
  try {
    stream.write(head);
    await sendAgain(service, request, { list, writer, stream }, measured.end);
    stream.write(tail);
    await stream.end();
  } catch (error) {
    stream.destroy();
    throw error;
  }
}

interface Measurement {
  /** Bytes between head and tail. */
  readonly length: number;
  readonly end: ListEnd;
  /** The parts of a short list; undefined for a long one. */
  readonly buffered: readonly Uint8Array[] | undefined;
}

async function measure(
  service: HttpService,
  request: ResourceContext,
  list: ListOptions,
  writer: ListWriter,
): Promise<Measurement> {
  const { target } = request;
  const { engine } = service;
  const pause = pauseOf(service, request);
  const pages = listObjects(engine, target, { ...list, pause });
  let buffered: Uint8Array[] | undefined = [];
  let length = 0;
  for (;;) {
    const step = await pages.next();
    const add = (part: Uint8Array): void => {
      length += part.length;
      if (length > maxBufferedBytes) buffered = undefined;
      else buffered?.push(part);
    };
    if (step.done === true) {
      add(writer.end(step.value));
      return { length, end: step.value, buffered };
    }
    await forEachPart(writer, step.value, add, pause);
  }
}

/** Returns the pause between the steps of a long list: lists take turns, by user, one step in each turn of the event loop. */
export function pauseOf({ turns }: HttpService, { user }: ResourceContext): () => Promise<void> {
  return () => turns.longStep(user.name);
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
  }: { readonly list: ListOptions; readonly writer: ListWriter; readonly stream: BodyStream },
  end: ListEnd,
): Promise<void> {
  const read =
    list.read.mode === "continue" ? list.read : ({ mode: "exact", revision: end.revision } as const);
  const pause = pauseOf(service, request);
  const pages = listObjects(service.engine, request.target, { ...list, read, pause });
  for (;;) {
    const step = await pages.next();
    if (step.done === true) break;
    await forEachPart(writer, step.value, (part) => stream.write(part), pause);
    await drainInTime(stream, service.clock);
    if (stream.closed) return;
  }
  stream.write(writer.end(end));
}
