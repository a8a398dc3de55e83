import { type KeyObject, X509Certificate, createHash, randomBytes, sign } from "node:crypto";
import * as der from "./der.ts";
import { addressBytes, isAddress } from "../network/ip-address.ts";
import { certificatesIn, pemOf } from "./pem.ts";
import { readSubject, type SubjectName } from "./subject-name.ts";

/*
 * Encodes and signs certificates with node:crypto alone. A server creates only a few certificates for itself, and loading a library for
 * them would take 150 ms instead of 2 ms.
 */

/** A certificate with its private key, both PEM; further certificates may follow the first. */
export interface CertificatePair {
  readonly certificate: string;
  readonly key: string;
}

/** The content of a certificate for a server, a client or a CA. */
export interface CertificateFacts {
  readonly commonName: string;
  readonly organizations?: readonly string[];
  /** Host names and IP addresses of a server. */
  readonly hosts?: readonly string[];
  readonly use: "authority" | "server" | "client";
  /** Milliseconds since 1970. */
  readonly notBefore: number;
  readonly notAfter: number;
}

/** Object identifiers of attributes, extensions, purposes and algorithms of certificates. */
export const oid = {
  commonName: "2.5.4.3",
  organization: "2.5.4.10",
  subjectKeyIdentifier: "2.5.29.14",
  keyUsage: "2.5.29.15",
  subjectAltName: "2.5.29.17",
  basicConstraints: "2.5.29.19",
  authorityKeyIdentifier: "2.5.29.35",
  extendedKeyUsage: "2.5.29.37",
  serverAuth: "1.3.6.1.5.5.7.3.1",
  clientAuth: "1.3.6.1.5.5.7.3.2",
  ecdsaWithSha256: "1.2.840.10045.4.3.2",
  rsaWithSha256: "1.2.840.113549.1.1.11",
  ed25519: "1.3.101.112",
} as const;

/** Bit numbers of the key usage extension. */
const usage = { digitalSignature: 0, keyCertSign: 5, crlSign: 6 } as const;

/**
 * Signs a certificate (PEM) for a public key. Without an issuer it is self-signed with `signingKey`, which must then be
 * the private key of `publicKey`.
 */
export function signCertificate(
  facts: CertificateFacts,
  publicKey: KeyObject,
  signingKey: KeyObject,
  issuer?: X509Certificate,
): string {
  const publicKeyInfo = publicKey.export({ type: "spki", format: "der" });
  const { notBefore, notAfter } = facts;
  const body = { subject: encodeName(facts), publicKeyInfo, notBefore, notAfter };
  return signBody({ ...body, extensions: extensions(facts) }, signingKey, issuer);
}

/** The content of a certificate, with its parts in DER. */
export interface CertificateBody {
  readonly subject: Buffer;
  /** The public key with its algorithm (SubjectPublicKeyInfo). */
  readonly publicKeyInfo: Buffer;
  /** Milliseconds since 1970. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** Without the key identifiers, which {@link signBody} adds. */
  readonly extensions: readonly Buffer[];
}

/**
 * Encodes and signs a certificate. Without an issuer it is self-signed.
 *
 * @returns the certificate as PEM
 * @throws {Error} if the signing key is neither RSA, EC nor Ed25519
 */
export function signBody(
  { subject, publicKeyInfo, notBefore, notAfter, extensions: own }: CertificateBody,
  signingKey: KeyObject,
  issuer: X509Certificate | undefined,
): string {
  const { algorithm, hash } = signatureAlgorithm(signingKey);
  const list = [...own, ...keyIdentifiers(publicKeyInfo, issuer)];
  const body = der.sequence(
    der.element(0xa0, der.unsignedInteger(Buffer.of(2))), // version 3
    der.unsignedInteger(newSerialNumber()),
    algorithm,
    issuer === undefined ? subject : namesOf(issuer).subject,
    der.sequence(der.time(notBefore), der.time(notAfter)),
    subject,
    publicKeyInfo,
    der.element(0xa3, der.sequence(...list)),
  );
  const signature = sign(hash, body, signingKey);
  return pemOf("CERTIFICATE", der.sequence(body, algorithm, der.bitString(signature)));
}

/**
 * Returns the signature algorithm of a key: the AlgorithmIdentifier in DER, and the hash, which Ed25519 doesn't need.
 *
 * @throws {Error} if the key is neither RSA, EC nor Ed25519
 */
function signatureAlgorithm(key: KeyObject): {
  readonly algorithm: Buffer;
  readonly hash: "sha256" | null;
} {
  switch (key.asymmetricKeyType) {
    case "ec":
      return { algorithm: der.sequence(der.objectIdentifier(oid.ecdsaWithSha256)), hash: "sha256" };
    case "rsa": {
      const algorithm = der.sequence(der.objectIdentifier(oid.rsaWithSha256), Buffer.of(0x05, 0));
      return { algorithm, hash: "sha256" };
    }
    case "ed25519":
      return { algorithm: der.sequence(der.objectIdentifier(oid.ed25519)), hash: null };
    default:
      throw new Error(
        `a certificate authority's key must be EC, RSA or Ed25519, this one is ${key.asymmetricKeyType ?? "not"}`,
      );
  }
}

