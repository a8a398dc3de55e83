import { X509Certificate, createPrivateKey, createPublicKey } from "node:crypto";
import type { KeyObject } from "node:crypto";
import { open, readFile, rename } from "node:fs/promises";
import path from "node:path";
import { type Clock, systemClock } from "../time/clock.ts";
import { makeFolder } from "../files/folders.ts";
import { addressBytes, isAddress } from "../network/ip-address.ts";
import { dnsSubdomainFaults, wildcardSubdomainFaults } from "../names.ts";
import { loadSecretFile, type SecretFileOrigin, UnsafeFileError } from "../files/private-file.ts";
import { generateEcKeyPair } from "./key-pair.ts";
import { parsedCertificate } from "./parsed-certificate.ts";
import { certificatesIn } from "./pem.ts";
import { type CertificateFacts, type CertificatePair, signCertificate } from "./x509.ts";

export type { CertificatePair } from "./x509.ts";

/** A certificate or key file can't be used. The message names the file and the problem. */
export class CertificateFault extends Error {
  override name = "CertificateFault";
}

/** Serving certificate and key, and the CA certificate for clients. */
export interface ServingCertificates {
  /** CA certificate, PEM. */
  readonly caCertificate: string;
  /** CA key, PEM; undefined if the folder doesn't have it. It is needed only for renewal. */
  readonly caKey: string | undefined;
  readonly serving: CertificatePair;
  /** What the call has created: CA and serving certificate (`authority`), only the serving certificate, or nothing. */
  readonly renewed: "authority" | "serving" | "nothing";
}

const dayMs = 24 * 60 * 60 * 1000;
/** Common names of generated certificates. */
const servingName = "plinth";
const authorityName = "plinth-ca";
const authorityDays = 3650;
const servingDays = 365;
/** A certificate that expires within this time is renewed. */
const renewBeforeMs = 30 * dayMs;
/** `notBefore` is this far in the past, to tolerate clients whose clocks are behind. */
const backdateMs = 5 * 60 * 1000;

/**
 * Creates a serving certificate in memory, and a CA unless one is passed.
 * @param hosts names and IP addresses that clients use; at least one.
 */
export function createServingCertificates(
  hosts: readonly string[],
  clock: Clock = systemClock,
  authority?: CertificatePair,
): ServingCertificates {
  const { pair, issuer } = authority === undefined ? newAuthority(clock) : knownAuthority(authority);
  const serving = createServing(issuer, hosts, clock);
  return { caCertificate: pair.certificate, caKey: pair.key, serving, renewed: "authority" };
}

/**
 * Renews in-memory certificates that expire within 30 days; returns the others unchanged.
 *
 * @param authority the CA that signs; by default the previous one.
 */
export function renewServingCertificates(
  known: ServingCertificates,
  hosts: readonly string[],
  clock: Clock = systemClock,
  authority?: CertificatePair,
): ServingCertificates {
  const { caCertificate, caKey } = known;
  const isAnother = authority !== undefined && authority.certificate !== caCertificate;
  if (isAnother || endsSoon(parsedCertificate(caCertificate), clock))
    return createServingCertificates(hosts, clock, authority);
  if (isUsable(known.serving, caCertificate, hosts, clock)) return { ...known, renewed: "nothing" };
  const { issuer } = knownAuthority({ certificate: caCertificate, key: caKey! });
  const serving = createServing(issuer, hosts, clock);
  return { caCertificate, caKey, serving, renewed: "serving" };
}

/** Creates a self-signed CA that is valid for ten years. */
export function createAuthority(clock: Clock = systemClock): CertificatePair {
  return newAuthority(clock).pair;
}

/** A parsed CA certificate and key. They are passed on parsed, because parsing a PEM key takes longer than generating one. */
export interface Issuer {
  readonly certificate: X509Certificate;
  readonly key: KeyObject;
}

/** A CA, as PEM and parsed. */
interface Authority {
  readonly pair: CertificatePair;
  readonly issuer: Issuer;
}

