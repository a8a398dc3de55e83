import type { KeyObject } from "node:crypto";
import { refusal } from "../refusal.ts";
import { claimsIn, type Claims } from "./claims.ts";
import { library } from "./library.ts";

/** A public key that signatures are held against. */
export interface VerificationKey {
  /** What a token's header calls it (`kid`). */
  readonly id: string;
  readonly key: KeyObject;
  /** Algorithms that the key may be used with. They come from the key, never from a token. */
  readonly algorithms: readonly string[];
}

const rsaAlgorithms = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"] as const;

/** Algorithm of each curve; of other curves there is none. */
const curveAlgorithms: Readonly<Record<string, string>> = {
  prime256v1: "ES256",
  secp384r1: "ES384",
  secp521r1: "ES512",
};

/**
 * Algorithms (RFC 7518 section 3.1) that a key can sign with, the usual one first; none for keys of other sorts than RSA
 * and ECDSA. All of them have a public key, so none can be made with what is published.
 */
export function algorithmsOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): readonly string[] {
  if (asymmetricKeyType === "rsa") return rsaAlgorithms;
  if (asymmetricKeyType !== "ec") return [];
  const algorithm = curveAlgorithms[asymmetricKeyDetails?.namedCurve ?? ""];
  return algorithm === undefined ? [] : [algorithm];
}

/**
 * The claims of a token whose signature one of the keys verifies. A key that the token's header names is tried first,
 * then the others: the name is not signed by anybody else.
 *
 * @param what begins the message of a refusal.
 * @throws {StatusError} Unauthorized when none does, or what is signed are no claims.
 */
export async function verifiedClaims(
  token: string,
  keys: readonly VerificationKey[],
  what: string,
): Promise<Claims> {
  const { compactVerify, decodeProtectedHeader, errors } = await library();
  try {
    const { alg, kid } = decodeProtectedHeader(token);
    const fitting = keys.filter((one) => alg !== undefined && one.algorithms.includes(alg));
    const ordered = [...fitting.filter((one) => one.id === kid), ...fitting.filter((one) => one.id !== kid)];
    for (const { key, algorithms } of ordered) {
      try {
        const { payload, protectedHeader } = await compactVerify(token, key, { algorithms: [...algorithms] });
        // A payload that isn't encoded is no JWT (RFC 7797 section 7).
        if (protectedHeader.b64 !== undefined) break;
        const claims = claimsIn(new TextDecoder("utf-8", { fatal: true }).decode(payload));
        if (claims !== undefined) return claims;
        break;
      } catch (error) {
        if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error;
      }
    }
  } catch (error) {
    if (!(error instanceof errors.JOSEError || error instanceof SyntaxError || error instanceof TypeError)) {
      throw error;
    }
    throw refusal(`${what}: the token can't be read`);
  }
  throw refusal(`${what}: the token's signature does not verify`);
}

/** Signs claims (RFC 7515, compact form). */
export async function signClaims(claims: Claims, key: KeyObject, keyId: string): Promise<string> {
  const [alg] = algorithmsOf(key);
  if (alg === undefined) throw new Error("a key that can't sign tokens");
  const { CompactSign } = await library();
  return new CompactSign(Buffer.from(JSON.stringify(claims)))
    .setProtectedHeader({ alg, kid: keyId })
    .sign(key);
}
