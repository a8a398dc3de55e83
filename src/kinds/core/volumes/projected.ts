import { since } from "../../../base/release-rows.ts";
import { LocalObjectReference } from "../references.ts";
import { struct } from "../v1.ts";
import { between, fileMode } from "../../checks/numbers.ts";
import { labelSelector } from "../../checks/selectors.ts";
import { LabelSelector } from "../../meta/label-selector.ts";
import { volumeFilePath } from "../../checks/paths.ts";
import { namedObject } from "./volume-rules.ts";
import { DownwardAPIVolumeFile, KeyToPath, volumeUser } from "./files.ts";
import { bool, field, inlined, int32, int64, list, map, string } from "../../../schema/types.ts";
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
function checkSources(
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
const certificateKeyTypes = ["ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519", "RSA3072", "RSA4096"];

interface TrustBundles {
  readonly name?: string | undefined;
  readonly signerName?: string | undefined;
  readonly labelSelector?: object | undefined;
}

/** Requires either the name of a bundle or a signer; a selector of labels needs a signer. */
function checkTrustBundles({ name, signerName, labelSelector }: TrustBundles, report: FieldReport): void {
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
function tokenSeconds(seconds: number | bigint, report: FieldReport): void {
  if (seconds < minSeconds) report.invalid(seconds, "may not be less than 10 minutes");
  if (seconds > maxSeconds) report.invalid(seconds, "may not be more than 2^32 seconds");
}

const SecretProjection = struct(
  "SecretProjection",
  "The keys of a Secret as files of a projected volume.",
  {
    ...inlined(1, LocalObjectReference),
    items: field(
      2,
      list(KeyToPath),
      "Keys to write as files, and their paths; empty writes all keys.",
    ).atomic(),
    optional: field(4, bool, "Whether the Secret or its keys may be missing.").nullable(),
  },
  { check: namedObject },
);

const DownwardAPIProjection = struct(
  "DownwardAPIProjection",
  "Fields of the pod as files of a projected volume.",
  {
    items: field(1, list(DownwardAPIVolumeFile), "The files to write.").atomic(),
  },
);

const ConfigMapProjection = struct(
  "ConfigMapProjection",
  "The keys of a ConfigMap as files of a projected volume.",
  {
    ...inlined(1, LocalObjectReference),
    items: field(
      2,
      list(KeyToPath),
      "Keys to write as files, and their paths; empty writes all keys.",
    ).atomic(),
    optional: field(4, bool, "Whether the ConfigMap or its keys may be missing.").nullable(),
  },
  { check: namedObject },
);

const ServiceAccountTokenProjection = struct(
  "ServiceAccountTokenProjection",
  "A service account token as a file of a projected volume.",
  {
    audience: field(1, string, "Intended audience of the token; empty means the API server."),
    expirationSeconds: field(
      2,
      int64,
      "Requested lifetime of the token in seconds, at least 600. Default: 3600.",
    )
      .nullable()
      .unpublishedDefault(3600)
      .check(tokenSeconds),
    path: field(3, string, "Relative path of the file in the volume.").required().check(volumeFilePath),
  },
  { later: () => ({ user: volumeUser(4) }) },
);

const ClusterTrustBundleProjection = struct(
  "ClusterTrustBundleProjection",
  "CA certificates as a file, of one trust bundle or of those of a signer with certain labels.",
  {
    name: field(1, string, "Name of the ClusterTrustBundle; not together with `signerName`.").nullable(),
    signerName: field(2, string, "Name of the signer of the trust bundles.").nullable(),
    labelSelector: field(3, LabelSelector, "Label selector of the signer's trust bundles.")
      .nullable()
      .check(labelSelector),
    optional: field(5, bool, "Whether the trust bundles may be missing.").nullable(),
    path: field(4, string, "Relative path of the file in the volume.").required().check(volumeFilePath),
  },
  { check: checkTrustBundles, later: () => ({ user: volumeUser(6) }) },
);

const PodCertificateProjection = struct(
  "PodCertificateProjection",
  "A private key and certificate of the pod as files.",
  {
    signerName: field(1, string, "Name of the signer of the certificate.").mustBeGiven(),
    keyType: field(2, string, "Type of the private key, such as ED25519.")
      .mustBeGiven()
      .oneOf(...certificateKeyTypes),
    maxExpirationSeconds: field(3, int32, "Maximum validity of the certificate in seconds, 3600 to 7862400.")
      .nullable()
      .check(between(3600, 7_862_400)),
    credentialBundlePath: field(
      4,
      string,
      "Relative path of the file with the private key and certificates.",
    ).check(volumeFilePath),
    keyPath: field(5, string, "Relative path of the file with the private key.").check(volumeFilePath),
    certificateChainPath: field(6, string, "Relative path of the file with the certificates.").check(
      volumeFilePath,
    ),
  },
  {
    later: () => ({
      userAnnotations: since(
        "1.35",
        field(7, map(string), "Annotations for the signer, copied to the certificate request."),
      ),
      user: volumeUser(8),
    }),
  },
);

const VolumeProjection = struct(
  "VolumeProjection",
  "One source of a projected volume; exactly one field is set.",
  {
    secret: field(1, SecretProjection, "Keys of a Secret to write as files.").nullable(),
    downwardAPI: field(
      2,
      DownwardAPIProjection,
      "Fields of the pod and resources of its containers to write as files.",
    ).nullable(),
    configMap: field(3, ConfigMapProjection, "Keys of a ConfigMap to write as files.").nullable(),
    serviceAccountToken: field(
      4,
      ServiceAccountTokenProjection,
      "A service account token to write as a file.",
    ).nullable(),
  },
  {
    later: () => ({
      clusterTrustBundle: since(
        "1.29",
        field(5, ClusterTrustBundleProjection, "CA certificates of trust bundles to write as a file.")
          .nullable()
          .gated("ClusterTrustBundleProjection"),
      ),
      podCertificate: since(
        "1.34",
        field(6, PodCertificateProjection, "A private key and a certificate of the pod to write as files.")
          .nullable()
          .gated("PodCertificateRequest"),
      ),
    }),
  },
);

export const ProjectedVolumeSource = struct(
  "ProjectedVolumeSource",
  "Several sources of files in one directory.",
  {
    sources: field(1, list(VolumeProjection), "Sources of the files.").emitEmpty().atomic(),
    defaultMode: field(
      2,
      int32,
      "Permissions of files without a `mode`, 0 to 511 (octal 0777). Default: 420 (octal 0644).",
    )
      .nullable()
      .unpublishedDefault(420)
      .check(fileMode),
  },
  { check: checkSources, later: () => ({ defaultUser: volumeUser(3) }) },
);
