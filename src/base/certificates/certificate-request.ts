import { constants, createPublicKey, verify, type KeyObject } from "node:crypto";
import type { CertificationRequest } from "@peculiar/asn1-csr";
import { type AlternativeNames, extensionRequest, requestedAlternativeNames } from "./alternative-names.ts";
import { loadAsn1 } from "./asn1.ts";
import { readElements } from "./der.ts";
import { certificateOf } from "./parsed-certificate.ts";
import { pemBlocks } from "./pem.ts";
import { readSubject, SubjectFault, type SubjectName } from "./subject-name.ts";

/** The supported signature algorithms by object identifier: type of the key, and hash function; null for one without a separate hash. */
const signatureAlgorithms: ReadonlyMap<string, readonly [keyType: string, hash: string | null]> = new Map([
  ["1.2.840.113549.1.1.5", ["rsa", "sha1"]],
  ["1.2.840.113549.1.1.11", ["rsa", "sha256"]],
  ["1.2.840.113549.1.1.12", ["rsa", "sha384"]],
  ["1.2.840.113549.1.1.13", ["rsa", "sha512"]],
  ["1.2.840.10045.4.1", ["ec", "sha1"]],
  ["1.2.840.10045.4.3.2", ["ec", "sha256"]],
  ["1.2.840.10045.4.3.3", ["ec", "sha384"]],
  ["1.2.840.10045.4.3.4", ["ec", "sha512"]],
  ["1.3.101.112", ["ed25519", null]],
]);
/** RSASSA-PSS; its hash is in the parameters. */
const rsaPss = "1.2.840.113549.1.1.10";
const malformed = "is not a well-formed PKCS#10 certificate request";

/**
 * Validates a certificate request (PKCS#10 in PEM): it must be well formed and signed with its own key.
 *
 * @returns the error message; undefined if the request is valid.
 */
export function certificateRequestFault(pem: string): string | undefined {
  if (!beginsWithRequest(pem)) return "PEM block type must be CERTIFICATE REQUEST";
  try {
    const request = readCertificateRequest(pem);
    const { publicKeyInfo } = contentsOf(request);
    return isSignedBy(publicKeyOf(publicKeyInfo), request)
      ? undefined
      : "the signature of the certificate request is not that of its key";
  } catch (error) {
    if (error instanceof SubjectFault) return error.message;
    // Any other error of the DER and key parsers.
    return malformed;
  }
}

/** The content of a certificate request. */
export interface RequestedCertificate {
  /** User and groups of the subject. */
  readonly subjectName: SubjectName;
  readonly alternativeNames: AlternativeNames;
  /** The subject in DER, unchanged. */
  readonly subject: Buffer;
  /** The public key with its algorithm (SubjectPublicKeyInfo), in DER. */
  readonly publicKeyInfo: Buffer;
}

/**
 * Parses a certificate request (PKCS#10 in PEM) without verifying its signature.
 *
 * @throws {Error} it is malformed.
 */
export function requestedCertificate(pem: string): RequestedCertificate {
  return contentsOf(readCertificateRequest(pem));
}

/** The key of a certificate request. */
export interface RequestedKey {
  readonly publicKey: KeyObject;
  /** Verifies that the request is signed with the key. */
  isSigned(): boolean;
}

/** Parses the key of a certificate request (PKCS#10 in DER); its subject isn't read. @returns undefined if it is malformed. */
export function requestedKey(der: Buffer): RequestedKey | undefined {
  try {
    const request = parseRequest(der);
    const publicKey = publicKeyOf(partsOf(request).publicKeyInfo);
    return { publicKey, isSigned: () => hasValidSignature(publicKey, request) };
  } catch {
    // Any error of the DER and key parsers.
    return undefined;
  }
}

function contentsOf(request: CertificationRequest): RequestedCertificate {
  const { subject, publicKeyInfo } = partsOf(request);
  return {
    subjectName: readSubject(subject),
    alternativeNames: alternativeNamesOf(request),
    subject,
    publicKeyInfo,
  };
}

