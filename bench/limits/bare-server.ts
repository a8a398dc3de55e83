import { createServer } from "node:https";
import type { IncomingMessage, RequestListener } from "node:http";
import type { AddressInfo } from "node:net";

/** The certificate of a limit server. */
export interface Tls {
  readonly cert: string;
  readonly key: string;
  /** PEM of the CAs for client certificates; undefined if they aren't requested. */
  readonly clientCa?: string | undefined;
}

/** Opens a node:https server with this handler; returns its port. */
export function listen({ cert, key, clientCa }: Tls, handle: RequestListener): Promise<number> {
  const clients =
    clientCa === undefined ? {} : { requestCert: true, rejectUnauthorized: false, ca: clientCa };
  const server = createServer({ cert, key, ...clients, keepAliveTimeout: 120_000, noDelay: true }, handle);
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });
}

/** Reads a request's body and calls `use` with its JSON. */
export function readJson(request: IncomingMessage, use: (value: unknown) => void): void {
  const parts: Buffer[] = [];
  request.on("data", (part: Buffer) => parts.push(part));
  request.once("end", () => {
    const bytes = parts.length === 1 ? parts[0]! : Buffer.concat(parts);
    use(JSON.parse(bytes.toString("utf8")));
  });
}

/** Headers as the product sends them. */
export function headersFor(body: Buffer): string[] {
  return [
    "Content-Type",
    "application/json",
    "Cache-Control",
    "no-cache, private",
    "Content-Length",
    String(body.length),
  ];
}
