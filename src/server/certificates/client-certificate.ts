import { CertificateFault, loadCertificateFiles } from "../../base/certificates/serving-certificates.ts";
import { OptionsError } from "../options/options-error.ts";

/** A certificate with its key (PEM), with which the server shows itself to others. */
export interface ClientCertificate {
  readonly cert: string;
  readonly key: string;
}

/**
 * Reads a certificate and its key from the files that two flags name; undefined where neither is given.
 *
 * @throws {OptionsError} one is given without the other, or they can't be used.
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
