import { createPrivateKey, type KeyObject } from "node:crypto";
import { objectIdentifier, readElements, type Read } from "./der.ts";
import { pemBlocks } from "./pem.ts";

/** An RSA key of 16384 bits has less. OpenSSL takes quadratic time for an RSA key with many primes. */
const maxKeyBytes = 16 * 1024;
const integerTag = 0x02;
const octetStringTag = 0x04;
const sequenceTag = 0x30;

/** Algorithms of PKCS#8 keys: RSA, ECDSA and Ed25519. */
const algorithms = ["1.2.840.113549.1.1.1", "1.2.840.10045.2.1", "1.3.101.112"].map(objectIdentifier);

/**
 * Parses the first private key in a PEM text of a client: PKCS#8, PKCS#1 or SEC 1, by its content and not by its label. Other
 * algorithms are rejected before OpenSSL reads the key: it computes the public key of a DSA or DH key, which takes hours for a long
 * one.
 *
 * @returns undefined if there is no such key.
 */
export function privateKeyOf(pem: string): KeyObject | undefined {
  const key = pemBlocks(pem).find(({ label }) => /(^| )PRIVATE KEY$/.test(label))?.content;
  if (key === undefined || key.length > maxKeyBytes) return undefined;
  try {
    const type = keyTypeOf(key);
    return type && createPrivateKey({ key, format: "der", type });
  } catch {
    return undefined;
  }
}

/** @throws {RangeError} if the bytes aren't DER. */
function keyTypeOf(der: Buffer): "pkcs8" | "pkcs1" | "sec1" | undefined {
  const [key, ...others] = readElements(der);
  if (key?.tag !== sequenceTag || others.length > 0) return undefined;
  const [, second] = readElements(key.content);
  switch (second?.tag) {
    case sequenceTag:
      return isSupported(second) ? "pkcs8" : undefined;
    case integerTag:
      return "pkcs1";
    case octetStringTag:
      return "sec1";
    default:
      return undefined;
  }
}

function isSupported({ content }: Read): boolean {
  const [algorithm] = readElements(content);
  return algorithms.some((one) => algorithm?.whole.equals(one));
}
