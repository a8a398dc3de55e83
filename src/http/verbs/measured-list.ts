import { setImmediate } from "node:timers/promises";
import { listObjects, type ListEnd, type ListOptions } from "../../resources/list.ts";
import { sendCompressed } from "../compression.ts";
import type { Encoding, ListWriter } from "../encodings/encoding.ts";
import { drainInTime, type BodyStream } from "../exchange.ts";
import { headersFor } from "../respond.ts";
import type { HttpService } from "../service.ts";
import type { ResourceRequest } from "./serve-resource.ts";

/** So many bytes of a list are kept; of a longer one only the length is, and it is read again to be sent. */
const maxKeptBytes = 4 * 1024 * 1024;

/**
 * A list in a form that says its length before its content: in constant memory all the same. The second reading is at
 * the revision of the first, so that it has the same bytes.
 */
export async function serveMeasured(
  service: HttpService,
  request: ResourceRequest,
  list: ListOptions,
  encoding: Encoding,
): Promise<void> {
  const { exchange } = request;
  const headers = headersFor(encoding.contentType);
  const writer = encoding.list();
  const measured = await measure(service, request, list, writer);
  const { head, tail } = writer.around!(measured.length);
  if (measured.kept !== undefined) {
    return sendCompressed(exchange, 200, headers, Buffer.concat([head, ...measured.kept, tail]));
  }
  const stream = exchange.stream(200, headers);
  try {
    stream.write(head);
    await sendAgain(service, request, { list, writer, stream }, measured.end);
    stream.write(tail);
    stream.end();
  } catch (error) {
    stream.destroy();
    throw error;
  }
}

interface Measured {
  readonly length: number;
  readonly end: ListEnd;
  /** All bytes, where they are few. */
  readonly kept: readonly Uint8Array[] | undefined;
}

async function measure(
  { engine }: HttpService,
  { target }: ResourceRequest,
  list: ListOptions,
  writer: ListWriter,
): Promise<Measured> {
  const pages = listObjects(engine, target, list);
  let kept: Uint8Array[] | undefined = [];
  let length = 0;
  for (;;) {
    const step = await pages.next();
    const parts = step.done === true ? [writer.end(step.value)] : writer.page(step.value);
    for (const part of parts) length += part.length;
    if (length > maxKeptBytes) kept = undefined;
    else kept?.push(...parts);
    if (step.done === true) return { length, end: step.value, kept };
    await setImmediate();
  }
}

async function sendAgain(
  service: HttpService,
  { target }: ResourceRequest,
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
    for (const part of writer.page(step.value)) stream.write(part);
    await drainInTime(stream, service.clock);
    if (stream.closed) return;
  }
  stream.write(writer.end(end));
}
