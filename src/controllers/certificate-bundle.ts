import { X509Certificate } from "node:crypto";
import { certificatesIn } from "../base/pem.ts";

/**
 * The certificates of a published text and a server's own, each once: what other servers over the same store have published
 * stays, but for what has expired or isn't a certificate.
 *
 * @param nowMs milliseconds since 1970.
 */
export function joinedCertificates(published: string, own: readonly string[], nowMs: number): string {
  const blocks = certificatesIn(published);
  const all = [...blocks, ...own].map((pem) => pem.trim()).filter((pem) => isValid(pem, nowMs));
  return [...new Set(all)].map((pem) => `${pem}\n`).join("");
}

/** What somebody else wrote there may be anything. */
function isValid(pem: string, nowMs: number): boolean {
  try {
    return Date.parse(new X509Certificate(pem).validTo) > nowMs;
  } catch {
    return false;
  }
}
