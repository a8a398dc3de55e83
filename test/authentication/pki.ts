import { createPrivateKey, generateKeyPairSync, sign, X509Certificate } from "node:crypto";
import * as asn1 from "../../src/base/certificates/der.ts";
import { oid, signCertificate, type CertificatePair } from "../../src/base/certificates/x509.ts";
import { createAuthority, issueClientCertificate } from "../../src/base/certificates/serving-certificates.ts";

export type { CertificatePair } from "../../src/base/certificates/x509.ts";

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

/** An authority whose certificate is of X.509 version 1, which has no extensions. */
export function authorityOfVersion1(): CertificatePair {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  const name = asn1.sequence(
    asn1.set(asn1.sequence(asn1.objectIdentifier(oid.commonName), asn1.utf8String("old authority"))),
  );
  const algorithm = asn1.sequence(asn1.objectIdentifier(oid.ecdsaWithSha256));
  const now = Date.now();
  const body = asn1.sequence(
    asn1.unsignedInteger(Buffer.of(7)),
    algorithm,
    name,
    asn1.sequence(asn1.time(now - 60_000), asn1.time(now + 3_600_000)),
    name,
    publicKey.export({ type: "spki", format: "der" }),
  );
  const signature = asn1.bitString(sign("sha256", body, privateKey));
  const certificate = new X509Certificate(asn1.sequence(body, algorithm, signature)).toString();
  return { certificate, key: privateKey.export({ type: "pkcs8", format: "pem" }).toString() };
}

/** DER of a PEM certificate. */
export const der = (pem: string): Buffer => new X509Certificate(pem).raw;
