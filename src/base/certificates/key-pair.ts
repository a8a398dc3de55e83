import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto";

/** A private key with its public key. */
export interface KeyPair {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

/** Generates an ECDSA key pair on the curve P-256, which {@link copyKeyPair} has copied. */
export function generateEcKeyPair(): KeyPair {
  return copyKeyPair(generateKeyPairSync("ec", { namedCurve: "prime256v1" }));
}

/**
 * Returns keys that don't share memory with generated ones. A generated key shares a lock with the job that generated it. Node 20 locks it
 * while it exports the key as a JSON web key, and again when the job is garbage: if this happens during the export, the process hangs.
 */
export function copyKeyPair({ privateKey }: KeyPair): KeyPair {
  const copy = createPrivateKey({
    key: privateKey.export({ type: "pkcs8", format: "der" }),
    type: "pkcs8",
    format: "der",
  });
  return { privateKey: copy, publicKey: createPublicKey(copy) };
}
