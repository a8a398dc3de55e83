import { X509Certificate } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { Issuer } from "./serving-certificates.ts";
import { encodedAlternativeNames } from "./alternative-names.ts";
import type { RequestedCertificate } from "./certificate-request.ts";
import * as der from "./der.ts";
import { extension, oid, signBody, subjectOf } from "./x509.ts";

/** Bit numbers of the key usage extension, by usage of a certificate request. */
const usageBits: ReadonlyMap<string, number> = new Map([
  ["signing", 0],
  ["digital signature", 0],
  ["content commitment", 1],
  ["key encipherment", 2],
  ["data encipherment", 3],
  ["key agreement", 4],
  ["cert sign", 5],
  ["crl sign", 6],
  ["encipher only", 7],
  ["decipher only", 8],
]);

/** Purposes (OIDs) of the extended key usage extension, by usage of a certificate request. */
const purposes: ReadonlyMap<string, string> = new Map([
  ["any", "2.5.29.37.0"],
  ["server auth", oid.serverAuth],
  ["client auth", oid.clientAuth],
  ["code signing", "1.3.6.1.5.5.7.3.3"],
  ["email protection", "1.3.6.1.5.5.7.3.4"],
  ["s/mime", "1.3.6.1.5.5.7.3.4"],
  ["ipsec end system", "1.3.6.1.5.5.7.3.5"],
  ["ipsec tunnel", "1.3.6.1.5.5.7.3.6"],
  ["ipsec user", "1.3.6.1.5.5.7.3.7"],
  ["timestamping", "1.3.6.1.5.5.7.3.8"],
  ["ocsp signing", "1.3.6.1.5.5.7.3.9"],
  ["microsoft sgc", "1.3.6.1.4.1.311.10.3.3"],
  ["netscape sgc", "2.16.840.1.113730.4.1"],
]);

/** Values of a certificate that the issuer sets. */
export interface IssuedFacts {
  /** Usages as in `spec.usages` of a certificate request; they become the key usage extensions. */
  readonly usages: readonly string[];
  /** Milliseconds since 1970. */
  readonly notBefore: number;
  readonly notAfter: number;
}

/**
 * Issues a certificate (PEM) with the subject, key and subjectAltNames of a request and the given usages. It is never a CA
 * certificate, and other requested extensions are ignored.
 *
 * @throws {Error} if the issuer's key has a type that can't sign certificates.
 */
export function issueRequested(
  { subject, publicKeyInfo, alternativeNames }: RequestedCertificate,
  { usages, notBefore, notAfter }: IssuedFacts,
  issuer: Issuer,
): string {
  const extensions = [extension(oid.basicConstraints, true, der.sequence()), ...usageExtensions(usages)];
  const names = encodedAlternativeNames(alternativeNames);
  if (names !== undefined) {
    // With an empty subject the extension must be critical (RFC 5280, section 4.2.1.6).
    const hasSubject = !subject.equals(der.sequence());
    extensions.push(extension(oid.subjectAltName, !hasSubject, names));
  }
  const body = { subject, publicKeyInfo, notBefore, notAfter, extensions };
  return signBody(body, issuer.key, issuer.certificate);
}

/**
 * Checks that an issued certificate (PEM) authenticates as the user and groups of its request.
 *
 * @returns the error message; undefined for a valid certificate.
 */
export function issuedCertificateFault(
  certificate: string,
  { subjectName }: RequestedCertificate,
): string | undefined {
  try {
    const same = isDeepStrictEqual(subjectOf(new X509Certificate(certificate)), subjectName);
    return same ? undefined : "the certificate would name another subject than the request";
  } catch (error) {
    return `the certificate would not be readable: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function usageExtensions(usages: readonly string[]): Buffer[] {
  const bits = valuesFor(usages, usageBits);
  const ids = valuesFor(usages, purposes);
  return [
    ...(bits.length === 0 ? [] : [extension(oid.keyUsage, true, der.namedBits(...bits))]),
    ...(ids.length === 0
      ? []
      : [extension(oid.extendedKeyUsage, false, der.sequence(...ids.map(der.objectIdentifier)))]),
  ];
}

function valuesFor<T>(usages: readonly string[], table: ReadonlyMap<string, T>): T[] {
  return [...new Set(usages.map((usage) => table.get(usage)).filter((value) => value !== undefined))];
}
