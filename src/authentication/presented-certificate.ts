import { X509Certificate } from "node:crypto";
import type { Clock } from "../base/clock.ts";
import type { StatusError } from "../base/status-error.ts";
import { SubjectFault, type SubjectName } from "../base/certificates/subject-name.ts";
import { subjectOf } from "../base/certificates/x509.ts";
import type { AuthorityPool } from "./authority-pool.ts";
import type { Credentials } from "./authenticator.ts";
import { refusal } from "./refusal.ts";

/** Extended key usages that a client certificate may have. */
const clientAuth = "1.3.6.1.5.5.7.3.2";
const anyUsage = "2.5.29.37.0";

/** Whom a certificate names. */
export interface CertificateSubject {
  /** Empty when it has no common name. */
  readonly commonName: string;
  readonly organizations: readonly string[];
}

/** What a certificate says, and from when to when it may be used (milliseconds since 1970). */
interface ReadCertificate {
  readonly subject: CertificateSubject;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  readonly forClients: boolean;
}

/** What was found out about a chain is found out again after this time: authorities expire too. */
const verdictMs = 60_000;

/** Whether a pool vouches for a certificate, found out at a generation of the pool. */
interface Verdict {
  readonly generation: number;
  readonly untilMs: number;
  readonly vouched: boolean;
}

/**
 * Judges the certificates that clients present, by the authorities of one sort of clients. The handshake has verified the
 * chain; here it is seen to, request by request, that the certificate comes from one of these authorities, is valid now
 * and is meant for clients.
 */
export class CertificateJudge {
  /** A certificate is read once a connection. */
  private readonly read = new WeakMap<Buffer, ReadCertificate>();
  private readonly verdicts = new WeakMap<Buffer, Verdict>();

  constructor(
    private readonly authorities: AuthorityPool,
    private readonly clock: Clock,
  ) {}

  /** Whether the client's certificate comes from these authorities. */
  knows({ certificate, certificateChain = [] }: Credentials): boolean {
    if (certificate === undefined) return false;
    const { generation } = this.authorities;
    const before = this.verdicts.get(certificate);
    const now = this.clock.monotonicNow();
    if (before?.generation === generation && now < before.untilMs) return before.vouched;
    const vouched = this.authorities.vouchesFor([certificate, ...certificateChain], this.clock.now());
    this.verdicts.set(certificate, { generation, untilMs: now + verdictMs, vouched });
    return vouched;
  }

  /**
   * Whom a certificate from these authorities names.
   *
   * @throws {StatusError} Unauthorized when it can't be read, isn't valid now or isn't meant for clients.
   */
  subjectOf(certificate: Buffer): CertificateSubject {
    let read = this.read.get(certificate);
    if (read === undefined) {
      read = readCertificate(certificate);
      this.read.set(certificate, read);
    }
    const now = this.clock.now();
    if (now < read.notBeforeMs) throw refused("it is not valid yet");
    if (now > read.notAfterMs) throw refused("it has expired");
    if (!read.forClients) throw refused("its key usage doesn't include client auth");
    return read.subject;
  }
}

function readCertificate(der: Buffer): ReadCertificate {
  const certificate = parse(der);
  const usages: readonly string[] | undefined = certificate.keyUsage;
  const { commonNames, organizations } = nameOf(certificate);
  return {
    subject: { commonName: commonNames.at(-1) ?? "", organizations },
    notBeforeMs: Date.parse(certificate.validFrom),
    notAfterMs: Date.parse(certificate.validTo),
    forClients: usages === undefined || usages.includes(clientAuth) || usages.includes(anyUsage),
  };
}

function parse(der: Buffer): X509Certificate {
  try {
    return new X509Certificate(der);
  } catch {
    throw refused("it can't be read");
  }
}

function nameOf(certificate: X509Certificate): SubjectName {
  try {
    return subjectOf(certificate);
  } catch (error) {
    throw refused(error instanceof SubjectFault ? error.message : "it is not encoded in DER");
  }
}

/** The refusal of a client's certificate. */
export function refused(why: string): StatusError {
  return refusal(`client certificate: ${why}`);
}
