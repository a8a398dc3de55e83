import { library } from "./library.ts";

/**
 * Signs a text with a secret that both sides know: HS256, compact form with the payload left out (RFC 7515 appendix F).
 *
 * @param keyId stands in the header (`kid`).
 */
export async function signDetached(payload: string, secret: string, keyId: string): Promise<string> {
  const { CompactSign } = await library();
  const whole = await new CompactSign(Buffer.from(payload))
    .setProtectedHeader({ alg: "HS256", kid: keyId })
    .sign(Buffer.from(secret));
  const [header, , signature] = whole.split(".");
  return `${header}..${signature}`;
}
