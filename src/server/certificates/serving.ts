import { X509Certificate } from "node:crypto";
import { AuthorityPool } from "../../authentication/authority-pool.ts";
import { certificatesIn } from "../../base/certificates/pem.ts";
import { rootOf, type CertificatePair } from "../../base/certificates/x509.ts";
import type { ListenOptions, TlsMaterial } from "../../http/transport/listener.ts";
import {
  CertificateFault,
  createServingCertificates,
  ensureServingCertificates,
  hostsIn,
  issueClientCertificate,
  loadCertificateFiles,
  renewServingCertificates,
  type ServingCertificates,
  checkPair,
  createAuthority,
  endsSoon,
} from "../../base/certificates/serving-certificates.ts";
import type { SharedValues, sharedKeyNames } from "../../storage/shared-values.ts";
import { servingHosts } from "./serving-hosts.ts";
import { connectionLimit, openFileLimit } from "../start/open-files.ts";
import { readOptionFile } from "../options/option-files.ts";
import { OptionsError } from "../options/options-error.ts";
import type { ServerOptions } from "../options/server-options.ts";
import { tlsProtocol } from "../options/tls-protocol.ts";
import type { Clock } from "../../base/time/clock.ts";

const name: (typeof sharedKeyNames)[number] = "authority";

/**
 * Returns the CA that all servers of one store share. The first server creates it; a server that finds that it
 * expires within 30 days creates the next one.
 *
 * @param local the CA that this server had for itself; it becomes the shared one if there is none.
 * @throws {CertificateFault} if the stored CA can't be used.
 */
export async function sharedAuthority(
  shared: SharedValues,
  local: CertificatePair | undefined,
  clock: Clock,
): Promise<CertificatePair> {
  const stored = await shared.get(name);
  const current = stored === undefined ? undefined : decode(stored);
  if (current !== undefined && !isEnding(current, clock)) return current;
  const isOffered = stored === undefined && local !== undefined && !isEnding(local, clock);
  const next = isOffered ? local : createAuthority(clock);
  return decode(await shared.replace(name, stored, encode(next)));
}

function isEnding(authority: CertificatePair, clock: Clock): boolean {
  return endsSoon(
    checkPair(authority, "the authority's certificate", "the authority's key").certificate,
    clock,
  );
}

function encode({ certificate, key }: CertificatePair): Buffer {
  return Buffer.from(JSON.stringify({ certificate, key }));
}

function decode(stored: Buffer): CertificatePair {
  let pair: Partial<CertificatePair>;
  try {
    pair = JSON.parse(stored.toString()) as Partial<CertificatePair>;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    pair = {};
  }
  const { certificate, key } = pair;
  if (typeof certificate !== "string" || typeof key !== "string") {
    throw new CertificateFault(
      "the shared authority in the store is not valid: certificate and key must be text",
    );
  }
  checkPair({ certificate, key }, "the shared authority's certificate", "the shared authority's key");
  return { certificate, key };
}

/** The serving certificate and the CA certificates for client certificates. */
export interface Serving {
  readonly listen: Omit<ListenOptions, "guard" | "observer" | "backlog">;
  /**
   * PEM of the CA that clients should trust. With an operator's certificate it is the last of its chain; undefined if
   * the file doesn't contain it.
   */
  readonly caCertificate: string | undefined;
  /** The current serving certificate with its chain in PEM. */
  readonly certificate: string;
  /** Names and addresses for which the current serving certificate is valid. */
  readonly hosts: readonly string[];
  /** Issues a client certificate for the administrator; undefined if the server has no CA key. */
  readonly issueAdminCertificate: (() => { certificate: string; key: string }) | undefined;
  /** The current own CA of the server with its key; undefined if it has none. */
  readonly signingAuthority: CertificatePair | undefined;
  readonly authorities: ClientAuthorities;
  /** The server's own certificates at present; undefined with an operator's certificate. */
  readonly own: ServingCertificates | undefined;
  /** Certificate files of the operator, which may change while the server runs. */
  readonly files: readonly string[];
  /**
   * Reads those files again and passes the TLS material for new connections to `renew`.
   *
   * @throws {OptionsError} if a file can't be used; then nothing changes.
   */
  reload(renew: (tls: TlsMaterial) => void): Promise<void>;
  /**
   * Renews the server's own certificate if it expires soon, and reloads; undefined with an operator's certificate.
   *
   * @returns whether the certificate was renewed.
   * @throws {OptionsError} if it can't be created or stored; then nothing changes.
   */
  readonly renewOwn: ((renew: (tls: TlsMaterial) => void) => Promise<boolean>) | undefined;
}

/** The CA certificates by the type of client that they sign for. */
export interface ClientAuthorities {
  readonly clients: AuthorityPool;
  /** Undefined if no proxy is trusted. */
  readonly proxies: AuthorityPool | undefined;
}

const adminDays = 365;

/**
 * Creates or reads the certificates of the options; returns undefined if the server has no socket.
 *
 * @param shared holds the CA that the servers of one store share; undefined if each has its own.
 * @param inherited certificates to use instead of new ones until they are renewed.
 */
