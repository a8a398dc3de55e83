import { CertificateFault, loadCertificateFiles } from "../../base/certificates/serving-certificates.ts";
import type { CertificatePair } from "../../base/certificates/x509.ts";
import type { SigningAuthorities } from "../../controllers/certificates/authorities.ts";
import { signerRoles } from "../../controllers/certificates/built-in-signers.ts";
import { signingFlagPrefixes } from "../options/connection-options.ts";
import { OptionsError } from "../options/options-error.ts";
import type { ClusterSigningSettings } from "../options/settings-types.ts";

/**
 * Returns a function that gives the CA of a built-in signer. Files are read for each certificate, so changes apply at
 * once.
 *
 * @param own returns the server's own CA; undefined if it has none.
 * @throws {OptionsError} if the files of a CA can't be used, or a certificate would be valid for less than a minute.
 */
export async function signingAuthorities(
  { files, signers, durationMs }: ClusterSigningSettings,
  own: () => CertificatePair | undefined,
): Promise<SigningAuthorities> {
  if (durationMs < 60_000) throw new OptionsError("--cluster-signing-duration: it must be at least a minute");
  await check("cluster-signing", files);
  for (const role of signerRoles) await check(signingFlagPrefixes[role], signers[role]);
  return {
    durationMs,
    async authorityFor(role) {
      const chosen = signers[role] ?? files;
      return chosen === undefined ? own() : loadCertificateFiles(chosen.cert, chosen.key);
    },
  };
}

async function check(prefix: string, files: ClusterSigningSettings["files"]): Promise<void> {
  if (files === undefined) return;
  try {
    await loadCertificateFiles(files.cert, files.key);
  } catch (error) {
    if (!(error instanceof CertificateFault)) throw error;
    throw new OptionsError(`--${prefix}-cert-file, --${prefix}-key-file: ${error.message}`);
  }
}