function knownAuthority(pair: CertificatePair): Authority {
  return { pair, issuer: checkPair(pair, "the authority's certificate", "the authority's key") };
}

function newAuthority(clock: Clock): Authority {
  const { publicKey, privateKey } = generateEcKeyPair();
  // The time in the name distinguishes successive CAs.
  const commonName = `${authorityName}@${Math.floor(clock.now() / 1000)}`;
  const facts: CertificateFacts = { commonName, use: "authority", ...validity(clock, authorityDays) };
  const certificate = signCertificate(facts, publicKey, privateKey);
  return {
    pair: { certificate, key: toPem(privateKey) },
    issuer: { certificate: parsedCertificate(certificate), key: privateKey },
  };
}

function createServing(ca: Issuer, hosts: readonly string[], clock: Clock): CertificatePair {
  if (hosts.length === 0) throw new CertificateFault("a serving certificate needs at least one host");
  for (const host of hosts) checkHost(host);
  const facts = { commonName: servingName, hosts, use: "server", ...validity(clock, servingDays) } as const;
  const { certificate, key } = issue(ca, facts);
  return { certificate, key: toPem(key) };
}

/** @throws CertificateFault for a host that is neither an IP address nor a DNS name. */
export function checkHost(host: string): void {
  if (isAddress(host)) return;
  const name = host.toLowerCase();
  if (dnsSubdomainFaults(name).length > 0 && wildcardSubdomainFaults(name).length > 0) {
    throw new CertificateFault(`${JSON.stringify(host)} is neither an IP address nor a DNS name`);
  }
}

/** User and lifetime of a client certificate. */
export interface ClientCertificateFacts {
  /** The user's name. */
  readonly commonName: string;
  /** The user's groups. */
  readonly organizations: readonly string[];
  readonly days: number;
}

/**
 * Issues a client certificate with a new key, for a kubeconfig. It expires no later than its CA. The key is encoded as SEC 1
 * (`EC PRIVATE KEY`), because Java clients assume that PKCS#8 keys are RSA keys.
 * @throws CertificateFault if the CA's certificate and key don't match.
 */
export function issueClientCertificate(
  ca: CertificatePair,
  { commonName, organizations, days }: ClientCertificateFacts,
  clock: Clock = systemClock,
): CertificatePair {
  const { issuer } = knownAuthority(ca);
  const facts = { commonName, organizations, use: "client", ...validity(clock, days) } as const;
  const { certificate, key } = issue(issuer, facts);
  return { certificate, key: key.export({ type: "sec1", format: "pem" }).toString() };
}

function issue(issuer: Issuer, facts: CertificateFacts): { certificate: string; key: KeyObject } {
  const notAfter = Math.min(facts.notAfter, Date.parse(issuer.certificate.validTo));
  const { publicKey, privateKey } = generateEcKeyPair();
  const signed = signCertificate({ ...facts, notAfter }, publicKey, issuer.key, issuer.certificate);
  return { certificate: signed, key: privateKey };
}

function toPem(key: KeyObject): string {
  return key.export({ type: "pkcs8", format: "pem" }).toString();
}

function validity(clock: Clock, days: number): { notBefore: number; notAfter: number } {
  const now = clock.now();
  return { notBefore: now - backdateMs, notAfter: now + days * dayMs };
}

/**
 * Base name of the files of the serving certificate (`.crt`) and its key (`.key`). As in the reference, `apiserver.crt` also
 * contains the CA certificate, so clients can use the file as a CA bundle.
 */
export type ServingFileName = "server" | "apiserver";

/** Options of `ensureServingCertificates`. */
export interface ServingCertificateOptions {
  /** `server` by default. */
  readonly fileName?: ServingFileName | undefined;
  /** Names and IP addresses that clients use; at least one. */
  readonly hosts: readonly string[];
  readonly clock?: Clock;
  /** Returns the CA that signs; receives the one in the folder. By default the one in the folder, or a new one. */
  readonly authority?: ((local: CertificatePair | undefined) => Promise<CertificatePair>) | undefined;
}