function partsOf(request: CertificationRequest): Pick<RequestedCertificate, "subject" | "publicKeyInfo"> {
  // The parser of the request requires all of them: version, subject, key, [0] attributes
  const [info] = readElements(Buffer.from(request.certificationRequestInfoRaw!));
  const [, subject, key] = readElements(info!.content);
  return { subject: subject!.whole, publicKeyInfo: key!.whole };
}

function alternativeNamesOf({
  certificationRequestInfo: { attributes },
}: CertificationRequest): AlternativeNames {
  const values = attributes.filter(({ type }) => type === extensionRequest).flatMap((one) => one.values);
  return requestedAlternativeNames(values.map((value) => Buffer.from(value)));
}

/** Whether the first block of a PEM text is a certificate request. Signers ignore all other blocks. */
function beginsWithRequest(pem: string): boolean {
  return pemBlocks(pem)[0]?.label === "CERTIFICATE REQUEST";
}

/** Parses the first block of a PEM text. Validation, approval and signing all use this function, so they see the same request. */
function readCertificateRequest(pem: string): CertificationRequest {
  const der = beginsWithRequest(pem) ? pemBlocks(pem)[0]?.content : undefined;
  if (der === undefined) throw new Error("no CERTIFICATE REQUEST block");
  return parseRequest(der);
}

function parseRequest(der: Buffer): CertificationRequest {
  // The library ignores bytes after the request.
  if (readElements(der).length !== 1) throw new Error(malformed);
  const { AsnConvert, CertificationRequest } = loadAsn1();
  return AsnConvert.parse(der, CertificationRequest);
}

function hasValidSignature(key: KeyObject, request: CertificationRequest): boolean {
  try {
    return isSignedBy(key, request);
  } catch {
    // The algorithm of the signature isn't one for the key.
    return false;
  }
}

function publicKeyOf(key: Buffer): KeyObject {
  return createPublicKey({ key, format: "der", type: "spki" });
}

function isSignedBy(key: KeyObject, request: CertificationRequest): boolean {
  const { certificationRequestInfoRaw, signatureAlgorithm, signature } = request;
  const signed = Buffer.from(certificationRequestInfoRaw!);
  return isSignature(Buffer.from(signature), signed, key, signatureAlgorithm.algorithm);
}

function isSignature(signature: Buffer, data: Buffer, key: KeyObject, algorithm: string): boolean {
  if (algorithm === rsaPss) {
    const padding = constants.RSA_PKCS1_PSS_PADDING;
    return ["sha256", "sha384", "sha512"].some((hash) => verify(hash, data, { key, padding }, signature));
  }
  const [keyType, hash = null] = signatureAlgorithms.get(algorithm) ?? [];
  return key.asymmetricKeyType === keyType && verify(hash, data, key, signature);
}

/** Validates certificates in PEM: at least one, and no other blocks. @returns the error message; undefined if they are valid. */
export function certificatesFault(pem: string): string | undefined {
  const blocks = pemBlocks(pem);
  if (blocks.length === 0) return "must contain at least one CERTIFICATE PEM block";
  for (const { label, hasHeaders, content } of blocks) {
    if (label !== "CERTIFICATE") {
      return `only CERTIFICATE PEM blocks are allowed, found ${JSON.stringify(label)}`;
    }
    if (hasHeaders) return "no PEM block headers are permitted";
    if (content === undefined || !areCertificates(content)) {
      return "found a CERTIFICATE PEM block that is no certificate";
    }
  }
  return undefined;
}

/** Whether bytes are certificates in DER, at least one, and nothing else. */
function areCertificates(bytes: Buffer): boolean {
  try {
    const elements = readElements(bytes);
    return elements.length > 0 && elements.every(({ whole }) => certificateOf(whole) !== undefined);
  } catch {
    return false;
  }
}