/** Returns a serial number: 127 random bits, never zero. */
function newSerialNumber(): Buffer {
  const bytes = randomBytes(16);
  bytes[0] = (bytes[0]! & 0x7f) | 0x40;
  return bytes;
}

function encodeName({ commonName, organizations = [] }: CertificateFacts): Buffer {
  const attribute = (type: string, text: string): Buffer => {
    return der.set(der.sequence(der.objectIdentifier(type), der.utf8String(text)));
  };
  return der.sequence(
    ...organizations.map((one) => attribute(oid.organization, one)),
    attribute(oid.commonName, commonName),
  );
}

function extensions(facts: CertificateFacts): Buffer[] {
  const isAuthority = facts.use === "authority";
  const usages = isAuthority
    ? [usage.digitalSignature, usage.keyCertSign, usage.crlSign]
    : [usage.digitalSignature];
  const list = [
    extension(oid.basicConstraints, true, der.sequence(...(isAuthority ? [der.boolean(true)] : []))),
    extension(oid.keyUsage, true, der.namedBits(...usages)),
  ];
  if (!isAuthority) {
    const purpose = facts.use === "server" ? oid.serverAuth : oid.clientAuth;
    list.push(extension(oid.extendedKeyUsage, false, der.sequence(der.objectIdentifier(purpose))));
  }
  if (facts.hosts !== undefined && facts.hosts.length > 0) {
    list.push(extension(oid.subjectAltName, false, der.sequence(...facts.hosts.map(encodeHost))));
  }
  return list;
}

/** Returns the extensions with the identifiers of the certificate's key and, if it has one, of the issuer's key. */
function keyIdentifiers(publicKeyInfo: Buffer, issuer: X509Certificate | undefined): Buffer[] {
  const own = extension(oid.subjectKeyIdentifier, false, der.octetString(keyIdentifierOf(publicKeyInfo)));
  const authorityId = issuer === undefined ? undefined : namesOf(issuer).keyIdentifier;
  if (authorityId === undefined) return [own];
  const value = der.sequence(der.element(0x80, authorityId));
  return [own, extension(oid.authorityKeyIdentifier, false, value)];
}

/** Encodes an extension of a certificate. */
export function extension(id: string, critical: boolean, value: Buffer): Buffer {
  return der.sequence(
    der.objectIdentifier(id),
    ...(critical ? [der.boolean(true)] : []),
    der.octetString(value),
  );
}

function encodeHost(host: string): Buffer {
  return isAddress(host)
    ? der.element(0x87, addressBytes(host))
    : der.element(0x82, Buffer.from(host, "ascii"));
}

/** Returns the identifier of a public key (SubjectPublicKeyInfo in DER), by RFC 7093. */
function keyIdentifierOf(spki: Buffer): Buffer {
  return createHash("sha256").update(spki).digest().subarray(0, 20);
}

/**
 * Returns user and groups of a certificate's subject, as authentication reads them.
 *
 * @throws {SubjectFault} the subject is malformed.
 */
export function subjectOf(certificate: X509Certificate): SubjectName {
  return readSubject(namesOf(certificate).subject);
}

/** Returns the version of a certificate: 1, 2 or 3. Only version 3 has extensions. */
export function versionOf(certificate: X509Certificate): number {
  const [first] = bodyOf(certificate);
  return first!.tag === 0xa0 ? der.readElements(first!.content)[0]!.content[0]! + 1 : 1;
}

/** Returns the subject (Name in DER) and the subject key identifier of a certificate; issued certificates repeat them. */
function namesOf(certificate: X509Certificate): {
  readonly subject: Buffer;
  readonly keyIdentifier: Buffer | undefined;
} {
  const fields = bodyOf(certificate);
  // [version], serial number, algorithm, issuer, validity, subject, key, …, [3] extensions
  const subject = fields[fields[0]!.tag === 0xa0 ? 5 : 4]!.whole;
  const wrapper = fields.find((field) => field.tag === 0xa3);
  if (wrapper === undefined) return { subject, keyIdentifier: undefined };
  const identifier = der.objectIdentifier(oid.subjectKeyIdentifier);
  for (const one of der.readElements(der.readElements(wrapper.content)[0]!.content)) {
    const parts = der.readElements(one.content);
    if (parts[0]!.whole.equals(identifier)) {
      return { subject, keyIdentifier: der.readElements(parts.at(-1)!.content)[0]!.content };
    }
  }
  return { subject, keyIdentifier: undefined };
}

/** Returns the fields of the signed part (TBSCertificate). */
function bodyOf(certificate: X509Certificate): der.Read[] {
  const [whole] = der.readElements(certificate.raw);
  const [body] = der.readElements(whole!.content);
  return der.readElements(body!.content);
}

/** Returns the root CA of a chain (PEM): its last certificate, if that is self-signed; otherwise undefined. */
export function rootOf(chain: string): string | undefined {
  const last = certificatesIn(chain).at(-1);
  if (last === undefined) return undefined;
  const certificate = new X509Certificate(last);
  return certificate.checkIssued(certificate) && certificate.verify(certificate.publicKey)
    ? `${last}\n`
    : undefined;
}
