import type { TLSSocket } from "node:tls";
import type { Connection } from "./connection.ts";

/** Maximum number of certificates of a client's chain. */
const maxChain = 10;

/** The members of {@link Connection} about the client certificate. */
type Presented = Pick<Connection, "certificate" | "certificateChain" | "certificateError">;

const nothing: Presented = { certificate: undefined, certificateChain: [], certificateError: undefined };

/** A certificate as Node represents it; a root is its own issuer. */
interface ShownCertificate {
  readonly raw?: Buffer;
  readonly issuerCertificate?: ShownCertificate;
}

/** The client certificate if the handshake verified its chain; otherwise the error, if there was a certificate. */
export function presentedBy(socket: TLSSocket): Presented {
  // Bun's sockets have no such method. The socket of an HTTP/2 session is a proxy, so `in` would not find it.
  if (socket.encrypted !== true || typeof socket.getPeerCertificate !== "function") return nothing;
  const { raw } = socket.getPeerCertificate() as ShownCertificate;
  if (raw === undefined) return nothing;
  if (!socket.authorized) {
    return { ...nothing, certificateError: String(socket.authorizationError ?? "not verified") };
  }
  return { certificate: raw, certificateChain: issuersOf(socket), certificateError: undefined };
}

function issuersOf(socket: TLSSocket): Buffer[] {
  const chain: Buffer[] = [];
  let at = socket.getPeerCertificate(true) as ShownCertificate;
  while (chain.length < maxChain) {
    const { issuerCertificate: above } = at;
    if (above?.raw === undefined || above === at) break;
    chain.push(above.raw);
    at = above;
  }
  return chain;
}
