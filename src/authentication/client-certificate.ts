import type { AuthenticationResult, Authenticator, Credentials } from "./authenticator.ts";
import { refused, type CertificateJudge } from "./presented-certificate.ts";

/**
 * Recognizes client certificates (spec: conventions 5.1): the subject's common name is the user, each organization a
 * group. It insists that the handshake verified the chain, that the certificate comes from the authorities of
 * `--client-ca-file` (there may be others, of proxies), and, request by request, that it is still valid. A certificate
 * without a common name says nothing.
 */
export class ClientCertificateAuthenticator implements Authenticator {
  constructor(private readonly judge: CertificateJudge) {}

  authenticate(credentials: Credentials): AuthenticationResult | undefined {
    const { certificate, certificateError } = credentials;
    if (certificateError !== undefined && certificateError !== "") throw refused(certificateError);
    if (certificate === undefined) return undefined;
    const { commonName: name, organizations } = this.judge.subjectOf(certificate);
    if (!this.judge.knows(credentials)) throw refused("it comes from no authority of clients");
    if (name === "") return undefined;
    const user = { name, uid: "", groups: organizations, extra: {} };
    return { user, method: "client-certificate", cacheable: false };
  }
}
