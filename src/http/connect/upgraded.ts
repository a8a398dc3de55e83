import type { Duplex } from "node:stream";
import type { Timer } from "../../base/time/clock.ts";
import type { HttpService } from "../service.ts";

/** Time for which the other direction continues after one side has ended. */
const halfOpenMs = 10_000;
/** Interval of TCP keep-alive probes for silent peers. */
const keepAliveMs = 30_000;

/**
 * Relays the bytes of an upgraded connection in both directions, until either side ends it or the server stops. Each
 * side is read only as fast as the other one accepts data. Idle connections are allowed.
 */
export function relayBytes({ clock, streams, guard }: HttpService, client: Duplex, backend: Duplex): void {
  const open = { close: () => end() };
  let halfOpen: Timer | undefined;
  const endSoon = () => (halfOpen ??= clock.setTimer(end, halfOpenMs));
  const end = () => {
    halfOpen?.cancel();
    streams.delete(open);
    client.destroy();
    backend.destroy();
  };
  const both = { destroy: end };
  const join = (side: Duplex, other: Duplex) => {
    const leaves = () => {
      if (other.destroyed || other.writableLength === 0) return end();
      // Data that this side sent before is still delivered.
      endSoon();
      other.end(guard.wrap("finish", end, both));
    };
    keepAlive(side);
    guard.once(side, "error", end, both);
    guard.once(side, "end", endSoon, both);
    guard.once(side, "close", leaves, both);
    side.pipe(other);
  };
  join(client, backend);
  join(backend, client);
  streams.add(open);
  if (client.destroyed || backend.destroyed) end();
}

function keepAlive(side: Duplex): void {
  const { setKeepAlive } = side as { setKeepAlive?: (on: boolean, afterMs: number) => void };
  setKeepAlive?.call(side, true, keepAliveMs);
}
