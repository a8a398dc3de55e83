import { createHash, createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import { pemBlocks } from "../../base/certificates/pem.ts";
import { algorithmsOf, type VerificationKey } from "../jwt/signature.ts";

/** A private key that signs tokens. */
export interface SigningKey {
  /** Key id (`kid`): the digest of the public key, as in Kubernetes. */
  readonly id: string;
  readonly key: KeyObject;
}

/** A key file is invalid; the message is the reason. */
export class KeyFault extends Error {
  override name = "KeyFault";
}

/** Minimum length of an RSA key. */
const minRsaBits = 2048;

/**
 * Parses all keys of a PEM file that verify tokens (spec: conventions 5.5): RSA and ECDSA; public keys, private keys or
 * certificates. Other PEM blocks, such as EC parameters, are skipped.
 *
 * @throws {KeyFault} if there is no key, or an RSA key is too short.
 */
export function readPublicKeys(pem: string): VerificationKey[] {
  const keys: VerificationKey[] = [];
  for (const { text } of pemBlocks(pem)) {
    const key = publicKeyOf(text);
    if (key !== undefined) keys.push(verificationKey(key));
  }
  if (keys.length === 0) throw new KeyFault("contains no RSA or ECDSA key in PEM");
  return keys;
}

/**
 * Parses the first RSA or ECDSA private key of a PEM file.
 *
 * @throws {KeyFault} if there is none, or it is too short.
 */
export function readSigningKey(pem: string): SigningKey {
  for (const { label, text } of pemBlocks(pem)) {
    if (!label.endsWith("PRIVATE KEY")) continue;
    const key = tryParse(() => createPrivateKey(text));
    if (key === undefined || algorithmsOf(key).length === 0) continue;
    checkLength(key);
    return signingKey(key);
  }
  throw new KeyFault("contains no unencrypted RSA or ECDSA private key in PEM");
}

/** Adds the key id to a private key. */
export function signingKey(key: KeyObject): SigningKey {
  return { id: keyId(createPublicKey(key)), key };
}

const verificationKeys = new WeakMap<SigningKey, VerificationKey>();

/** Returns the public key of a signing key. */
export function toVerificationKey(signing: SigningKey): VerificationKey {
  let result = verificationKeys.get(signing);
  if (result === undefined)
    verificationKeys.set(signing, (result = verificationKey(createPublicKey(signing.key))));
  return result;
}

/** Removes duplicate keys; keeps the order. */
export function distinctKeys(keys: readonly VerificationKey[]): VerificationKey[] {
  return [...new Map(keys.map((key) => [key.id, key])).values()];
}

function verificationKey(key: KeyObject): VerificationKey {
  return { id: keyId(key), key, algorithms: algorithmsOf(key) };
}

function publicKeyOf(block: string): KeyObject | undefined {
  const key = tryParse(() => createPublicKey(block));
  if (key === undefined || algorithmsOf(key).length === 0) return undefined;
  checkLength(key);
  return key;
}

/** Returns undefined for an invalid key. The error is dropped, because it may contain secret text. */
function tryParse(read: () => KeyObject): KeyObject | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

function checkLength({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): void {
  const bits = asymmetricKeyDetails?.modulusLength ?? 0;
  if (asymmetricKeyType === "rsa" && bits < minRsaBits) {
    throw new KeyFault(`contains an RSA key of ${bits} bits; at least ${minRsaBits} are required`);
  }
}

function keyId(key: KeyObject): string {
  const der = key.export({ type: "spki", format: "der" });
  return createHash("sha256").update(der).digest("base64url");
}
