import { constants, createPublicKey, verify, type KeyObject } from "node:crypto";
import { requestedKey } from "../../base/certificates/certificate-request.ts";
import type { FieldReport } from "../../schema/faults.ts";
import type { PodRequestSpec } from "./pod-request-types.ts";

const maxBytes = 10 * 1024;
const curves = new Set(["prime256v1", "secp384r1", "secp521r1"]);
const modulusLengths = new Set([3072, 4096]);

/** Returns the key of a request; undefined if it is malformed. */
export function keyOf({ stubPKCS10Request, pkixPublicKey }: PodRequestSpec): KeyObject | undefined {
  const stub = Buffer.from(stubPKCS10Request ?? "", "base64");
  if (stub.length > 0) return requestedKey(stub)?.publicKey;
  return publicKey(Buffer.from(pkixPublicKey ?? "", "base64"));
}

function publicKey(der: Buffer): KeyObject | undefined {
  try {
    return createPublicKey({ key: der, format: "der", type: "spki" });
  } catch {
    return undefined;
  }
}

/** Requires a certificate request (PKCS#10 in DER) that is signed with a key of a supported type. */
export function checkStubRequest(der: Buffer, report: FieldReport): void {
  if (der.length > maxBytes) return report.tooLong(maxBytes);
  const key = requestedKey(der);
  if (key === undefined) return report.invalid("<omitted>", "must be a valid PKCS#10 CSR");
  const fault = keyFault(key.publicKey);
  if (fault !== undefined) return report.invalid(...fault);
  if (!key.isSigned()) report.invalid("<omitted>", "invalid signature");
}

/** Requires a public key of a supported type, and a signature of the pod's UID with it. */
export function checkBareKey(der: Buffer, proof: Buffer, podUid: string, report: FieldReport): void {
  const keyReport = report.at("pkixPublicKey");
  const proofReport = report.at("proofOfPossession");
  if (der.length > maxBytes) return keyReport.tooLong(maxBytes);
  if (proof.length > maxBytes) return proofReport.tooLong(maxBytes);
  const key = publicKey(der);
  if (key === undefined) {
    return keyReport.invalid(der.toString("base64"), "must be a valid PKIX-serialized public key");
  }
  const fault = keyFault(key);
  if (fault !== undefined) return keyReport.invalid(...fault);
  if (!isProof(key, Buffer.from(podUid), proof)) {
    proofReport.invalid("<omitted>", "could not verify proof-of-possession signature");
  }
}

/** Returns a value and a message if a type of key isn't supported. */
function keyFault({ asymmetricKeyType, asymmetricKeyDetails = {} }: KeyObject): [string, string] | undefined {
  const { namedCurve = "", modulusLength = 0 } = asymmetricKeyDetails;
  switch (asymmetricKeyType) {
    case "ed25519":
      return undefined;
    case "ec":
      if (curves.has(namedCurve)) return undefined;
      return [`curve ${namedCurve}`, "elliptic public keys must use curve P256, P384, or P521"];
    case "rsa":
      if (modulusLengths.has(modulusLength)) return undefined;
      return [`${modulusLength}-bit modulus`, "RSA keys must have modulus size 3072 or 4096"];
    default:
      return ["<omitted>", "unknown public key type; supported types are Ed25519, ECDSA, and RSA"];
  }
}

function isProof(key: KeyObject, data: Buffer, signature: Buffer): boolean {
  if (key.asymmetricKeyType === "ed25519") return verify(null, data, key, signature);
  if (key.asymmetricKeyType === "ec") return verify("sha256", data, key, signature);
  return verify("sha256", data, { key, padding: constants.RSA_PKCS1_PSS_PADDING }, signature);
}
