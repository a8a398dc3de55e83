import type { Duplex } from "node:stream";
import type { Timer } from "../../base/clock.ts";
import type { HttpService } from "../service.ts";

/** When one side has said all it has to say, the other may go on for this long. */
const halfOpenMs = 10_000;
/** How often the machine makes sure that a silent peer is still there. */
const keepAliveMs = 30_000;

/**
 * Carries the bytes of a connection that has left HTTP, both ways, until either side ends it or the server stops. Each
 * side is read only as fast as the other takes it. Silence is allowed.
 */
export function relayBytes({ clock, streams }: HttpService, client: Duplex, backend: Duplex): void {
  const open = { close: () => end() };
  let halfOpen: Timer | undefined;
  const end = () => {
    halfOpen?.cancel();
    streams.delete(open);
    client.destroy();
    backend.destroy();
  };
  for (const side of [client, backend]) {
    keepAlive(side);
    side.once("error", end);
    side.once("close", end);
    side.once("end", () => (halfOpen ??= clock.setTimer(end, halfOpenMs)));
  }
  client.pipe(backend);
  backend.pipe(client);
  streams.add(open);
}

function keepAlive(side: Duplex): void {
  const { setKeepAlive } = side as { setKeepAlive?: (on: boolean, afterMs: number) => void };
  setKeepAlive?.call(side, true, keepAliveMs);
}
