import { constants, createPublicKey, verify, type KeyObject } from "node:crypto";
import type { CertificationRequest } from "@peculiar/asn1-csr";
import { type AlternativeNames, extensionRequest, requestedAlternativeNames } from "./alternative-names.ts";
import { loadAsn1 } from "./asn1.ts";
import { readElements } from "./der.ts";
import { certificateOf } from "./parsed-certificate.ts";
import { pemBlocks } from "./pem.ts";
import { readSubject, SubjectFault, type SubjectName } from "./subject-name.ts";

/** Hash functions of the supported signature algorithms, by object identifier; null for an algorithm without a separate hash. */
const signatureHashes: ReadonlyMap<string, string | null> = new Map([
  ["1.2.840.113549.1.1.5", "sha1"], // RSA
  ["1.2.840.113549.1.1.11", "sha256"],
  ["1.2.840.113549.1.1.12", "sha384"],
  ["1.2.840.113549.1.1.13", "sha512"],
  ["1.2.840.10045.4.1", "sha1"], // ECDSA
  ["1.2.840.10045.4.3.2", "sha256"],
  ["1.2.840.10045.4.3.3", "sha384"],
  ["1.2.840.10045.4.3.4", "sha512"],
  ["1.3.101.112", null], // Ed25519 names no hash
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
    return isSignedBy(publicKeyInfo, request)
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

function contentsOf(request: CertificationRequest): RequestedCertificate {
  // version, subject, key, [0] attributes
  const [info] = readElements(Buffer.from(request.certificationRequestInfoRaw!));
  const [, subject, key] = readElements(info!.content);
  if (subject === undefined || key === undefined) throw new Error(malformed);
  return {
    subjectName: readSubject(subject.whole),
    alternativeNames: alternativeNamesOf(request),
    subject: subject.whole,
    publicKeyInfo: key.whole,
  };
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
  // The library ignores bytes after the request.
  if (readElements(der).length !== 1) throw new Error(malformed);
  const { AsnConvert, CertificationRequest } = loadAsn1();
  const request = AsnConvert.parse(der, CertificationRequest);
  return request;
}

function isSignedBy(publicKeyInfo: Buffer, request: CertificationRequest): boolean {
  const { certificationRequestInfoRaw, signatureAlgorithm, signature } = request;
  const key = createPublicKey({ key: publicKeyInfo, format: "der", type: "spki" });
  const signed = Buffer.from(certificationRequestInfoRaw!);
  return isSignature(Buffer.from(signature), signed, key, signatureAlgorithm.algorithm);
}

function isSignature(signature: Buffer, data: Buffer, key: KeyObject, algorithm: string): boolean {
  if (algorithm === rsaPss) {
    const padding = constants.RSA_PKCS1_PSS_PADDING;
    return ["sha256", "sha384", "sha512"].some((hash) => verify(hash, data, { key, padding }, signature));
  }
  const hash = signatureHashes.get(algorithm);
  return hash !== undefined && verify(hash, data, key, signature);
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
