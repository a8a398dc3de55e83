import { once } from "node:events";
import { createServer, connect, type AddressInfo, type Server, type Socket } from "node:net";

/** Carries the bytes of TCP connections to a port of this machine; can stand still, and refuse. */
export class PausableProxy {
  private readonly pairs = new Set<readonly [Socket, Socket]>();
  private paused = false;

  private constructor(
    private readonly server: Server,
    readonly port: number,
  ) {}

  static async start(targetPort: number): Promise<PausableProxy> {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const proxy = new PausableProxy(server, (server.address() as AddressInfo).port);
    server.on("connection", (client) => proxy.carry(client, connect(targetPort, "127.0.0.1")));
    return proxy;
  }

  /** Nothing is carried any more; what comes waits. */
  pause(): void {
    this.paused = true;
    for (const pair of this.pairs) for (const socket of pair) socket.pause();
  }

  resume(): void {
    this.paused = false;
    for (const pair of this.pairs) for (const socket of pair) socket.resume();
  }

  async close(): Promise<void> {
    for (const pair of this.pairs) for (const socket of pair) socket.destroy();
    this.server.close();
    await once(this.server, "close");
  }

  private carry(client: Socket, target: Socket): void {
    const pair = [client, target] as const;
    this.pairs.add(pair);
    const end = () => {
      this.pairs.delete(pair);
      for (const socket of pair) socket.destroy();
    };
    for (const [from, to] of [pair, [target, client] as const]) {
      from.on("data", (bytes) => to.write(bytes));
      from.once("error", end);
      from.once("close", end);
      if (this.paused) from.pause();
    }
  }
}
