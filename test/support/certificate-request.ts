import { generateKeyPairSync, sign, type KeyObject } from "node:crypto";
import * as der from "../../src/base/certificates/der.ts";
import { extension } from "../../src/base/certificates/x509.ts";

/** How a request is made otherwise than it should be. */
export interface RequestFlaws {
  /** The key that signs instead of the one that is named. */
  readonly signer?: KeyObject;
  readonly pemType?: string;
  /** Organizations of the subject, each as a text in DER. */
  readonly organizations?: readonly Buffer[];
  /** Unique identifier of the user in the subject. */
  readonly uid?: string | undefined;
  /** Extensions that it asks for, each in DER. */
  readonly extensions?: readonly Buffer[];
  /** Other attributes, each in DER. */
  readonly attributes?: readonly Buffer[];
}

/** A new pair of keys on a small curve. */
export function newKeys(): { readonly publicKey: KeyObject; readonly privateKey: KeyObject } {
  return generateKeyPairSync("ec", { namedCurve: "P-256" });
}

/** A certificate request (PKCS#10 in PEM) for a common name. */
export function certificateRequest(
  commonName: string,
  keys = newKeys(),
  {
    signer = keys.privateKey,
    pemType = "CERTIFICATE REQUEST",
    organizations = [],
    uid,
    extensions = [],
    attributes = [],
  }: RequestFlaws = {},
): string {
  const uidAttribute = (text: string) =>
    der.set(der.sequence(der.objectIdentifier("1.3.6.1.4.1.57683.2"), der.utf8String(text)));
  const name = der.sequence(
    ...(uid === undefined ? [] : [uidAttribute(uid)]),
    ...organizations.map((text) => der.set(der.sequence(der.objectIdentifier("2.5.4.10"), text))),
    der.set(der.sequence(der.objectIdentifier("2.5.4.3"), der.utf8String(commonName))),
  );
  const info = der.sequence(
    der.element(0x02, Buffer.of(0)),
    name,
    keys.publicKey.export({ type: "spki", format: "der" }),
    der.element(0xa0, ...attributes, ...(extensions.length === 0 ? [] : [extensionRequest(extensions)])),
  );
  const { algorithm, hash } = algorithmOf(signer);
  const whole = der.sequence(info, algorithm, der.bitString(sign(hash, info, signer)));
  const lines = whole.toString("base64").match(/.{1,64}/g)!;
  return `-----BEGIN ${pemType}-----\n${lines.join("\n")}\n-----END ${pemType}-----\n`;
}

function extensionRequest(extensions: readonly Buffer[]): Buffer {
  const id = der.objectIdentifier("1.2.840.113549.1.9.14");
  return der.sequence(id, der.set(der.sequence(...extensions)));
}

function algorithmOf({ asymmetricKeyType }: KeyObject): { algorithm: Buffer; hash: "sha256" | null } {
  const algorithm = (id: string, ...more: Buffer[]) => der.sequence(der.objectIdentifier(id), ...more);
  if (asymmetricKeyType === "ed25519") return { algorithm: algorithm("1.3.101.112"), hash: null };
  return asymmetricKeyType === "rsa"
    ? { algorithm: algorithm("1.2.840.113549.1.1.11", Buffer.of(0x05, 0)), hash: "sha256" }
    : { algorithm: algorithm("1.2.840.10045.4.3.2"), hash: "sha256" };
}

/** A subjectAltName extension. Each name is `DNS:…`, `email:…`, `URI:…`, or in hexadecimal `IP:…` and one of the other types. */
export function subjectAltNames(...names: readonly string[]): Buffer {
  const texts: Readonly<Record<string, number>> = { email: 0x81, DNS: 0x82, URI: 0x86 };
  const bytes: Readonly<Record<string, number>> = {
    otherName: 0xa0,
    directoryName: 0xa4,
    IP: 0x87,
    registeredID: 0x88,
  };
  const encoded = names.map((name) => {
    const at = name.indexOf(":");
    const type = name.slice(0, at);
    const value = name.slice(at + 1);
    const text = texts[type];
    if (text !== undefined) return der.element(text, Buffer.from(value, "latin1"));
    return der.element(bytes[type]!, Buffer.from(value, "hex"));
  });
  return extension("2.5.29.17", false, der.sequence(...encoded));
}
