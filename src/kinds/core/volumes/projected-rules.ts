import type { FieldReport } from "../../../schema/faults.ts";

type Items = readonly { readonly path: string }[] | undefined;

interface Source {
  readonly secret?: { readonly name?: string | undefined; readonly items?: Items } | undefined;
  readonly configMap?: { readonly name?: string | undefined; readonly items?: Items } | undefined;
  readonly downwardAPI?: { readonly items?: Items } | undefined;
  readonly serviceAccountToken?: { readonly path: string } | undefined;
  readonly clusterTrustBundle?: { readonly path: string } | undefined;
  readonly podCertificate?:
    | {
        readonly credentialBundlePath?: string | undefined;
        readonly keyPath?: string | undefined;
        readonly certificateChainPath?: string | undefined;
      }
    | undefined;
}

const kinds = [
  "secret",
  "configMap",
  "downwardAPI",
  "serviceAccountToken",
  "clusterTrustBundle",
  "podCertificate",
] as const;

/** Requires sources of one type each, and unique paths of files. */
export function checkSources(
  volume: { readonly sources?: readonly Source[] | null | undefined },
  report: FieldReport,
): void {
  const paths = new Set<string>();
  for (const [index, source] of (volume.sources ?? []).entries()) {
    if (report.full) return;
    const setKinds = kinds.filter((name) => source[name] !== undefined);
    for (const name of setKinds.slice(1)) {
      report.at("sources", index, name).forbidden("may not specify more than 1 volume type");
    }
    for (const path of pathsOf(source)) {
      if (path === "") continue;
      if (paths.has(path)) report.invalid(path, "conflicting duplicate paths");
      paths.add(path);
    }
  }
}

function pathsOf(source: Source): string[] {
  const { secret, configMap, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate } = source;
  const items = [...(secret?.items ?? []), ...(configMap?.items ?? []), ...(downwardAPI?.items ?? [])];
  const paths = [...items, serviceAccountToken, clusterTrustBundle].map((item) => item?.path);
  const { credentialBundlePath, keyPath, certificateChainPath } = podCertificate ?? {};
  return [...paths, credentialBundlePath, keyPath, certificateChainPath].filter((path) => path !== undefined);
}

/** Types of the keys of pod certificates. */
export const certificateKeyTypes = ["ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519", "RSA3072", "RSA4096"];

interface TrustBundles {
  readonly name?: string | undefined;
  readonly signerName?: string | undefined;
  readonly labelSelector?: object | undefined;
}

/** Requires either the name of a bundle or a signer; a selector of labels needs a signer. */
export function checkTrustBundles(
  { name, signerName, labelSelector }: TrustBundles,
  report: FieldReport,
): void {
  if (name !== undefined && signerName !== undefined) {
    report.invalid("", "only one of name and signerName may be used");
  } else if (name === undefined && signerName === undefined) {
    report.required("either name or signerName must be specified");
  } else if (name === "") report.at("name").required();
  else if (signerName === "") report.at("signerName").required();
  if (name !== undefined && labelSelector !== undefined) {
    report.at("labelSelector").invalid(labelSelector, "may only be used with signerName");
  }
}

const minSeconds = 600;
const maxSeconds = 2 ** 32;

/** Checks the lifetime of a token, in seconds. */
export function tokenSeconds(seconds: number | bigint, report: FieldReport): void {
  if (seconds < minSeconds) report.invalid(seconds, "may not be less than 10 minutes");
  if (seconds > maxSeconds) report.invalid(seconds, "may not be more than 2^32 seconds");
}
