/** Signed tokens (RFC 7519) in great number. */
import { sign, type KeyObject } from "node:crypto";

/** Signatures under way at a time: they are made on other threads. */
const together = 8;

/** A private key with the algorithm by which it signs. */
export interface TokenKey {
  readonly key: KeyObject;
  readonly alg: "RS256" | "ES256";
}

/** The claims of a token, unverified. */
export function claimsOf(token: string): object {
  return JSON.parse(Buffer.from(token.split(".")[1]!, "base64url").toString()) as object;
}

/** So many tokens with these claims, each with a `jti` of its own. */
export async function signTokens(claims: object, { key, alg }: TokenKey, count: number): Promise<string[]> {
  const head = encode({ alg, typ: "JWT" });
  const tokens: string[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < count) {
      const index = next++;
      const signed = `${head}.${encode({ ...claims, jti: `token-${index}` })}`;
      tokens[index] = `${signed}.${(await signature(signed, key)).toString("base64url")}`;
    }
  };
  await Promise.all(Array.from({ length: together }, work));
  return tokens;
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

function signature(text: string, key: KeyObject): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    sign("sha256", Buffer.from(text), { key, dsaEncoding: "ieee-p1363" }, (error, bytes) =>
      error === null ? resolve(bytes) : reject(error),
    );
  });
}
