import { CertificateFault, createServingCertificates } from "../../base/certificates/serving-certificates.ts";

/** A certificate for a service of a test, such as a webhook, and the CA that signed it. All are PEM texts. */
export interface TestCertificate {
  readonly cert: string;
  readonly key: string;
  /** Certificate of the CA, for `ca` of a client; in base64 for `caBundle` of a webhook configuration. */
  readonly ca: string;
}

/**
 * Creates a CA and a serving certificate for a service of a test, such as an admission webhook. It is valid for a year.
 *
 * @param hosts names and IP addresses of the service; for a service inside of a cluster `NAME.NAMESPACE.svc`.
 * @throws {TypeError} if there is no host, or one is neither a DNS name nor an IP address.
 *
 * @example
 * const { cert, key, ca } = createTestCertificate(["127.0.0.1"]);
 * const webhook = https.createServer({ cert, key }, handler);
 */
export function createTestCertificate(hosts: readonly string[]): TestCertificate {
  try {
    const { serving, caCertificate } = createServingCertificates(hosts);
    return { cert: serving.certificate, key: serving.key, ca: caCertificate };
  } catch (error) {
    if (error instanceof CertificateFault) throw new TypeError(error.message, { cause: error });
    throw error;
  }
}
