import { sign, X509Certificate } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { Extension, GeneralName } from "@peculiar/asn1-x509";
import type { AlternativeNames } from "./alternative-names.ts";
import { loadAsn1 } from "./asn1.ts";
import type { RequestedCertificate } from "./certificate-request.ts";
import { pemOf } from "./pem.ts";
import type { Issuer } from "./serving-certificates.ts";
import { keyIdentifierOf, namesOf, newSerialNumber, oid, signatureAlgorithm, subjectOf } from "./x509.ts";

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
  const { AsnConvert, x509 } = loadAsn1();
  const issuerNames = namesOf(issuer.certificate);
  const subjectName = AsnConvert.parse(subject, x509.Name);
  const { algorithm, hash } = signatureAlgorithm(issuer.key);
  const signature = AsnConvert.parse(algorithm, x509.AlgorithmIdentifier);
  const body = new x509.TBSCertificate({
    version: x509.Version.v3,
    serialNumber: arrayBufferOf(newSerialNumber()),
    signature,
    issuer: AsnConvert.parse(issuerNames.subject, x509.Name),
    validity: new x509.Validity({ notBefore: new Date(notBefore), notAfter: new Date(notAfter) }),
    subject: subjectName,
    subjectPublicKeyInfo: AsnConvert.parse(publicKeyInfo, x509.SubjectPublicKeyInfo),
    extensions: new x509.Extensions([
      extension(oid.basicConstraints, true, new x509.BasicConstraints()),
      ...usageExtensions(usages),
      // A certificate without a subject is identified by these names alone (RFC 5280, section 4.2.1.6).
      ...alternativeNameExtensions(alternativeNames, subjectName.length === 0),
      ...keyIdentifierExtensions(publicKeyInfo, issuerNames.keyIdentifier),
    ]),
  });
  const signatureValue = arrayBufferOf(sign(hash, Buffer.from(AsnConvert.serialize(body)), issuer.key));
  const certificate = new x509.Certificate({
    tbsCertificate: body,
    signatureAlgorithm: signature,
    signatureValue,
  });
  return pemOf("CERTIFICATE", Buffer.from(AsnConvert.serialize(certificate)));
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

function extension(id: string, critical: boolean, value: object): Extension {
  const { AsnConvert, OctetString, x509 } = loadAsn1();
  return new x509.Extension({
    extnID: id,
    critical,
    extnValue: new OctetString(AsnConvert.serialize(value)),
  });
}

function usageExtensions(usages: readonly string[]): Extension[] {
  const { x509 } = loadAsn1();
  const flags = valuesFor(usages, usageBits).reduce((sum, bit) => sum | (1 << bit), 0);
  const ids = valuesFor(usages, purposes);
  return [
    ...(flags === 0 ? [] : [extension(oid.keyUsage, true, new x509.KeyUsage(flags))]),
    ...(ids.length === 0 ? [] : [extension(oid.extendedKeyUsage, false, new x509.ExtendedKeyUsage(ids))]),
  ];
}

function alternativeNameExtensions(names: AlternativeNames, critical: boolean): Extension[] {
  const { AsnConvert, x509 } = loadAsn1();
  const general: GeneralName[] = [
    ...names.dnsNames.map((dNSName) => new x509.GeneralName({ dNSName })),
    ...names.emails.map((rfc822Name) => new x509.GeneralName({ rfc822Name })),
    ...names.addresses.map((address) => AsnConvert.parse(encodedAddress(address), x509.GeneralName)),
    ...names.uris.map((uri) => new x509.GeneralName({ uniformResourceIdentifier: uri })),
  ];
  return general.length === 0
    ? []
    : [extension(oid.subjectAltName, critical, new x509.SubjectAlternativeName(general))];
}

function keyIdentifierExtensions(publicKeyInfo: Buffer, authority: Buffer | undefined): Extension[] {
  const { x509 } = loadAsn1();
  const own = new x509.SubjectKeyIdentifier(arrayBufferOf(keyIdentifierOf(publicKeyInfo)));
  const list = [extension(oid.subjectKeyIdentifier, false, own)];
  if (authority !== undefined) {
    const keyIdentifier = new x509.KeyIdentifier(arrayBufferOf(authority));
    list.push(
      extension(oid.authorityKeyIdentifier, false, new x509.AuthorityKeyIdentifier({ keyIdentifier })),
    );
  }
  return list;
}

/** An IP address as GeneralName: the library's own type is a text, these are 4 or 16 bytes. */
function encodedAddress(address: Buffer): Buffer {
  return Buffer.concat([Buffer.of(0x87, address.length), address]);
}

function arrayBufferOf(bytes: Uint8Array): ArrayBuffer {
  return Uint8Array.from(bytes).buffer;
}

function valuesFor<T>(usages: readonly string[], table: ReadonlyMap<string, T>): T[] {
  return [...new Set(usages.map((usage) => table.get(usage)).filter((value) => value !== undefined))];
}
