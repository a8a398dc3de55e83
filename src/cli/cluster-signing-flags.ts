import { signerRoles, type SignerRole } from "../controllers/certificates/built-in-signers.ts";
import {
  defaultClusterSigning,
  signingFlagPrefixes,
  type AuthorityFiles,
  type ClusterSigningOptions,
} from "../server/cluster-signing.ts";
import { durationText, flag, type Flag } from "./flag.ts";
import { UsageError, type FlagReader } from "./flag-reader.ts";

const general = "cluster-signing";
/** Whose certificates an authority signs, for the help text. */
const subjects: Readonly<Record<SignerRole, string>> = {
  serving: "requests of node agents for serving certificates",
  nodeClient: "requests of node agents for client certificates",
  client: "requests for client certificates of the API",
  legacyUnknown: "requests to the signer legacy-unknown",
};

function pairFlags(prefix: string, what: string): Flag[] {
  return [
    flag(`${prefix}-cert-file`, "file", "", `Authority that signs ${what} (PEM).`),
    flag(`${prefix}-key-file`, "file", "", `Key of --${prefix}-cert-file (PEM).`),
  ];
}

/** Flags of the built-in signers of certificate requests; those of the reference's controller manager. */
export const clusterSigningFlags: readonly Flag[] = [
  ...pairFlags(general, "certificate requests to the built-in signers; by default the server's own"),
  ...signerRoles.flatMap((role) => pairFlags(signingFlagPrefixes[role], subjects[role])),
  flag(
    `${general}-duration`,
    "duration",
    durationText(defaultClusterSigning.durationMs),
    "Lifetime of certificates that the built-in signers issue, if a request doesn't ask for less.",
  ),
];

/**
 * With what the built-in signers sign.
 *
 * @throws {UsageError} a certificate without its key, or an authority of all signers beside one of a single signer.
 */
export function clusterSigningOptions(read: FlagReader): ClusterSigningOptions {
  const files = pair(read, general);
  const signers: Partial<Record<SignerRole, AuthorityFiles>> = {};
  for (const role of signerRoles) {
    const own = pair(read, signingFlagPrefixes[role]);
    if (own === undefined) continue;
    if (files !== undefined) {
      const prefix = signingFlagPrefixes[role];
      throw new UsageError(`--${general}-cert-file and --${prefix}-cert-file can't be given together`);
    }
    signers[role] = own;
  }
  return { files, signers, durationMs: read.durationMs(`${general}-duration`) };
}

function pair(read: FlagReader, prefix: string): AuthorityFiles | undefined {
  const cert = read.optional(`${prefix}-cert-file`);
  const key = read.optional(`${prefix}-key-file`);
  if (cert !== undefined && key !== undefined) return { cert, key };
  if (cert === undefined && key === undefined) return undefined;
  throw new UsageError(`--${prefix}-cert-file and --${prefix}-key-file are given together or not at all`);
}
