import { X509Certificate } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { AlternativeNames } from "./alternative-names.ts";
import type { RequestedCertificate } from "./certificate-request.ts";
import type { Issuer } from "./serving-certificates.ts";
import * as der from "./der.ts";
import { extension, oid, signBody, subjectOf } from "./x509.ts";

/** Bit numbers of the key usage extension, by the usages of certificate requests. */
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

/** Purposes of the extended key usage extension, by the usages of certificate requests. */
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

/** Usages and validity of a certificate, which the issuer decides. */
export interface IssuedFacts {
  /** Usages as certificate requests name them; they become the key usage extensions. */
  readonly usages: readonly string[];
  /** Milliseconds since 1970. */
  readonly notBefore: number;
  readonly notAfter: number;
}

/**
 * Issues the certificate for a request: its subject, key and subjectAltNames, with the usages of `facts`. The certificate is
 * never a CA certificate and has no other extension of the request.
 *
 * @returns the certificate as PEM
 * @throws {Error} if the issuer's key can't sign certificates
 */
export function issueRequested(
  { subject, publicKeyInfo, alternativeNames }: RequestedCertificate,
  { usages, notBefore, notAfter }: IssuedFacts,
  issuer: Issuer,
): string {
  const extensions = [
    extension(oid.basicConstraints, true, der.sequence()),
    ...usageExtensions(usages),
    // A certificate without a subject is identified by these names alone (RFC 5280, section 4.2.1.6).
    ...alternativeNameExtensions(alternativeNames, subject.equals(der.sequence())),
  ];
  return signBody(
    { subject, publicKeyInfo, notBefore, notAfter, extensions },
    issuer.key,
    issuer.certificate,
  );
}

/**
 * Checks a certificate (PEM) that was issued for a request: authentication must read the same user and groups from it as from
 * the request.
 *
 * @returns the error; undefined if the certificate is correct
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
  const ids = valuesFor(usages, purposes).map(der.objectIdentifier);
  return [
    ...(bits.length === 0 ? [] : [extension(oid.keyUsage, true, der.namedBits(...bits))]),
    ...(ids.length === 0 ? [] : [extension(oid.extendedKeyUsage, false, der.sequence(...ids))]),
  ];
}

/** Encodes the names as GeneralNames: texts of ASCII characters, and addresses of 4 or 16 bytes. */
function alternativeNameExtensions(names: AlternativeNames, critical: boolean): Buffer[] {
  const texts = (tag: number, list: readonly string[]) =>
    list.map((text) => der.element(tag, Buffer.from(text, "latin1")));
  const general = [
    ...texts(0x82, names.dnsNames),
    ...texts(0x81, names.emails),
    ...names.addresses.map((address) => der.element(0x87, address)),
    ...texts(0x86, names.uris),
  ];
  return general.length === 0 ? [] : [extension(oid.subjectAltName, critical, der.sequence(...general))];
}

function valuesFor<T>(usages: readonly string[], table: ReadonlyMap<string, T>): T[] {
  return [...new Set(usages.map((usage) => table.get(usage)).filter((value) => value !== undefined))];
}
