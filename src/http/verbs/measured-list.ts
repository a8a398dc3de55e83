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

/** Bytes up to which a list is kept in memory; a longer list is read again to be sent. */
const maxKeptBytes = 4 * 1024 * 1024;

/** Bytes up to which the parts of a list are joined before they are sent. */
const maxJoinedBytes = 256 * 1024;

/**
 * Sends a list in an encoding that begins with its length, in constant memory. The second read is at the revision of the first, so that
 * it has the same bytes.
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
  if (measured.kept !== undefined && measured.length > maxJoinedBytes) {
    const stream = service.compresses
      ? streamCompressed(exchange, 200, headers)
      : exchange.stream(200, headers);
    for (const part of [head, ...measured.kept, tail]) stream.write(part);
    return stream.end();
  }
  if (measured.kept !== undefined) {
    const whole = Buffer.concat([head, ...measured.kept, tail]);
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

interface Measured {
  readonly length: number;
  readonly end: ListEnd;
  /** All bytes of a short list. */
  readonly kept: readonly Uint8Array[] | undefined;
}

async function measure(
  { engine }: HttpService,
  { target }: ResourceContext,
  list: ListOptions,
  writer: ListWriter,
): Promise<Measured> {
  const pages = listObjects(engine, target, list);
  let kept: Uint8Array[] | undefined = [];
  let length = 0;
  for (;;) {
    const step = await pages.next();
    const take = (part: Uint8Array): void => {
      length += part.length;
      if (length > maxKeptBytes) kept = undefined;
      else kept?.push(part);
    };
    if (step.done === true) {
      take(writer.end(step.value));
      return { length, end: step.value, kept };
    }
    await eachPart(writer, step.value, take);
  }
}

/** Calls `take` for each part of a page; yields to other work if that takes long. */
export function eachPart(
  writer: ListWriter,
  page: ListedPage,
  take: (part: Uint8Array) => void,
): MaybePromise<void> {
  const parts = writer.page(page)[Symbol.iterator]();
  const yieldIfDue = createYielder();
  const takeSome = (): MaybePromise<void> => {
    for (let step = parts.next(); step.done !== true; step = parts.next()) {
      take(step.value);
      const turn = yieldIfDue();
      if (turn !== undefined) return turn.then(takeSome);
    }
  };
  return takeSome();
}

async function sendAgain(
  service: HttpService,
  { target }: ResourceContext,
  {
    list,
    writer,
    stream,
  }: { readonly list: ListOptions; readonly writer: ListWriter; readonly stream: BodyStream },
  end: ListEnd,
): Promise<void> {
  const read =
    list.read.mode === "continue" ? list.read : ({ mode: "exact", revision: end.revision } as const);
  const pages = listObjects(service.engine, target, { ...list, read });
  for (;;) {
    const step = await pages.next();
    if (step.done === true) break;
    await eachPart(writer, step.value, (part) => stream.write(part));
    await drainInTime(stream, service.clock);
    if (stream.closed) return;
  }
  stream.write(writer.end(end));
}
