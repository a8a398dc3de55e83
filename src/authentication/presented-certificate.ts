import { X509Certificate } from "node:crypto";
import type { Clock } from "../base/time/clock.ts";
import type { StatusError } from "../base/status-error.ts";
import { SubjectFault, type SubjectName } from "../base/certificates/subject-name.ts";
import { subjectOf } from "../base/certificates/x509.ts";
import type { AuthorityPool } from "./authority-pool.ts";
import type { Credentials } from "./authenticator.ts";
import { refusal } from "./refusal.ts";

/** Extended key usages that a client certificate may have. */
const clientAuth = "1.3.6.1.5.5.7.3.2";
const anyUsage = "2.5.29.37.0";

/** The subject of a client certificate. */
export interface CertificateSubject {
  /** Empty if the subject has no common name. */
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly uids: readonly string[];
}

/** The subject of a certificate that is valid now. */
interface ValidSubject {
  readonly subject: CertificateSubject;
  readonly remainingSeconds: number;
}

/** A parsed certificate with its validity (milliseconds since 1970). */
interface ParsedCertificate {
  readonly subject: CertificateSubject;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  readonly hasClientUsage: boolean;
}

/** How long the result of verifying a chain is cached; CAs may expire. */
const trustCacheMs = 60_000;

/** Cached result of verifying a chain with a generation of the pool. `untilMs` is monotonic. */
interface CachedTrust {
  readonly generation: number;
  readonly untilMs: number;
  readonly trusted: boolean;
}

/**
 * Verifies client certificates with the CAs of one kind of clients. The TLS handshake has verified the chain with all CAs; this
 * class checks at each request that the certificate is signed by one of these CAs, is valid now, and is for client
 * authentication.
 */
export class ClientCertificateVerifier {
  /** Parsed certificates; each connection has one Buffer. */
  private readonly parsedCertificates = new WeakMap<Buffer, ParsedCertificate>();
  private readonly trustCache = new WeakMap<Buffer, CachedTrust>();

  constructor(
    private readonly authorities: AuthorityPool,
    private readonly clock: Clock,
  ) {}

  /** Whether the client certificate is signed by one of these CAs. */
  isTrusted({ certificate, certificateChain = [] }: Credentials): boolean {
    if (certificate === undefined) return false;
    const { generation } = this.authorities;
    const cached = this.trustCache.get(certificate);
    const now = this.clock.monotonicNow();
    if (cached?.generation === generation && now < cached.untilMs) return cached.trusted;
    const trusted = this.authorities.isTrusted([certificate, ...certificateChain], this.clock.now());
    this.trustCache.set(certificate, { generation, untilMs: now + trustCacheMs, trusted: trusted });
    return trusted;
  }

  /**
   * Returns the subject of a certificate that is signed by one of these CAs.
   *
   * @throws {StatusError} Unauthorized if it is malformed, not valid now, or not for client authentication.
   */
  subjectOf(certificate: Buffer): CertificateSubject {
    return this.validSubjectOf(certificate).subject;
  }

  /** As {@link subjectOf}, with the remaining lifetime of the certificate. */
  validSubjectOf(certificate: Buffer): ValidSubject {
    let parsed = this.parsedCertificates.get(certificate);
    if (parsed === undefined) {
      parsed = parseCertificate(certificate);
      this.parsedCertificates.set(certificate, parsed);
    }
    const now = this.clock.now();
    if (now < parsed.notBeforeMs) throw refused("it is not valid yet");
    if (now > parsed.notAfterMs) throw refused("it has expired");
    if (!parsed.hasClientUsage) throw refused("its extended key usage doesn't include client auth");
    return { subject: parsed.subject, remainingSeconds: (parsed.notAfterMs - now) / 1000 };
  }
}

function parseCertificate(der: Buffer): ParsedCertificate {
  const certificate = parse(der);
  const usages: readonly string[] | undefined = certificate.keyUsage;
  const { commonNames, organizations, uids } = parseSubject(certificate);
  return {
    subject: { commonName: commonNames.at(-1) ?? "", organizations, uids },
    notBeforeMs: Date.parse(certificate.validFrom),
    notAfterMs: Date.parse(certificate.validTo),
    hasClientUsage: usages === undefined || usages.includes(clientAuth) || usages.includes(anyUsage),
  };
}

function parse(der: Buffer): X509Certificate {
  try {
    return new X509Certificate(der);
  } catch {
    throw refused("it is malformed");
  }
}

function parseSubject(certificate: X509Certificate): SubjectName {
  try {
    return subjectOf(certificate);
  } catch (error) {
    throw refused(error instanceof SubjectFault ? error.message : "it is not encoded in DER");
  }
}

/** Returns the error for an invalid client certificate. */
export function refused(reason: string): StatusError {
  return refusal(`client certificate: ${reason}`);
}
