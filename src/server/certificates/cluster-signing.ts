import { CertificateFault, loadCertificateFiles } from "../../base/certificates/serving-certificates.ts";
import type { CertificatePair } from "../../base/certificates/x509.ts";
import type { SigningAuthorities } from "../../controllers/certificates/authorities.ts";
import { signerRoles } from "../../controllers/certificates/built-in-signers.ts";
import { signingFlagPrefixes } from "../options/connection-options.ts";
import { OptionsError } from "../options/options-error.ts";
import type { ClusterSigningSettings } from "../options/types.ts";

/**
 * The authorities of the built-in signers. Files are read for each certificate, so that changed ones count at once.
 *
 * @param own the server's own authority as it is now; undefined where it has none.
 * @throws {OptionsError} the files of an authority can't be used, or no certificate would hold for a minute.
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
