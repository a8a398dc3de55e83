import { CertificateFault, loadCertificateFiles } from "../base/certificates.ts";
import type { CertificatePair } from "../base/x509.ts";
import type { SigningAuthorities } from "../controllers/certificates/authorities.ts";
import { signerRoles, type SignerRole } from "../controllers/certificates/built-in-signers.ts";
import { OptionsError } from "./options-error.ts";

/** The files of a certificate authority (PEM). */
export interface AuthorityFiles {
  readonly cert: string;
  readonly key: string;
}

/** With what the built-in signers sign certificate requests, and for how long. */
export interface ClusterSigningOptions {
  /** The authority of all signers; the server's own unless given. */
  readonly files?: AuthorityFiles | undefined;
  /** Authorities of single signers, which go before `files`. */
  readonly signers?: Readonly<Partial<Record<SignerRole, AuthorityFiles>>> | undefined;
  /** Lifetime of certificates whose request doesn't ask for less, in milliseconds. */
  readonly durationMs: number;
}

/** The server's own authority, and a year. */
export const defaultClusterSigning: ClusterSigningOptions = { durationMs: 365 * 24 * 3_600_000 };

/** How the flags of each signer's authority begin; `-cert-file` and `-key-file` follow. */
export const signingFlagPrefixes: Readonly<Record<SignerRole, string>> = {
  serving: "cluster-signing-kubelet-serving",
  nodeClient: "cluster-signing-kubelet-client",
  client: "cluster-signing-kube-apiserver-client",
  legacyUnknown: "cluster-signing-legacy-unknown",
};

/**
 * The authorities of the built-in signers. Files are read for each certificate, so that changed ones count at once.
 *
 * @param own the server's own authority as it is now; undefined where it has none.
 * @throws {OptionsError} the files of an authority can't be used, or no certificate would hold for a minute.
 */
export async function signingAuthorities(
  { files, signers = {}, durationMs }: ClusterSigningOptions,
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

async function check(prefix: string, files: AuthorityFiles | undefined): Promise<void> {
  if (files === undefined) return;
  try {
    await loadCertificateFiles(files.cert, files.key);
  } catch (error) {
    if (!(error instanceof CertificateFault)) throw error;
    throw new OptionsError(`--${prefix}-cert-file, --${prefix}-key-file: ${error.message}`);
  }
}
