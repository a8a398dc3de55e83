import type { IncomingMessage } from "node:http";
import { announcedTrailers, mayTrail, trailersOf } from "../backends/headers.ts";
import type { BodyStream } from "../transport/body-stream.ts";
import type { HttpExchange } from "../transport/http-exchange.ts";
import type { HeaderLines } from "../transport/header-lines.ts";

/**
 * Streams a backend's response with its trailers, as fast as the client reads it. If the response is cut off, the
 * client's connection is too, so that the client can't take it for complete.
 */
export function relayAnswer(
  exchange: HttpExchange,
  answer: IncomingMessage,
  status: number,
  headers: HeaderLines,
): BodyStream {
  const trailing = mayTrail(answer, exchange.method);
  // Announced trailers are announced to the client too.
  const announced = trailing ? announcedTrailers(answer) : "";
  const lines = announced === "" ? headers : [...headers, "trailer", announced];
  const stream = exchange.stream(status, lines, trailing);
  const { guard } = exchange;
  const both = {
    destroy: () => {
      stream.destroy();
      answer.destroy();
    },
  };
  const pass = (chunk: Buffer) => {
    if (stream.write(chunk) || stream.closed) return;
    answer.pause();
    stream.onDrain(() => answer.resume());
  };
  const breakOff = () => {
    if (!answer.complete && !stream.closed) stream.destroy();
  };
  guard.on(answer, "data", pass, both);
  guard.once(answer, "end", () => stream.end(trailersOf(answer)), both);
  guard.on(answer, "error", breakOff, both);
  guard.once(answer, "close", breakOff, both);
  return stream;
}
