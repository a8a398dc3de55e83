import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";

/** A backend that answers each connection's first request with bytes of the test's choice, and then ends it. */
export class RawBackend {
  private readonly sockets = new Set<Socket>();
  private constructor(private readonly server: Server) {}

  /** @param answer the bytes for a request, by its path. */
  static async start(
    answer: (path: string) => string,
    tls?: { readonly cert: string; readonly key: string },
  ): Promise<RawBackend> {
    const serve = (socket: Socket) => {
      let head = "";
      const take = (chunk: Buffer) => {
        head += chunk.toString("latin1");
        if (!head.includes("\r\n\r\n")) return;
        socket.off("data", take);
        socket.resume();
        socket.end(Buffer.from(answer(head.split(" ", 2)[1]!), "latin1"));
      };
      backend.sockets.add(socket);
      socket.on("error", () => socket.destroy());
      socket.once("close", () => backend.sockets.delete(socket));
      socket.on("data", take);
    };
    const backend = new RawBackend(tls === undefined ? createTcpServer(serve) : createTlsServer(tls, serve));
    backend.server.on("tlsClientError", () => undefined);
    await new Promise<void>((resolve) => backend.server.listen(0, "127.0.0.1", resolve));
    return backend;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }
}