export async function servingCertificates(
  options: ServerOptions,
  shared: SharedValues | undefined,
  inherited?: ServingCertificates,
): Promise<Serving | undefined> {
  const { host, port, certificateFiles, clientCaFile, authentication, tls } = options;
  if (port === false) return undefined;
  const protocol = tlsProtocol(tls);
  let own = inherited ?? (await unlessFaulty(ownFlags, () => ownCertificates(options, shared)));
  const read = async () => {
    const material = await readMaterial(options, own);
    return { ...material, tls: { ...material.tls, ...protocol } };
  };
  const first = await read();
  let certificate = first.tls.cert;
  const authorities: ClientAuthorities = {
    clients: new AuthorityPool(first.clients),
    proxies: first.proxies === undefined ? undefined : new AuthorityPool(first.proxies),
  };
  const named = [certificateFiles?.cert, certificateFiles?.key, clientCaFile, authentication.proxy?.caFile];
  const reload = async (renew: (tls: TlsMaterial) => void) => {
    const next = await read();
    renew(next.tls);
    certificate = next.tls.cert;
    authorities.clients.replace(next.clients);
    authorities.proxies?.replace(next.proxies!);
  };
  const renewOwn = async (renew: (tls: TlsMaterial) => void) => {
    const before = own!;
    const next = (await unlessFaulty(ownFlags, () => ownCertificates(options, shared, before)))!;
    if (next.serving.certificate === before.serving.certificate) return false;
    own = next;
    await reload(renew);
    return true;
  };
  return {
    listen: { host, port, maxConnections: connectionMaximum(options), tls: first.tls },
    get caCertificate() {
      return own === undefined ? rootOf(certificate) : own.caCertificate;
    },
    get certificate() {
      return certificate;
    },
    get hosts() {
      return hostsIn(certificate);
    },
    get issueAdminCertificate() {
      return own?.caKey === undefined ? undefined : adminIssuer(options, own);
    },
    get signingAuthority() {
      return own?.caKey === undefined ? undefined : { certificate: own.caCertificate, key: own.caKey };
    },
    authorities,
    get own() {
      return own;
    },
    files: named.filter((file) => file !== undefined),
    reload,
    renewOwn: own === undefined ? undefined : renewOwn,
  };
}

/** The validated content of the files. */
interface Material {
  readonly tls: TlsMaterial;
  readonly clients: readonly string[];
  readonly proxies: readonly string[] | undefined;
}

async function readMaterial(
  { clientCaFile, authentication, certificateFiles }: ServerOptions,
  own: ServingCertificates | undefined,
): Promise<Material> {
  const { proxy } = authentication;
  const listed = clientCaFile === undefined ? [] : await readAuthorities("--client-ca-file", clientCaFile);
  const clients = own === undefined ? listed : [own.caCertificate, ...listed];
  const proxies =
    proxy === undefined ? undefined : await readAuthorities("--requestheader-client-ca-file", proxy.caFile);
  const pair =
    own?.serving ??
    (await unlessFaulty(operatorFlags, () =>
      loadCertificateFiles(certificateFiles!.cert, certificateFiles!.key),
    ));
  const clientAuthorities = [...new Set([...clients, ...(proxies ?? [])])];
  return { tls: { cert: pair.certificate, key: pair.key, clientAuthorities }, clients, proxies };
}

/** The flag of the folder of the server's own certificate. */
const ownFlags = "--cert-dir";
const operatorFlags = "--tls-cert-file, --tls-private-key-file";

/** Error codes of a path that can't be used as the folder of certificates. */
const noFolder = new Set(["ENOTDIR", "EEXIST", "EACCES", "EPERM", "EROFS"]);

async function unlessFaulty<T>(flags: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { code = "", message } = error as NodeJS.ErrnoException;
    if (error instanceof CertificateFault || noFolder.has(code))
      throw new OptionsError(`${flags}: ${message}`);
    throw error;
  }
}

/** The maximum number of client connections; logs a warning if the limit of open files is lower than the option. */
function connectionMaximum({ log, maxConnections: requested }: ServerOptions): number {
  const openFiles = openFileLimit();
  const limit = connectionLimit(requested, openFiles);
  if (requested !== undefined && limit < requested) {
    const facts = { maxConnections: limit, openFiles };
    log.warn(facts, `--max-connections ${requested}: the limit of open files leaves fewer`);
  }
  return limit;
}

function adminIssuer(
  { vocabulary, clock }: ServerOptions,
  { caCertificate, caKey }: ServingCertificates,
): () => { certificate: string; key: string } {
  const ca = { certificate: caCertificate, key: caKey! };
  const organizations = [`${vocabulary.systemPrefix}masters`];
  return () => issueClientCertificate(ca, { commonName: "admin", organizations, days: adminDays }, clock);
}

/** Creates or renews the server's own certificates; returns undefined with an operator's certificate. */
async function ownCertificates(
  options: ServerOptions,
  shared: SharedValues | undefined,
  current?: ServingCertificates,
): Promise<ServingCertificates | undefined> {
  const { clock, certificateFiles, certificateFolder, certificateFileName } = options;
  if (certificateFiles !== undefined) return undefined;
  const hosts = servingHosts(options);
  const common = shared && ((local?: CertificatePair) => sharedAuthority(shared, local, clock));
  if (certificateFolder !== undefined)
    return ensureServingCertificates(certificateFolder, {
      hosts,
      clock,
      authority: common,
      fileName: certificateFileName,
    });
  const authority = await common?.(undefined);
  return current === undefined
    ? createServingCertificates(hosts, clock, authority)
    : renewServingCertificates(current, hosts, clock, authority);
}

/**
 * Returns the CA certificates of a file that an option names.
 *
 * @throws {OptionsError} if the file can't be read or holds no certificate.
 */
export async function readAuthorities(flag: string, file: string): Promise<string[]> {
  const text = await readOptionFile(flag, file);
  const blocks = certificatesIn(text);
  if (blocks.length === 0) throw new OptionsError(`${flag} ${file}: holds no certificate in PEM`);
  for (const block of blocks) {
    try {
      void new X509Certificate(block);
    } catch (error) {
      throw new OptionsError(`${flag} ${file}: ${(error as Error).message}`);
    }
  }
  return blocks;
}
