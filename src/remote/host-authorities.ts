import { readFile } from "node:fs/promises";
import { createSecureContext, type SecureContext } from "node:tls";
import { peerTrust } from "../base/certificates/peer-trust.ts";

/** Paths of the system's CA bundle on Debian, Fedora, SUSE, Alpine and others. */
const usualFiles: readonly string[] = [
  "/etc/ssl/certs/ca-certificates.crt",
  "/etc/pki/tls/certs/ca-bundle.crt",
  "/etc/ssl/ca-bundle.pem",
  "/etc/pki/tls/cacert.pem",
  "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
  "/etc/ssl/cert.pem",
];

/**
 * Reads the CA bundle of this machine (PEM): the file of the environment variable `SSL_CERT_FILE`, or else the system's, plus the file
 * of `NODE_EXTRA_CA_CERTS`. Returns undefined if there is none; callers then use Node's built-in CAs (spec: conventions 5.6).
 */
export async function hostAuthorities(
  environment: Readonly<Record<string, string | undefined>>,
  files: readonly string[] = usualFiles,
): Promise<string | undefined> {
  const { SSL_CERT_FILE: named, NODE_EXTRA_CA_CERTS: extra } = environment;
  const texts = await Promise.all((named ? [named] : files).map(readIfThere));
  const bundle = texts.find((text) => text.includes("-----BEGIN CERTIFICATE-----"));
  if (bundle === undefined) return undefined;
  return extra ? `${bundle}\n${await readIfThere(extra)}` : bundle;
}

/** Returns the content of a file, or an empty text if it can't be read. */
async function readIfThere(file: string): Promise<string> {
  return readFile(file, "latin1").catch(() => "");
}

let trusted: Promise<SecureContext> | undefined;

/** Returns a TLS context with the CA bundle of this machine. It is created once, because it has many certificates. */
export function hostTrust(): Promise<SecureContext> {
  return (trusted ??= hostAuthorities(process.env).then((ca) => createSecureContext(peerTrust(ca))));
}
