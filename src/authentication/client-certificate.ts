import { createHash } from "node:crypto";
import type { UserInfo } from "../base/user-info.ts";
import type { AuthenticationResult, Authenticator, Credentials } from "./authenticator.ts";
import { refused as certificateRefusal, type ClientCertificateVerifier } from "./presented-certificate.ts";

/** What the release adds to users of client certificates, and who observes them. */
export interface CertificateFeatures {
  /** Key in the user's `extra` for the identifier of the certificate; undefined: there is none. */
  readonly credentialIdKey?: string | undefined;
  /** Whether the subject may have the user's unique identifier. */
  readonly readsUid?: boolean;
  /** Receives the remaining lifetime in seconds of each certificate that authenticates. */
  readonly expires?: (seconds: number) => void;
}

/**
 * Authenticates client certificates (spec: conventions 5.1): the common name of the subject is the user name, each organization
 * a group. The certificate must be verified by the TLS handshake, be signed by a CA of `--client-ca-file` (the server may have
 * other CAs for proxies), and be valid at the time of each request. A certificate without a common name is ignored.
 */
export class ClientCertificateAuthenticator implements Authenticator {
  /** Identifiers of certificates; each connection has one Buffer. */
  private readonly credentialIds = new WeakMap<Buffer, string>();

  constructor(
    private readonly certificates: ClientCertificateVerifier,
    private readonly features: CertificateFeatures = {},
  ) {}

  authenticate(credentials: Credentials): AuthenticationResult | undefined {
    const { certificate, certificateError } = credentials;
    if (certificateError !== undefined && certificateError !== "") throw certificateRefusal(certificateError);
    if (certificate === undefined) return undefined;
    const { subject, remainingSeconds } = this.certificates.validSubjectOf(certificate);
    if (!this.certificates.isTrusted(credentials))
      throw certificateRefusal("it is not signed by a trusted CA (--client-ca-file)");
    const { commonName: name, organizations, uids } = subject;
    if (name === "") return undefined;
    this.features.expires?.(remainingSeconds);
    const uid = this.features.readsUid === true ? onlyUid(uids) : "";
    const user = { name, uid, groups: organizations, extra: this.extraOf(certificate) };
    return { user, method: "client-certificate", cacheable: false };
  }

  private extraOf(certificate: Buffer): UserInfo["extra"] {
    const { credentialIdKey } = this.features;
    if (credentialIdKey === undefined) return {};
    let id = this.credentialIds.get(certificate);
    if (id === undefined) {
      id = `X509SHA256=${createHash("sha256").update(certificate).digest("hex")}`;
      this.credentialIds.set(certificate, id);
    }
    return { [credentialIdKey]: [id] };
  }
}

/** Returns the unique identifier of a subject; empty if it has none. */
function onlyUid(uids: readonly string[]): string {
  const [uid] = uids;
  if (uid === undefined) return "";
  if (uids.length > 1) throw certificateRefusal("its subject has several unique identifiers of the user");
  if (uid === "") throw certificateRefusal("the unique identifier of the user in its subject is empty");
  return uid;
}
