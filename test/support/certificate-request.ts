import { generateKeyPairSync, sign, type KeyObject } from "node:crypto";
import * as der from "../../src/base/der.ts";

/** How a request is made otherwise than it should be. */
export interface RequestFlaws {
  /** The key that signs instead of the one that is named. */
  readonly signer?: KeyObject;
  readonly pemType?: string;
  /** Organizations of the subject, each as a text in DER. */
  readonly organizations?: readonly Buffer[];
}

/** A new pair of keys on a small curve. */
export function newKeys(): { readonly publicKey: KeyObject; readonly privateKey: KeyObject } {
  return generateKeyPairSync("ec", { namedCurve: "P-256" });
}

/** A certificate request (PKCS#10 in PEM) for a common name. */
export function certificateRequest(
  commonName: string,
  keys = newKeys(),
  { signer = keys.privateKey, pemType = "CERTIFICATE REQUEST", organizations = [] }: RequestFlaws = {},
): string {
  const name = der.sequence(
    ...organizations.map((text) => der.set(der.sequence(der.objectIdentifier("2.5.4.10"), text))),
    der.set(der.sequence(der.objectIdentifier("2.5.4.3"), der.utf8String(commonName))),
  );
  const info = der.sequence(
    der.element(0x02, Buffer.of(0)),
    name,
    keys.publicKey.export({ type: "spki", format: "der" }),
    der.element(0xa0),
  );
  const isRsa = signer.asymmetricKeyType === "rsa";
  const algorithm = isRsa
    ? der.sequence(der.objectIdentifier("1.2.840.113549.1.1.11"), Buffer.of(0x05, 0))
    : der.sequence(der.objectIdentifier("1.2.840.10045.4.3.2"));
  const whole = der.sequence(info, algorithm, der.bitString(sign("sha256", info, signer)));
  const lines = whole.toString("base64").match(/.{1,64}/g)!;
  return `-----BEGIN ${pemType}-----\n${lines.join("\n")}\n-----END ${pemType}-----\n`;
}
