import { X509Certificate } from "node:crypto";
import { RecentMap } from "../collections/recent-map.ts";
import { readElements } from "./der.ts";

/** The certificates that servers of this process use are few, and each is parsed at several places. */
const recent = new RecentMap<X509Certificate>({ entries: 64, cost: 0 });
/** Longer texts are not cached. */
const maxCachedLength = 8192;

/**
 * Parses a certificate in PEM; recently parsed ones are cached.
 *
 * @throws if the text is not a certificate.
 */
export function parsedCertificate(pem: string): X509Certificate {
  const cached = recent.get(pem);
  if (cached !== undefined) return cached;
  const certificate = new X509Certificate(pem);
  if (pem.length <= maxCachedLength) recent.set(pem, certificate);
  return certificate;
}

/** Parses one certificate in DER. @returns undefined if the bytes aren't exactly one: OpenSSL also reads PEM, and ignores bytes after a certificate. */
export function certificateOf(der: Buffer | undefined): X509Certificate | undefined {
  if (der === undefined) return undefined;
  try {
    return readElements(der).length === 1 ? new X509Certificate(der) : undefined;
  } catch {
    return undefined;
  }
}
