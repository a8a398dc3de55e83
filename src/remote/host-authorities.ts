import { readFile } from "node:fs/promises";
import { createSecureContext, type SecureContext } from "node:tls";
import { peerTrust } from "../base/certificates/peer-trust.ts";

/** Where systems keep the authorities that they trust, as one PEM file: of Debian, Fedora, SUSE, Alpine and others. */
const usualFiles: readonly string[] = [
  "/etc/ssl/certs/ca-certificates.crt",
  "/etc/pki/tls/certs/ca-bundle.crt",
  "/etc/ssl/ca-bundle.pem",
  "/etc/pki/tls/cacert.pem",
  "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
  "/etc/ssl/cert.pem",
];

/**
 * The certificates of the authorities that this machine trusts, PEM: those of the file that the environment variable
 * `SSL_CERT_FILE` names, else of the system's; with those of `NODE_EXTRA_CA_CERTS`. Undefined where there are none, so that
 * Node's own are left (spec: conventions 5.6).
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

/** A file that can't be read is none: the next one may be. */
async function readIfThere(file: string): Promise<string> {
  return readFile(file, "latin1").catch(() => "");
}

let trusted: Promise<SecureContext> | undefined;

/** TLS that believes whom this machine trusts. Made once: it has many certificates. */
export function hostTrust(): Promise<SecureContext> {
  return (trusted ??= hostAuthorities(process.env).then((ca) => createSecureContext(peerTrust(ca))));
}
