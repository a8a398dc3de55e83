import { X509Certificate } from "node:crypto";
import { versionOf } from "../base/certificates/x509.ts";

/** The most intermediate certificates between a client's and an authority's. */
const maxDepth = 8;

/** A certificate that may have signed others, and when it is valid (milliseconds since 1970). */
interface Issuer {
  readonly certificate: X509Certificate;
  readonly maySign: boolean;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
}

/**
 * Authorities of one sort of clients. TLS knows one set of authorities for all; whom a certificate comes from is found
 * out here, by following its issuers with every signature verified.
 */
export class AuthorityPool {
  private issuers: readonly Issuer[];
  /** Grows when the authorities change: what was found before must be found out again. */
  generation = 0;

  /** @param pems certificates of authorities, one each. */
  constructor(private pems: readonly string[]) {
    this.issuers = pems.map(anchor);
  }

  /** The authorities in PEM. */
  get certificates(): readonly string[] {
    return this.pems;
  }

  /** Takes other authorities; those who come from the old ones alone are no longer known. */
  replace(pems: readonly string[]): void {
    this.issuers = pems.map(anchor);
    this.pems = pems;
    this.generation++;
  }

  /**
   * Whether a certificate comes from one of the authorities, now.
   *
   * @param chain in DER: the certificate, and those that came with it. The handshake has verified it against all
   *   authorities that the server has.
   */
  vouchesFor(chain: readonly Buffer[], nowMs: number): boolean {
    const [first, ...further] = chain.slice(0, maxDepth + 1).map((der) => new X509Certificate(der));
    if (first === undefined) return false;
    const listed = this.issuers.some(({ certificate }) => certificate.raw.equals(first.raw));
    return listed || this.leadsHere(first, further.map(intermediate), nowMs);
  }

  private leadsHere(certificate: X509Certificate, between: readonly Issuer[], nowMs: number): boolean {
    if (this.issuers.some((one) => signed(one, certificate, nowMs))) return true;
    return between.some(
      (one) =>
        signed(one, certificate, nowMs) &&
        this.leadsHere(
          one.certificate,
          between.filter((other) => other !== one),
          nowMs,
        ),
    );
  }
}

/** A certificate that the operator names. One of version 1 can't say whether it is an authority's: that it is named counts. */
function anchor(pem: string): Issuer {
  const certificate = new X509Certificate(pem);
  return issuer(certificate, certificate.ca || versionOf(certificate) === 1);
}

/** A certificate that a client sends along: it must say that it is an authority's. */
function intermediate(certificate: X509Certificate): Issuer {
  return issuer(certificate, certificate.ca);
}

function issuer(certificate: X509Certificate, maySign: boolean): Issuer {
  const { validFrom, validTo } = certificate;
  return { certificate, maySign, notBeforeMs: Date.parse(validFrom), notAfterMs: Date.parse(validTo) };
}

/** Whether an authority, valid now, signed a certificate. */
function signed(by: Issuer, certificate: X509Certificate, nowMs: number): boolean {
  if (!by.maySign || nowMs < by.notBeforeMs || nowMs > by.notAfterMs) return false;
  return certificate.checkIssued(by.certificate) && certificate.verify(by.certificate.publicKey);
}
