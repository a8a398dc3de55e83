import type { KeyObject } from "node:crypto";
import { refusal } from "../refusal.ts";
import { parseClaims, type Claims } from "./claims.ts";

/** A public key that verifies signatures. */
export interface VerificationKey {
  /** Key id, as in `kid` of a token header. */
  readonly id: string;
  readonly key: KeyObject;
  /** Algorithms that are allowed with the key. They are derived from the key, never from a token. */
  readonly algorithms: readonly string[];
}

const rsaAlgorithms = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"] as const;

/** Algorithm by curve; other curves aren't supported. */
const curveAlgorithms: Readonly<Record<string, string>> = {
  prime256v1: "ES256",
  secp384r1: "ES384",
  secp521r1: "ES512",
};

/**
 * Returns the signature algorithms of a key (RFC 7518 section 3.1), in order of preference; empty for keys other than RSA and
 * ECDSA. All are asymmetric, so a token can't be forged with the published key.
 */
export function algorithmsOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): readonly string[] {
  if (asymmetricKeyType === "rsa") return rsaAlgorithms;
  if (asymmetricKeyType !== "ec") return [];
  const algorithm = curveAlgorithms[asymmetricKeyDetails?.namedCurve ?? ""];
  return algorithm === undefined ? [] : [algorithm];
}

/**
 * Verifies the signature of a token with any of the keys and returns its claims. The key with the id in the token header (`kid`)
 * is tried first, then the others.
 *
 * @param errorPrefix first part of the error message.
 * @throws {StatusError} Unauthorized if no key verifies the signature, or the payload isn't a JSON object.
 */
export async function verifyClaims(
  token: string,
  keys: readonly VerificationKey[],
  errorPrefix: string,
): Promise<Claims> {
  const { compactVerify, decodeProtectedHeader, errors } = await loadJose();
  try {
    const { alg, kid } = decodeProtectedHeader(token);
    const usable = keys.filter((one) => alg !== undefined && one.algorithms.includes(alg));
    const ordered = [...usable.filter((one) => one.id === kid), ...usable.filter((one) => one.id !== kid)];
    for (const { key, algorithms } of ordered) {
      try {
        const { payload, protectedHeader } = await compactVerify(token, key, { algorithms: [...algorithms] });
        // An unencoded payload is not allowed in a JWT (RFC 7797 section 7).
        if (protectedHeader.b64 !== undefined) break;
        const claims = parseClaims(new TextDecoder("utf-8", { fatal: true }).decode(payload));
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
    throw refusal(`${errorPrefix}: the token is malformed`);
  }
  throw refusal(`${errorPrefix}: the signature of the token is invalid`);
}

/** Signs claims (RFC 7515, compact serialization). */
export async function signClaims(claims: Claims, key: KeyObject, keyId: string): Promise<string> {
  const [alg] = algorithmsOf(key);
  if (alg === undefined) throw new Error("the key is not an RSA or ECDSA key with a supported curve");
  const { CompactSign } = await loadJose();
  return new CompactSign(Buffer.from(JSON.stringify(claims)))
    .setProtectedHeader({ alg, kid: keyId })
    .sign(key);
}

/** Loads the JOSE library at the first token. */
const loadJose = () => import("jose");

/**
 * Signs a text with a shared secret: HS256, compact serialization with detached payload (RFC 7515 appendix F).
 *
 * @param keyId value of `kid` in the header.
 */
export async function signDetached(payload: string, secret: string, keyId: string): Promise<string> {
  const { CompactSign } = await loadJose();
  const jws = await new CompactSign(Buffer.from(payload))
    .setProtectedHeader({ alg: "HS256", kid: keyId })
    .sign(Buffer.from(secret));
  const [header, , signature] = jws.split(".");
  return `${header}..${signature}`;
}
