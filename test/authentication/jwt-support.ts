import { createHmac, generateKeyPairSync, sign, type KeyObject } from "node:crypto";
import { copyKeyPair } from "../../src/base/certificates/key-pair.ts";

const encode = (value: object | string): string =>
  Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");

const hashes: Record<string, string> = { 256: "sha256", 384: "sha384", 512: "sha512" };

/**
 * A token in compact form, made by hand, so that it may be wrong in any way.
 *
 * @param key a private key, bytes of a shared secret, or undefined for no signature.
 */
export function jwt(
  header: Record<string, unknown> & { alg: string },
  payload: object | string,
  key: KeyObject | Buffer | undefined,
): string {
  const signed = `${encode(header)}.${encode(payload)}`;
  if (key === undefined) return `${signed}.`;
  const hash = hashes[header.alg.slice(2)] ?? "sha256";
  if (Buffer.isBuffer(key)) return `${signed}.${createHmac(hash, key).update(signed).digest("base64url")}`;
  return `${signed}.${sign(hash, Buffer.from(signed), { key, dsaEncoding: "ieee-p1363" }).toString("base64url")}`;
}

/** The claims of a token. */
export function claimsOf(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split(".")[1]!, "base64url").toString()) as Record<string, unknown>;
}

/** The header of a token. */
export function headerOf(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split(".")[0]!, "base64url").toString()) as Record<string, unknown>;
}

type KeyPair = ReturnType<typeof copyKeyPair>;

/** Number of RSA keys of a length that a process makes. */
const rsaKeys = 3;
const madeRsaKeys = new Map<number, KeyPair[]>();

/** Returns an RSA key pair, three of them in turn: making one takes a tenth of a second and more. */
export function rsa(modulusLength = 2048): KeyPair {
  const made = madeRsaKeys.get(modulusLength) ?? [];
  madeRsaKeys.set(modulusLength, made);
  const isFull = made.length === rsaKeys;
  const pair = isFull ? made.shift()! : copyKeyPair(generateKeyPairSync("rsa", { modulusLength }));
  made.push(pair);
  return pair;
}
export const ec = (namedCurve = "prime256v1") => copyKeyPair(generateKeyPairSync("ec", { namedCurve }));
export const privatePem = (key: KeyObject) => key.export({ type: "pkcs8", format: "pem" }).toString();
export const publicPem = (key: KeyObject) => key.export({ type: "spki", format: "pem" }).toString();
