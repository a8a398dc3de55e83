import { createHash, createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import { pemBlocks } from "../../base/certificates/pem.ts";
import { algorithmsOf, type VerificationKey } from "../jwt/signature.ts";

/** A key with which tokens are signed. */
export interface SigningKey {
  /** What the header of the tokens calls it (`kid`): a digest of the public key, as the reference makes it. */
  readonly id: string;
  readonly key: KeyObject;
}

/** A file of keys that can't be used; the message says why. */
export class KeyFault extends Error {
  override name = "KeyFault";
}

/** The least bits of an RSA key whose signatures are believed. */
const minRsaBits = 2048;

/**
 * The keys of a PEM file that verify tokens (spec: conventions 5.5): RSA and ECDSA, public or private, alone or in
 * certificates, as many as there are. What else the file holds (such as the parameters of a curve) is passed over.
 *
 * @throws {KeyFault} when there is none, or an RSA key is too short.
 */
export function readPublicKeys(pem: string): VerificationKey[] {
  const keys: VerificationKey[] = [];
  for (const { text } of pemBlocks(pem)) {
    const key = publicKeyOf(text);
    if (key !== undefined) keys.push(verificationKey(key));
  }
  if (keys.length === 0) throw new KeyFault("holds no RSA or ECDSA key in PEM");
  return keys;
}

/**
 * The private key of a PEM file that signs tokens: RSA or ECDSA.
 *
 * @throws {KeyFault} when there is none, or it is too short.
 */
export function readSigningKey(pem: string): SigningKey {
  for (const { label, text } of pemBlocks(pem)) {
    if (!label.endsWith("PRIVATE KEY")) continue;
    const key = parse(() => createPrivateKey(text));
    if (key === undefined || algorithmsOf(key).length === 0) continue;
    checkLength(key);
    return signingKey(key);
  }
  throw new KeyFault("holds no unencrypted RSA or ECDSA private key in PEM");
}

/** A private key with its name. */
export function signingKey(key: KeyObject): SigningKey {
  return { id: keyId(createPublicKey(key)), key };
}

/** The public half of a signing key. */
export function publicHalf({ key }: SigningKey): VerificationKey {
  return verificationKey(createPublicKey(key));
}

/** One of each key, in their order. */
export function distinct(keys: readonly VerificationKey[]): VerificationKey[] {
  return [...new Map(keys.map((key) => [key.id, key])).values()];
}

function verificationKey(key: KeyObject): VerificationKey {
  return { id: keyId(key), key, algorithms: algorithmsOf(key) };
}

function publicKeyOf(block: string): KeyObject | undefined {
  const key = parse(() => createPublicKey(block));
  if (key === undefined || algorithmsOf(key).length === 0) return undefined;
  checkLength(key);
  return key;
}

/** What isn't a key is none; its text may be secret, so nothing is said of it. */
function parse(read: () => KeyObject): KeyObject | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

function checkLength({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): void {
  const bits = asymmetricKeyDetails?.modulusLength ?? 0;
  if (asymmetricKeyType === "rsa" && bits < minRsaBits) {
    throw new KeyFault(`holds an RSA key of ${bits} bits; at least ${minRsaBits} are needed`);
  }
}

function keyId(key: KeyObject): string {
  const der = key.export({ type: "spki", format: "der" });
  return createHash("sha256").update(der).digest("base64url");
}
