import type { AuthenticationResult, Authenticator, Credentials } from "./authenticator.ts";
import { refused as certificateRefusal, type ClientCertificateVerifier } from "./presented-certificate.ts";

/**
 * Authenticates client certificates (spec: conventions 5.1): the common name of the subject is the user name, each organization
 * a group. The certificate must be verified by the TLS handshake, be signed by a CA of `--client-ca-file` (the server may have
 * other CAs for proxies), and be valid at the time of each request. A certificate without a common name is ignored.
 */
export class ClientCertificateAuthenticator implements Authenticator {
  constructor(private readonly certificates: ClientCertificateVerifier) {}

  authenticate(credentials: Credentials): AuthenticationResult | undefined {
    const { certificate, certificateError } = credentials;
    if (certificateError !== undefined && certificateError !== "") throw certificateRefusal(certificateError);
    if (certificate === undefined) return undefined;
    const { commonName: name, organizations } = this.certificates.subjectOf(certificate);
    if (!this.certificates.isTrusted(credentials))
      throw certificateRefusal("it is not signed by a trusted CA (--client-ca-file)");
    if (name === "") return undefined;
    const user = { name, uid: "", groups: organizations, extra: {} };
    return { user, method: "client-certificate", cacheable: false };
  }
}
