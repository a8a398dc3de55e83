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
 * Returns the system's CA certificates (PEM): the file of `SSL_CERT_FILE`, else the system's usual file, plus the file of
 * `NODE_EXTRA_CA_CERTS`. Undefined if there are none; Node then uses its own (spec: conventions 5.6).
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

/** Reads a file; returns an empty string if it can't be read. */
async function readIfThere(file: string): Promise<string> {
  return readFile(file, "latin1").catch(() => "");
}

let trusted: Promise<SecureContext> | undefined;

/** TLS context with the system's CA certificates. Created once, because there are many. */
export function hostTrust(): Promise<SecureContext> {
  return (trusted ??= hostAuthorities(process.env).then((ca) => createSecureContext(peerTrust(ca))));
}
