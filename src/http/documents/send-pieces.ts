import type { Clock } from "../../base/time/clock.ts";
import { awaitDrain } from "../limits/fair-limiter.ts";
import type { RequestContext } from "../request/context.ts";
import type { BodyStream } from "../transport/body-stream.ts";
import type { HeaderLines } from "../transport/header-lines.ts";

/**
 * Sends a document in pieces, each when the client has read most of those before it.
 *
 * @throws {unknown} the error of the first piece; after it, an error of a piece or a client that stalls also ends the connection.
 */
export async function sendPieces(
  request: RequestContext,
  clock: Clock,
  headers: HeaderLines,
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<void> {
  let stream: BodyStream | undefined;
  try {
    for await (const piece of pieces) {
      stream ??= request.exchange.stream(200, headers);
      stream.write(piece);
      await awaitDrain(clock, request, stream);
      if (stream.closed) return;
    }
    if (stream === undefined) return;
    stream.end();
    await awaitDrain(clock, request, stream);
  } catch (error) {
    stream?.destroy();
    throw error;
  }
}
