import { parsedCertificate } from "../base/certificates/parsed-certificate.ts";
import { certificatesIn } from "../base/certificates/pem.ts";

/**
 * Merges the certificates that are already published with those of this server, without duplicates. Certificates of
 * other servers over the same store remain until they expire; text that isn't a certificate is dropped.
 *
 * @param published PEM, as found in the ConfigMap.
 * @param own PEM of this server's certificates.
 * @param nowMs milliseconds since 1970.
 * @returns PEM.
 */
export function mergeCertificates(published: string, own: readonly string[], nowMs: number): string {
  const blocks = certificatesIn(published);
  const all = [...blocks, ...own].map((pem) => pem.trim()).filter((pem) => isValid(pem, nowMs));
  return [...new Set(all)].map((pem) => `${pem}\n`).join("");
}

/** Returns false for an expired certificate and for text that can't be parsed, because other clients can write it. */
function isValid(pem: string, nowMs: number): boolean {
  try {
    return Date.parse(parsedCertificate(pem).validTo) > nowMs;
  } catch {
    return false;
  }
}
