import { CertificateFault, loadCertificateFiles } from "../../base/certificates/serving-certificates.ts";
import { OptionsError } from "../options/options-error.ts";

/** A client certificate of the server with its key (PEM). */
export interface ClientCertificate {
  readonly cert: string;
  readonly key: string;
}

/**
 * Reads a certificate and its key from the files of two flags; returns undefined if neither is set.
 *
 * @throws {OptionsError} if only one is set, or the files can't be used.
 */
export async function clientCertificate(
  flags: readonly [certificate: string, key: string],
  certFile: string | undefined,
  keyFile: string | undefined,
): Promise<ClientCertificate | undefined> {
  if (certFile === undefined && keyFile === undefined) return undefined;
  if (certFile === undefined || keyFile === undefined) {
    throw new OptionsError(`${flags[0]} and ${flags[1]} are given together or not at all`);
  }
  try {
    const { certificate, key } = await loadCertificateFiles(certFile, keyFile);
    return { cert: certificate, key };
  } catch (error) {
    if (error instanceof CertificateFault) throw new OptionsError(`${flags.join(", ")}: ${error.message}`);
    throw error;
  }
}
