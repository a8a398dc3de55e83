import { X509Certificate } from "node:crypto";
import type { ListenOptions } from "../http/listener.ts";
import {
  CertificateFault,
  createServingCertificates,
  ensureServingCertificates,
  issueClientCertificate,
  loadCertificateFiles,
} from "./certificates.ts";
import { connectionLimit, openFileLimit } from "./open-files.ts";
import { readOptionFile } from "./option-files.ts";
import { OptionsError, type ServerOptions, type ServingOptions } from "./options.ts";

/** How a server shows itself, and whose client certificates it knows. */
export interface Serving {
  readonly listen: ListenOptions;
  /** The authority that clients are to trust; undefined with an operator's own certificate. */
  readonly caCertificate: string | undefined;
  /** Makes the administrator a certificate; undefined when the server holds no authority's key. */
  readonly issueAdminCertificate: (() => { certificate: string; key: string }) | undefined;
}

const adminDays = 365;

/** Makes or reads the certificates that the options ask for; undefined without a socket. */
export async function servingCertificates(options: ServerOptions): Promise<Serving | undefined> {
  const { serving, clock, vocabulary } = options;
  if (serving === undefined) return undefined;
  const authorities = await clientAuthorities(options);
  const { host, port } = serving;
  const place = { host, port, maxConnections: maxConnections(options, serving) };
  try {
    const own = await ownCertificates(options, serving);
    if (own === undefined) {
      const { cert, key } = serving.certificateFiles!;
      const pair = await loadCertificateFiles(cert, key);
      const tls = { cert: pair.certificate, key: pair.key, clientAuthorities: authorities };
      return { listen: { ...place, tls }, caCertificate: undefined, issueAdminCertificate: undefined };
    }
    const ca = own.caKey === undefined ? undefined : { certificate: own.caCertificate, key: own.caKey };
    const facts = {
      commonName: "admin",
      organizations: [`${vocabulary.systemPrefix}masters`],
      days: adminDays,
    };
    const tls = {
      cert: own.serving.certificate,
      key: own.serving.key,
      clientAuthorities: [own.caCertificate, ...authorities],
    };
    return {
      listen: { ...place, tls },
      caCertificate: own.caCertificate,
      issueAdminCertificate: ca === undefined ? undefined : () => issueClientCertificate(ca, facts, clock),
    };
  } catch (error) {
    if (error instanceof CertificateFault) throw new OptionsError(error.message);
    throw error;
  }
}

/** How many connections there may be; who asked for more than is possible is told. */
function maxConnections({ log }: ServerOptions, { maxConnections: asked }: ServingOptions): number {
  if (asked !== undefined && !(Number.isSafeInteger(asked) && asked > 0)) {
    throw new OptionsError(`--max-connections: ${asked} is not an integer above 0`);
  }
  const openFiles = openFileLimit();
  const limit = connectionLimit(asked, openFiles);
  if (asked !== undefined && limit < asked) {
    const facts = { maxConnections: limit, openFiles };
    log.warn(facts, `--max-connections ${asked}: the limit of open files leaves fewer`);
  }
  return limit;
}

function ownCertificates({ clock }: ServerOptions, serving: ServingOptions) {
  if (serving.certificateFiles !== undefined) return Promise.resolve(undefined);
  const any = serving.host === "0.0.0.0" || serving.host === "::";
  const hosts = [
    ...new Set(["localhost", "127.0.0.1", "::1", ...(any ? [] : [serving.host]), ...serving.extraHosts]),
  ];
  if (serving.certificateFolder === undefined)
    return Promise.resolve(createServingCertificates(hosts, clock));
  return ensureServingCertificates(serving.certificateFolder, { hosts, clock });
}

async function clientAuthorities({ clientCaFile }: ServerOptions): Promise<string[]> {
  return clientCaFile === undefined ? [] : readAuthorities("--client-ca-file", clientCaFile);
}

/**
 * The certificates of authorities that a file holds, which an option names.
 *
 * @throws {OptionsError}
 */
export async function readAuthorities(flag: string, file: string): Promise<string[]> {
  const text = await readOptionFile(flag, file);
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? [];
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
