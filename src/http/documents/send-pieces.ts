import type { Clock } from "../../base/clock.ts";
import { drainInTime, type BodyStream } from "../transport/body-stream.ts";
import type { HeaderLines } from "../transport/header-lines.ts";
import type { HttpExchange } from "../transport/http-exchange.ts";

/**
 * Sends a document in pieces, each when the client has read most of those before it.
 *
 * @throws {unknown} the error of the first piece; after it, an error of a piece or a client that stalls also ends the connection.
 */
export async function sendPieces(
  exchange: HttpExchange,
  clock: Clock,
  headers: HeaderLines,
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<void> {
  let stream: BodyStream | undefined;
  try {
    for await (const piece of pieces) {
      stream ??= exchange.stream(200, headers);
      stream.write(piece);
      await drainInTime(stream, clock);
      if (stream.closed) return;
    }
    await stream?.end();
  } catch (error) {
    stream?.destroy();
    throw error;
  }
}
