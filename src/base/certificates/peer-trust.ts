/** Options of a TLS context by which the certificates of peers are verified. */
export interface PeerTrust {
  readonly ca?: string | Buffer | string[];
  readonly allowPartialTrustChain: true;
}

/**
 * How peers are verified wherever the server speaks TLS. Each certificate of a bundle is a trust anchor, also an intermediate one
 * and that of the peer itself, as in Go; Node alone takes none but self-signed ones. Node before 20.18 does so in any case.
 *
 * @param ca the bundle in PEM; undefined for the authorities that Node comes with.
 */
export function peerTrust(ca: string | Buffer | readonly string[] | undefined): PeerTrust {
  if (ca === undefined) return { allowPartialTrustChain: true };
  return { ca: typeof ca === "string" || Buffer.isBuffer(ca) ? ca : [...ca], allowPartialTrustChain: true };
}
