import type { IncomingMessage } from "node:http";
import { detach } from "../../base/maybe-promise.ts";
import { mayTrail, trailersOf } from "./headers.ts";
import type { BodyStream, Exchange, HeaderLines } from "../exchange.ts";

/**
 * Hands a backend's answer on as it comes, no faster than the client takes it, with what follows its body. An answer that breaks off midway breaks
 * the client's connection off too, so that it can't be mistaken for a whole one.
 */
export function relayAnswer(
  exchange: Exchange,
  answer: IncomingMessage,
  status: number,
  headers: HeaderLines,
): BodyStream {
  const trailing = mayTrail(answer, exchange.method);
  // What the trailers will be is of use to the client too.
  const { trailer } = answer.headers;
  const lines = trailing && trailer !== undefined ? [...headers, "trailer", trailer] : headers;
  const stream = exchange.stream(status, lines, trailing);
  answer.on("data", (chunk: Buffer) => {
    if (stream.write(chunk) || stream.closed) return;
    answer.pause();
    stream.drained().then(
      () => answer.resume(),
      () => stream.destroy(),
    );
  });
  answer.once("end", () => detach(stream.end(trailersOf(answer)), () => stream.destroy()));
  const breakOff = () => {
    if (!answer.complete && !stream.closed) stream.destroy();
  };
  answer.on("error", breakOff);
  answer.once("close", breakOff);
  return stream;
}