/**
 * Reads the certificates of a folder (`ca.crt`, `ca.key`, and by default `server.crt`, `server.key`) and creates missing ones. The
 * CA is used until it expires. The serving certificate is renewed if it expires within 30 days, is for other hosts, or doesn't
 * match its key or the CA. Files are written atomically with mode 0600.
 * Only one process may call this at a time; a program with several workers calls it before it starts them.
 * @throws CertificateFault if a file exists but can't be used and must not be replaced, or other users can write it.
 */
export async function ensureServingCertificates(
  folder: string,
  options: ServingCertificateOptions,
): Promise<ServingCertificates> {
  const { hosts, clock = systemClock, fileName = "server" } = options;
  const file = (name: string): string => path.join(folder, name);
  const [certificateFile, keyFile] = [file(`${fileName}.crt`), file(`${fileName}.key`)];
  const withChain = ({ certificate, key }: CertificatePair, ca: string): CertificatePair =>
    fileName === "apiserver" ? { certificate: `${certificate}${ca}`, key } : { certificate, key };
  makeFolder(folder);
  const [localCertificate, localKey, certificate, key] = await Promise.all(
    [file("ca.crt"), file("ca.key"), certificateFile, keyFile].map((one) => readIfThere(one, "own")),
  );
  const local =
    localCertificate === undefined || localKey === undefined
      ? undefined
      : { certificate: localCertificate, key: localKey };
  const authority = await options.authority?.(local);
  if (authority !== undefined && (authority.certificate !== localCertificate || authority.key !== localKey))
    await writePair(authority, file("ca.crt"), file("ca.key"));
  const { certificate: caCertificate, key: caKey } = authority ?? {
    certificate: localCertificate,
    key: localKey,
  };
  if (caCertificate === undefined || endsSoon(parse(caCertificate, file("ca.crt")), clock)) {
    const fresh = createServingCertificates(hosts, clock);
    const authority = { certificate: fresh.caCertificate, key: fresh.caKey! };
    const serving = withChain(fresh.serving, fresh.caCertificate);
    await Promise.all([
      writePair(authority, file("ca.crt"), file("ca.key")),
      writePair(serving, certificateFile, keyFile),
    ]);
    return { ...fresh, serving };
  }
  if (certificate !== undefined && key !== undefined) {
    const serving = { certificate, key };
    if (isUsable(serving, caCertificate, hosts, clock))
      return { caCertificate, caKey, serving, renewed: "nothing" };
  }
  if (caKey === undefined) {
    throw new CertificateFault(`a serving certificate must be made, but ${file("ca.key")} is missing`);
  }
  const ca = { certificate: caCertificate, key: caKey };
  const issuer = checkPair(ca, file("ca.crt"), file("ca.key"));
  const serving = withChain(createServing(issuer, hosts, clock), caCertificate);
  await writePair(serving, certificateFile, keyFile);
  return { caCertificate, caKey, serving, renewed: "serving" };
}

/** Whether the PEM text is a generated serving certificate followed by its CA, as in `apiserver.crt`. */
export function isSelfMade(pem: string): boolean {
  const [certificate, authority] = certificatesIn(pem);
  if (certificate === undefined || authority === undefined) return false;
  try {
    const [own, issuer] = [new X509Certificate(certificate), new X509Certificate(authority)];
    const named = own.subject === `CN=${servingName}` && issuer.subject.startsWith(`CN=${authorityName}@`);
    return named && own.verify(issuer.publicKey);
  } catch {
    // The code that loads the file as the operator's reports the error.
    return false;
  }
}

/** Whether a certificate expires within 30 days. */
export function endsSoon(certificate: X509Certificate, clock: Clock): boolean {
  return Date.parse(certificate.validTo) - clock.now() < renewBeforeMs;
}

function isUsable(
  pair: CertificatePair,
  caCertificate: string,
  hosts: readonly string[],
  clock: Clock,
): boolean {
  try {
    const { certificate } = checkPair(pair, "server.crt", "server.key");
    if (!certificate.verify(parsedCertificate(caCertificate).publicKey)) return false;
    return (
      !endsSoon(certificate, clock) &&
      hostsOf(certificate) === [...new Set(hosts.map(canonicalHost))].toSorted().join()
    );
  } catch (error) {
    if (error instanceof CertificateFault) return false;
    throw error;
  }
}

