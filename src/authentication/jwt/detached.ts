import { loadJose } from "./library.ts";

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
