import { X509Certificate } from "node:crypto";
import { AuthorityPool } from "../../authentication/authority-pool.ts";
import { certificatesIn } from "../../base/certificates/pem.ts";
import { rootOf, type CertificatePair } from "../../base/certificates/x509.ts";
import type { ListenOptions, TlsMaterial } from "../../http/transport/listener.ts";
import {
  CertificateFault,
  createServingCertificates,
  ensureServingCertificates,
  issueClientCertificate,
  loadCertificateFiles,
  renewServingCertificates,
  type ServingCertificates,
} from "../../base/certificates/serving-certificates.ts";
import type { SharedValues } from "../../storage/shared-values.ts";
import { sharedAuthority } from "./shared-authority.ts";
import { connectionLimit, openFileLimit } from "../start/open-files.ts";
import { readOptionFile } from "../options/option-files.ts";
import { OptionsError } from "../options/options-error.ts";
import type { ServerOptions } from "../options/server-options.ts";
import { tlsProtocol } from "../options/tls-protocol.ts";

/** How a server shows itself, and whose client certificates it knows. */
export interface Serving {
  readonly listen: Omit<ListenOptions, "guard" | "observer" | "backlog">;
  /**
   * The authority that clients are to trust; with an operator's certificate the one at the end of its chain, undefined if the
   * file doesn't hold it.
   */
  readonly caCertificate: string | undefined;
  /** Makes the administrator a certificate; undefined when the server holds no authority's key. */
  readonly issueAdminCertificate: (() => { certificate: string; key: string }) | undefined;
  /** The server's own authority with its key, as it is now; undefined where it holds none. */
  readonly signingAuthority: CertificatePair | undefined;
  readonly authorities: ClientAuthorities;
  /** Files of the operator's that may change while the server runs. */
  readonly files: readonly string[];
  /**
   * Reads those files again, and hands what new connections are to be served with to `renew`.
   *
   * @throws {OptionsError} for a file that can't be used, and then nothing has changed.
   */
  reload(renew: (tls: TlsMaterial) => void): Promise<void>;
  /**
   * Makes a certificate of the server's own anew where it ends soon, and reloads; undefined with an operator's own.
   *
   * @returns whether there was anything to renew.
   * @throws {OptionsError} it can't be made or kept, and then nothing has changed.
   */
  readonly renewOwn: ((renew: (tls: TlsMaterial) => void) => Promise<boolean>) | undefined;
}

/** Authorities by the sort of clients for whom they vouch. */
export interface ClientAuthorities {
  readonly clients: AuthorityPool;
  /** Undefined where no proxy is believed. */
  readonly proxies: AuthorityPool | undefined;
}

const adminDays = 365;

/**
 * Makes or reads the certificates that the options ask for; undefined without a socket.
 *
 * @param shared holds the authority that the servers over one store have in common; undefined where each has its own.
 */
export async function servingCertificates(
  options: ServerOptions,
  shared: SharedValues | undefined,
): Promise<Serving | undefined> {
  const { host, port, certificateFiles, clientCaFile, authentication, tls } = options;
  if (port === false) return undefined;
  const protocol = tlsProtocol(tls);
  let own = await unlessFaulty(ownFlags, () => ownCertificates(options, shared));
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
    get issueAdminCertificate() {
      return own?.caKey === undefined ? undefined : adminIssuer(options, own);
    },
    get signingAuthority() {
      return own?.caKey === undefined ? undefined : { certificate: own.caCertificate, key: own.caKey };
    },
    authorities,
    files: named.filter((file) => file !== undefined),
    reload,
    renewOwn: own === undefined ? undefined : renewOwn,
  };
}

/** What the files say, all of it good. */
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
    (await unlessFaulty(givenFlags, () =>
      loadCertificateFiles(certificateFiles!.cert, certificateFiles!.key),
    ));
  const clientAuthorities = [...new Set([...clients, ...(proxies ?? [])])];
  return { tls: { cert: pair.certificate, key: pair.key, clientAuthorities }, clients, proxies };
}

/** Flags that choose where the server's certificate lies. */
const ownFlags = "--cert-dir";
const givenFlags = "--tls-cert-file, --tls-private-key-file";

/** What the system says of a place that can't be a folder of certificates. */
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

/** The server's own certificates as they should be now; undefined with an operator's. */
async function ownCertificates(
  { clock, host, extraHosts, certificateFiles, certificateFolder, certificateFileName }: ServerOptions,
  shared: SharedValues | undefined,
  known?: ServingCertificates,
): Promise<ServingCertificates | undefined> {
  if (certificateFiles !== undefined) return undefined;
  const any = host === "0.0.0.0" || host === "::";
  const hosts = [...new Set(["localhost", "127.0.0.1", "::1", ...(any ? [] : [host]), ...extraHosts])];
  const common = shared && ((local?: CertificatePair) => sharedAuthority(shared, local, clock));
  if (certificateFolder !== undefined)
    return ensureServingCertificates(certificateFolder, {
      hosts,
      clock,
      authority: common,
      fileName: certificateFileName,
    });
  const authority = await common?.(undefined);
  return known === undefined
    ? createServingCertificates(hosts, clock, authority)
    : renewServingCertificates(known, hosts, clock, authority);
}

/**
 * The certificates of authorities that a file holds, which an option names.
 *
 * @throws {OptionsError}
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
