import { X509Certificate } from "node:crypto";
import type { Clock } from "../base/clock.ts";
import type { StatusError } from "../base/status-error.ts";
import type { AuthenticationResult, Authenticator, Credentials } from "./authenticator.ts";
import { refusal } from "./refusal.ts";

/** Extended key usages that let a certificate stand for a client. */
const clientAuth = "1.3.6.1.5.5.7.3.2";
const anyUsage = "2.5.29.37.0";

/** What a certificate says, and from when to when it may be used (milliseconds since 1970). */
interface ReadCertificate {
  readonly result: AuthenticationResult | undefined;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  readonly forClients: boolean;
}

/**
 * Recognizes client certificates (spec: conventions 5.1): the subject's common name is the user, each organization a
 * group. The TLS handshake has verified the chain with the authorities of `--client-ca-file`; this method insists on
 * that, that the certificate is meant for clients, and, request by request, that it is still valid. A certificate
 * without a common name says nothing.
 */
export class ClientCertificateAuthenticator implements Authenticator {
  /** A certificate is read once a connection. */
  private readonly read = new WeakMap<Buffer, ReadCertificate>();

  constructor(private readonly clock: Clock) {}

  authenticate({ certificate, certificateError }: Credentials): AuthenticationResult | undefined {
    if (certificateError !== undefined && certificateError !== "") throw refused(certificateError);
    if (certificate === undefined) return undefined;
    let read = this.read.get(certificate);
    if (read === undefined) {
      read = readCertificate(certificate);
      this.read.set(certificate, read);
    }
    const now = this.clock.now();
    if (now < read.notBeforeMs) throw refused("it is not valid yet");
    if (now > read.notAfterMs) throw refused("it has expired");
    if (!read.forClients) throw refused("its key usage doesn't include client auth");
    return read.result;
  }
}

function readCertificate(der: Buffer): ReadCertificate {
  const certificate = parse(der);
  const usages: readonly string[] | undefined = certificate.keyUsage;
  return {
    result: subjectUser(certificate),
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

function subjectUser(certificate: X509Certificate): AuthenticationResult | undefined {
  const { subject } = certificate.toLegacyObject();
  const name = valuesOf(subject?.CN).at(-1) ?? "";
  if (name === "") return undefined;
  const user = { name, uid: "", groups: valuesOf(subject?.O), extra: {} };
  return { user, method: "client-certificate", cacheable: false };
}

/** The values of a subject's attribute, of which there may be none, one or several. */
function valuesOf(attribute: string | string[] | undefined): string[] {
  if (attribute === undefined) return [];
  return Array.isArray(attribute) ? attribute : [attribute];
}

function refused(why: string): StatusError {
  return refusal(`client certificate: ${why}`);
}
