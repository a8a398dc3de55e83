/** Options of a TLS context for the verification of peer certificates. */
export interface PeerTrust {
  readonly ca?: string | Buffer | string[];
  readonly allowPartialTrustChain: true;
}

/**
 * Returns the options for peer verification; all TLS connections of the server use them. Each certificate of a bundle is a trust
 * anchor, also an intermediate certificate or the peer's own, as in Go. By default Node accepts only self-signed certificates as
 * trust anchors; Node before 20.18 always does.
 *
 * @param ca the bundle in PEM; undefined for Node's built-in CA certificates.
 */
export function peerTrust(ca: string | Buffer | readonly string[] | undefined): PeerTrust {
  if (ca === undefined) return { allowPartialTrustChain: true };
  return { ca: typeof ca === "string" || Buffer.isBuffer(ca) ? ca : [...ca], allowPartialTrustChain: true };
}
