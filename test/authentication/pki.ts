import { createPrivateKey, generateKeyPairSync, X509Certificate } from "node:crypto";
import { signCertificate, type CertificatePair } from "../../src/base/x509.ts";
import { createAuthority, issueClientCertificate } from "../../src/base/certificates.ts";

export type { CertificatePair } from "../../src/base/x509.ts";

/** An authority of its own. */
export const authority = (): CertificatePair => createAuthority();

/** A client's certificate by an authority. */
export const client = (
  ca: CertificatePair,
  commonName: string,
  ...organizations: readonly string[]
): CertificatePair => issueClientCertificate(ca, { commonName, organizations, days: 1 });

/** An authority below another one. */
export function intermediate(
  ca: CertificatePair,
  commonName: string,
  use: "authority" | "client" = "authority",
): CertificatePair {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  const now = Date.now();
  const facts = { commonName, use, notBefore: now - 60_000, notAfter: now + 3_600_000 };
  const certificate = signCertificate(
    facts,
    publicKey,
    createPrivateKey(ca.key),
    new X509Certificate(ca.certificate),
  );
  return { certificate, key: privateKey.export({ type: "pkcs8", format: "pem" }).toString() };
}

/** DER of a PEM certificate. */
export const der = (pem: string): Buffer => new X509Certificate(pem).raw;
