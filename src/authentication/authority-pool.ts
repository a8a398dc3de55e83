import { X509Certificate } from "node:crypto";
import { parsedCertificate } from "../base/certificates/parsed-certificate.ts";
import { versionOf } from "../base/certificates/x509.ts";

/** Maximum number of intermediate certificates in a chain. */
const maxDepth = 8;

/** A CA certificate with its validity (milliseconds since 1970). */
interface Issuer {
  readonly certificate: X509Certificate;
  readonly maySign: boolean;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
}

/**
 * The CAs for one kind of client certificates. The TLS handshake verifies against the CAs of all kinds together; this class
 * finds out whether a certificate is signed by these CAs, and verifies every signature of the chain.
 */
export class AuthorityPool {
  private issuers: readonly Issuer[];
  /** Incremented when the CAs change, to invalidate cached results. */
  generation = 0;

  /** @param pems CA certificates in PEM, one per string. */
  constructor(private pems: readonly string[]) {
    this.issuers = pems.map(parseCa);
  }

  /** The CA certificates in PEM. */
  get certificates(): readonly string[] {
    return this.pems;
  }

  /** Replaces the CAs. Certificates that only the previous CAs signed are no longer trusted. */
  replace(pems: readonly string[]): void {
    this.issuers = pems.map(parseCa);
    this.pems = pems;
    this.generation++;
  }

  /**
   * Whether a certificate is signed by one of the CAs at the given time.
   *
   * @param chain the certificate and the intermediate certificates in DER. The TLS handshake has verified it against all CAs of
   *   the server.
   */
  isTrusted(chain: readonly Buffer[], nowMs: number): boolean {
    const [first, ...further] = chain.slice(0, maxDepth + 1).map((der) => new X509Certificate(der));
    if (first === undefined) return false;
    const listed = this.issuers.some(({ certificate }) => certificate.raw.equals(first.raw));
    return listed || this.hasPathToCa(first, further.map(toIntermediate), nowMs);
  }

  private hasPathToCa(
    certificate: X509Certificate,
    intermediates: readonly Issuer[],
    nowMs: number,
  ): boolean {
    if (this.issuers.some((one) => isSignedBy(one, certificate, nowMs))) return true;
    return intermediates.some(
      (one) =>
        isSignedBy(one, certificate, nowMs) &&
        this.hasPathToCa(
          one.certificate,
          intermediates.filter((other) => other !== one),
          nowMs,
        ),
    );
  }
}

/** Parses a configured CA certificate. An X.509 version 1 certificate has no CA flag and is accepted as CA. */
function parseCa(pem: string): Issuer {
  const certificate = parsedCertificate(pem);
  return toIssuer(certificate, certificate.ca || versionOf(certificate) === 1);
}

/** An intermediate certificate that a client sends; it must have the CA flag. */
function toIntermediate(certificate: X509Certificate): Issuer {
  return toIssuer(certificate, certificate.ca);
}

function toIssuer(certificate: X509Certificate, maySign: boolean): Issuer {
  const { validFrom, validTo } = certificate;
  return { certificate, maySign, notBeforeMs: Date.parse(validFrom), notAfterMs: Date.parse(validTo) };
}

/** Whether a CA that is valid at the given time signed a certificate. */
function isSignedBy(ca: Issuer, certificate: X509Certificate, nowMs: number): boolean {
  if (!ca.maySign || nowMs < ca.notBeforeMs || nowMs > ca.notAfterMs) return false;
  return certificate.checkIssued(ca.certificate) && certificate.verify(ca.certificate.publicKey);
}
