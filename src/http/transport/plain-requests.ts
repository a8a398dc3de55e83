import type { Server, Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { HandlerGuard } from "./guard.ts";

const text = "This port speaks HTTPS only: begin the URL with https://\n";
const answer = [
  "HTTP/1.0 400 Bad Request",
  "Content-Type: text/plain; charset=utf-8",
  `Content-Length: ${Buffer.byteLength(text)}`,
  "Connection: close",
  "",
  text,
].join("\r\n");

/**
 * Answers plain HTTP on a TLS port with a text that explains the error, instead of closing the connection silently.
 *
 * @param sockets the open connections, as accepted.
 */
export function answerPlainRequests(server: Server, sockets: ReadonlySet<Socket>, guard: HandlerGuard): void {
  guard.on(
    server,
    "tlsClientError",
    (error: NodeJS.ErrnoException, { remoteAddress, remotePort }: TLSSocket) => {
      if (error.code !== "ERR_SSL_HTTP_REQUEST" || remotePort === undefined) return;
      for (const socket of sockets) {
        if (socket.remotePort !== remotePort || socket.remoteAddress !== remoteAddress) continue;
        socket.end(answer);
        return;
      }
    },
  );
}