/** Returns the names and addresses for which the first certificate of a PEM text is valid, IPv6 addresses in short form. */
export function hostsIn(pem: string): string[] {
  return namesOf(parsedCertificate(pem)).map((name) =>
    name.includes(":") ? new URL(`http://[${name}]`).hostname.slice(1, -1) : name,
  );
}

function namesOf({ subjectAltName = "" }: X509Certificate): string[] {
  const names = subjectAltName.split(", ").filter((name) => name !== "");
  return names.map((name) => name.replace(/^(?:DNS|IP Address):/, ""));
}

function hostsOf(certificate: X509Certificate): string {
  return [...new Set(namesOf(certificate).map(canonicalHost))].toSorted().join();
}

/** Whether a certificate for names and addresses is valid for a host; `*` stands for one label, as for TLS clients. */
export function coversHost(names: readonly string[], host: string): boolean {
  const requested = canonicalHost(host);
  const parent = isAddress(host) ? undefined : requested.slice(requested.indexOf("."));
  return names.some((name) => {
    const one = canonicalHost(name);
    return one === requested || (parent !== undefined && one === `*${parent}`);
  });
}

function canonicalHost(host: string): string {
  return isAddress(host) ? addressBytes(host).toString("hex") : host.toLowerCase();
}

/**
 * Reads a certificate (with its chain, if the file has one) and its key, and checks that they match.
 * @throws CertificateFault that names the file; also if other users can write the key.
 */
export async function loadCertificateFiles(
  certificateFile: string,
  keyFile: string,
): Promise<CertificatePair> {
  const [certificate, key] = await Promise.all([
    readIfThere(certificateFile, undefined),
    readIfThere(keyFile, "named"),
  ]);
  if (certificate === undefined) throw new CertificateFault(`${certificateFile} doesn't exist`);
  if (key === undefined) throw new CertificateFault(`${keyFile} doesn't exist`);
  checkPair({ certificate, key }, certificateFile, keyFile);
  return { certificate, key };
}

/**
 * Parses the first certificate and the key of a pair, and checks that they match.
 * @throws CertificateFault whose message uses the given names.
 */
export function checkPair(pair: CertificatePair, certificateName: string, keyName: string): Issuer {
  const certificate = parse(pair.certificate, certificateName);
  let key: KeyObject;
  try {
    key = createPrivateKey(pair.key);
  } catch (error) {
    throw new CertificateFault(
      `${keyName} doesn't hold an unencrypted private key in PEM: ${messageOf(error)}`,
    );
  }
  if (!createPublicKey(key).equals(certificate.publicKey)) {
    throw new CertificateFault(`${keyName} is not the key of ${certificateName}`);
  }
  return { certificate, key };
}

function parse(pem: string, name: string): X509Certificate {
  try {
    return parsedCertificate(pem);
  } catch (error) {
    throw new CertificateFault(`${name} doesn't hold a certificate in PEM: ${messageOf(error)}`);
  }
}

/** @param origin undefined for a file that isn't secret. */
async function readIfThere(file: string, origin: SecretFileOrigin | undefined): Promise<string | undefined> {
  try {
    return await (origin === undefined ? readFile(file, "utf8") : loadSecretFile(file, origin));
  } catch (error) {
    if (error instanceof UnsafeFileError) throw new CertificateFault(error.message);
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new CertificateFault(`${file} can't be read: ${messageOf(error)}`);
  }
}

/** Writes the key first: after a crash between the writes the pair doesn't match, and is created again. */
async function writePair(pair: CertificatePair, certificateFile: string, keyFile: string): Promise<void> {
  await writeWhole(keyFile, pair.key);
  await writeWhole(certificateFile, pair.certificate);
}

async function writeWhole(file: string, content: string): Promise<void> {
  const temporary = `${file}.${process.pid}.new`;
  const handle = await open(temporary, "w", 0o600);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, file);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
