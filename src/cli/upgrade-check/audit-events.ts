import { createReadStream } from "node:fs";
import { createGunzip } from "node:zlib";
import { whyUnreadable } from "../../base/files/unreadable.ts";
import { decodeJson } from "../../base/json/decode.ts";
import { SyntaxFault } from "../../base/json/syntax-fault.ts";
import { isObject, type JsonObject, type JsonValue } from "../../base/json/value.ts";
import { ClientError } from "../client/client-error.ts";

/** Longest line that is read, in bytes; a server writes objects of 8 MiB at most. */
const maxLineBytes = 32 * 1024 * 1024;
/** Lines without an event that have a message of their own. */
const maxMessages = 10;
const lineFeed = 0x0a;

/**
 * Reads the events of an audit log: JSON, one event or list of events in a line; a file that ends in `.gz` is decompressed. A line that is
 * no event is left out.
 *
 * @param warn called with a message for each of the first lines that are left out, which names the line, and with the number of the others.
 * @throws {ClientError} if the file can't be read.
 */
export async function* auditEvents(file: string, warn: (text: string) => void): AsyncGenerator<JsonObject> {
  let number = 0;
  let unusable = 0;
  for await (const line of linesOf(file)) {
    number++;
    const events = line === undefined ? "it is too long" : eventsIn(line);
    if (typeof events !== "string") yield* events;
    else if (++unusable <= maxMessages) warn(`${file}:${number}: the line is left out: ${events}`);
  }
  if (unusable > maxMessages) warn(`${file}: ${unusable - maxMessages} more lines are left out`);
}

/** Returns the events of a line, or why it has none. */
function eventsIn(line: Buffer): readonly JsonObject[] | string {
  if (line.length === 0) return [];
  let value: JsonValue;
  try {
    ({ value } = decodeJson(line));
  } catch (error) {
    if (error instanceof SyntaxFault) return `it is not JSON: ${error.problem}`;
    throw error;
  }
  if (!isObject(value)) return "it is not an audit event";
  const { kind, items } = value;
  if (kind === "Event") return [value];
  return kind === "EventList" && Array.isArray(items)
    ? items.filter((item) => isObject(item))
    : "it is not an audit event";
}

/** Reads lines; undefined for one that is too long. */
async function* linesOf(file: string): AsyncGenerator<Buffer | undefined> {
  let parts: Buffer[] = [];
  let length = 0;
  const take = (part: Buffer): void => {
    length += part.length;
    if (length <= maxLineBytes) parts.push(part);
    else parts = [];
  };
  const line = (): Buffer | undefined => {
    const whole = length <= maxLineBytes ? Buffer.concat(parts) : undefined;
    parts = [];
    length = 0;
    return whole;
  };
  for await (const chunk of chunksOf(file)) {
    let start = 0;
    for (let end = chunk.indexOf(lineFeed); end !== -1; end = chunk.indexOf(lineFeed, start)) {
      take(chunk.subarray(start, end));
      yield line();
      start = end + 1;
    }
    take(chunk.subarray(start));
  }
  if (length > 0) yield line();
}

async function* chunksOf(file: string): AsyncGenerator<Buffer> {
  const source = createReadStream(file);
  const stream = file.endsWith(".gz") ? source.pipe(createGunzip()) : source;
  // An error of the file doesn't reach the stream behind it.
  if (stream !== source) source.on("error", (error) => stream.destroy(error));
  try {
    yield* stream as AsyncIterable<Buffer>;
  } catch (error) {
    throw new ClientError(`--audit-log: ${file}: ${whyUnreadable(error)}`);
  } finally {
    source.destroy();
  }
}
